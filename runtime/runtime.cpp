#include "vnjit/runtime/runtime.hpp"

#include <fmt/format.h>

#include <map>
#include <mutex>

#include "vnjit/codegen/candidates.hpp"
#include "vnjit/runtime/compiler.hpp"
#include "vnjit/runtime/cpu/backend.hpp"
#include "vnjit/runtime/error.hpp"
#include "vnjit/runtime/gpu/device.hpp"
#include "vnjit/runtime/gpu/plan.hpp"
#include "vnjit/runtime/plan_builder.hpp"
#include "vnjit/runtime/tune/record_store.hpp"
#include "vnjit/runtime/tune/recorded_problems.hpp"

namespace vnjit {

struct Runtime::State {
  explicit State(Options given)
      : options(std::move(given)),
        compiler(options),
        records(options.cache_dir.empty() ? options.cache_dir : options.cache_dir / "records",
                options.report),
        recorded(options.record_problems, options.report),
        plans(options.cached_plans,
              [this](const PlanKey& key, const std::shared_ptr<Device>& device,
                     const PlanBuilder::Offer& offer) { return build(key, device, offer); }) {}

  std::shared_ptr<const Driver> open_driver() {
    const std::lock_guard lock(mutex);
    if (!driver) driver = std::make_shared<const Driver>();
    return driver;
  }

  Options options;
  Compiler compiler;
  RecordStore records;
  RecordedProblems recorded;
  std::mutex mutex;  // of the next three
  std::shared_ptr<const Driver> driver;
  std::shared_ptr<Device> cpu;
  std::map<CUcontext, std::shared_ptr<GpuDevice>> gpus;
  PlanBuilder plans;  // last: its threads use the others

 private:
  void warn(const std::filesystem::path& record, std::string_view what) const {
    if (!options.report) return;
    options.report(Severity::warning,
                   fmt::format("the tuning record {} is not used: {}", record.string(), what));
  }
  std::shared_ptr<const Plan> build(const PlanKey& key, const std::shared_ptr<Device>& device,
                                    const PlanBuilder::Offer& offer);
  std::shared_ptr<const Plan> by_record(const Problem& problem,
                                        const std::shared_ptr<GpuDevice>& gpu);
};

/// The plan with the config of a record; null without a record, or where its config turns out not
/// to work, which is said.
std::shared_ptr<const Plan> Runtime::State::by_record(const Problem& problem,
                                                      const std::shared_ptr<GpuDevice>& gpu) {
  const auto match = records.find(problem, gpu->limits());
  if (!match) return nullptr;
  const TuningRecord& record = match->record;
  const std::string origin =
      fmt::format("{}{}: {:.4g} us a run, {:.4g} us with {}", match->file.string(),
                  match->exact ? "" : ", of the nearest sizes", record.seconds * 1e6,
                  record.default_seconds * 1e6, to_string(record.default_config));
  try {
    return std::make_shared<const GpuPlan>(problem, record.config, gpu, compiler, origin);
  } catch (const ConfigError& error) {
    warn(match->file, error.what());
  } catch (const CompileError& error) {
    warn(match->file, error.what());
  }
  return nullptr;
}

std::shared_ptr<const Plan> Runtime::State::build(const PlanKey& key,
                                                  const std::shared_ptr<Device>& device,
                                                  const PlanBuilder::Offer& offer) {
  validate(key.problem);
  const auto gpu = std::dynamic_pointer_cast<GpuDevice>(device);
  if (!gpu) return make_cpu_plan(key.problem, device);
  std::optional<InContext> in_context;  // a caller's thread has its own, which GpuPlan checks
  if (offer) in_context.emplace(*gpu);
  recorded.add(key.problem);
  if (!key.config && options.use_records) {
    if (auto plan = by_record(key.problem, gpu)) return plan;
  }
  const Config config = key.config ? *key.config : choose_config(key.problem, gpu->limits());
  // The general kernel is a part of such a plan, and the first of it that can be used.
  if (const auto* linear = std::get_if<PerturbedLinear>(&key.problem);
      linear && offer && is_tensor(config.family)) {
    offer(GpuPlan::general(*linear, gpu, compiler));
  }
  return std::make_shared<const GpuPlan>(key.problem, config, gpu, compiler);
}

Runtime::Runtime(Options options) : state_(std::make_unique<State>(std::move(options))) {}
Runtime::~Runtime() = default;

const Options& Runtime::options() const { return state_->options; }

std::shared_ptr<Device> Runtime::cpu() {
  const std::lock_guard lock(state_->mutex);
  if (!state_->cpu) state_->cpu = make_cpu_device(state_->options.cpu_threads);
  return state_->cpu;
}

std::shared_ptr<Device> Runtime::gpu(int ordinal) {
  auto device = std::make_shared<GpuDevice>(state_->open_driver(), ordinal);
  const std::lock_guard lock(state_->mutex);
  return state_->gpus.try_emplace(device->context(), device).first->second;
}

std::shared_ptr<Device> Runtime::best_device() { return gpu_count() > 0 ? gpu(0) : cpu(); }

int Runtime::gpu_count(std::string* why) {
  try {
    const int count = count_gpus(*state_->open_driver());
    if (count == 0 && why) *why = "the driver reports no GPU";
    return count;
  } catch (const Error& error) {
    if (why) *why = error.what();
    return 0;
  }
}

std::shared_ptr<const Plan> Runtime::plan(const Problem& problem,
                                          const std::shared_ptr<Device>& device,
                                          const std::optional<Config>& config) {
  if (!device) throw InvalidArgument("device is null; use cpu(), gpu(n) or best_device()");
  return state_->plans.get({device.get(), problem, config}, device);
}

PlanRequest Runtime::plan_async(const Problem& problem, const std::shared_ptr<Device>& device,
                                const std::optional<Config>& config) {
  if (!device) throw InvalidArgument("device is null; use cpu(), gpu(n) or best_device()");
  validate(problem);
  return state_->plans.request({device.get(), problem, config}, device);
}

RecordStore& Runtime::records() { return state_->records; }

Compiled Runtime::compile(const KernelSource& source) { return state_->compiler.compile(source); }

std::string Runtime::nvrtc_identity() { return state_->compiler.nvrtc_identity(); }

std::string Runtime::compile_to_ptx(const KernelSource& source) {
  return state_->compiler.compile_to_ptx(source);
}

namespace {

std::string describe_limits(const DeviceLimits& limits) {
  return fmt::format(
      "{arch}, {sms} multiprocessors at {clock} MHz; shared memory {block} bytes a block ({optin} "
      "opted in), "
      "{sm} a multiprocessor; {warps} warps and {blocks} blocks a multiprocessor",
      fmt::arg("arch", limits.arch()), fmt::arg("sms", limits.sm_count),
      fmt::arg("clock", limits.clock_mhz), fmt::arg("block", limits.shared_per_block),
      fmt::arg("optin", limits.shared_per_block_optin), fmt::arg("sm", limits.shared_per_sm),
      fmt::arg("warps", limits.max_warps_per_sm), fmt::arg("blocks", limits.max_blocks_per_sm));
}

}  // namespace

std::string Runtime::describe() {
  std::string text;
  const auto line = [&](std::string_view name, std::string_view value) {
    text += fmt::format("{:<8} {}\n", name, value);
  };
  try {
    const auto driver = state_->open_driver();
    line("driver", fmt::format("CUDA {}.{}, {}", driver->version().major, driver->version().minor,
                               driver->path().string()));
    const int count = count_gpus(*driver);
    for (int ordinal = 0; ordinal < count; ++ordinal) {
      const GpuDevice device(driver, ordinal);
      line(fmt::format("GPU {}", ordinal),
           fmt::format("{}: {}", device.name(), describe_limits(device.limits())));
    }
    if (count == 0) line("GPU", "none");
  } catch (const Error& error) {
    line("driver", error.what());
    line("GPU", "none; plans run on the CPU");
  }
  try {
    const auto nvrtc = state_->compiler.nvrtc();
    std::string archs;
    for (const int arch : nvrtc->supported_archs()) archs += fmt::format(" sm_{}", arch);
    line("NVRTC", fmt::format("CUDA {}.{}, {}; compiles for{}", nvrtc->version().major,
                              nvrtc->version().minor, nvrtc->path().string(), archs));
  } catch (const Error& error) {
    line("NVRTC", error.what());
  }
  line("CPU", cpu()->name());
  line("cache", state_->options.cache_dir.empty() ? std::string("in memory only")
                                                  : state_->options.cache_dir.string());
  return text;
}

}  // namespace vnjit
