#include "vnjit/runtime/tune/tuner.hpp"

#include <algorithm>
#include <chrono>
#include <thread>

#include "vnjit/codegen/error.hpp"
#include "vnjit/codegen/noise_spec.hpp"
#include "vnjit/runtime/tune/in_process_runner.hpp"
#include "vnjit/runtime/tune/worker_runner.hpp"

namespace vnjit {
namespace {

constexpr int kMostWorkers = 16;

double steady_seconds() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

std::unique_ptr<CandidateRunner> runner_of(Runtime& runtime, const std::shared_ptr<Device>& device,
                                           const DeviceLimits& limits, const Problem& problem,
                                           const TuneOptions& options) {
  if (options.worker.empty()) {
    return std::make_unique<InProcessRunner>(runtime, problem, limits, device);
  }
  const int cores = static_cast<int>(std::thread::hardware_concurrency());
  return std::make_unique<WorkerRunner>(
      problem, limits,
      WorkerRunner::Setup{
          .command = options.worker,
          .workers = options.workers > 0 ? options.workers : std::clamp(cores, 1, kMostWorkers),
          .patience =
              std::chrono::milliseconds(static_cast<std::int64_t>(options.hang_seconds * 1000)),
          .device = device ? device->ordinal() : -1,
          .options = &runtime.options()});
}

}  // namespace

SweepResult tune(Runtime& runtime, const std::shared_ptr<Device>& device, const Problem& problem,
                 const TuneOptions& options) {
  if (!device || !device->is_gpu()) {
    throw InvalidArgument("device is no GPU; kernels are tuned where they run");
  }
  validate(problem);
  const auto runner = runner_of(runtime, device, device->limits(), problem, options);
  return sweep(problem, device->limits(), *runner, options.limits, steady_seconds, options.progress,
               options.stop);
}

SweepResult tune_dry(Runtime& runtime, const DeviceLimits& limits, const Problem& problem,
                     const TuneOptions& options) {
  validate(problem);
  const auto runner = runner_of(runtime, nullptr, limits, problem, options);
  return dry_run(problem, limits, *runner, options.limits, steady_seconds, options.progress,
                 options.stop);
}

TuningRecord record_of(const SweepResult& result) {
  if (!result.winner) throw InvalidArgument("the sweep found no config that works: no record");
  const Candidate& winner = result.candidates.at(*result.winner);
  const Candidate& first = result.candidates.front();
  TuningRecord record{.problem = result.problem,
                      .limits = result.limits,
                      .config = winner.config,
                      .seconds = winner.seconds,
                      .default_config = result.default_config,
                      .default_seconds = first.seconds > 0 ? first.seconds : winner.seconds,
                      .contract_version = noise_contract_version()};
  for (const Candidate& candidate : result.candidates) record.measured += candidate.seconds > 0;
  return record;
}

}  // namespace vnjit
