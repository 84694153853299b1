#include "vnjit/runtime/tune/in_process_runner.hpp"

#include "vnjit/codegen/emit.hpp"
#include "vnjit/runtime/error.hpp"

namespace vnjit {
namespace {

constexpr double kSampleSeconds = 0.01;  // in a round; 20 samples at least

}  // namespace

InProcessRunner::InProcessRunner(Runtime& runtime, const Problem& problem,
                                 const DeviceLimits& limits, std::shared_ptr<Device> device)
    : runtime_(runtime), problem_(problem), limits_(limits), device_(std::move(device)) {}

CandidateRunner::Build InProcessRunner::build(const Config& config) {
  Build build;
  try {
    const KernelSource source = emit(problem_, config, limits_);
    build.usage = runtime_.compile(source).binary.usage;
    build.shared_bytes = source.shared_bytes;
  } catch (const Error& error) {
    build.failure = error.what();
  }
  return build;
}

void InProcessRunner::build(std::span<const Config> configs,
                            const std::function<void(std::size_t index, const Build&)>& done,
                            const std::function<bool()>& stop) {
  for (std::size_t n = 0; n < configs.size() && !stop(); ++n) done(n, build(configs[n]));
}

std::shared_ptr<const Plan> InProcessRunner::plan(const Config& config) {
  if (!device_) throw Error("there is no device to run on");
  return runtime_.plan(problem_, device_, config);
}

Trial& InProcessRunner::trial() {
  if (!trial_) trial_.emplace(problem_, device_);
  return *trial_;
}

double InProcessRunner::check(const Config& config) {
  const auto checked = plan(config);
  return trial().check(*checked, trial_tolerance(problem_, config.fused));
}

double InProcessRunner::time(const Config& config) {
  const auto timed = plan(config);
  return trial().time(*timed, kSampleSeconds);
}

}  // namespace vnjit
