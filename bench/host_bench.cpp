#include <benchmark/benchmark.h>
#include <fmt/format.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <thread>

#include "params/perturbed_linear.cuh"
#include "vnjit/runtime/cache_folder.hpp"
#include "vnjit/runtime/compiler.hpp"
#include "vnjit/runtime/driver.hpp"
#include "vnjit/runtime/hash.hpp"
#include "vnjit/runtime/kernel.hpp"
#include "vnjit/vnjit.hpp"

// What the library costs its host program: choosing, emitting, compiling, finding a plan again,
// and starting a run.

namespace vnjit {
namespace {

const DeviceLimits kLimits = DeviceLimits::preset("sm_90");
const PerturbedLinear kProblem{.pop = 16, .batch = 64, .in = 1024, .out = 1024};

Options in_memory() {
  Options options = Options::from_environment();
  options.cache_dir.clear();
  return options;
}

void choose(benchmark::State& state) {
  for (auto _ : state) benchmark::DoNotOptimize(choose_config(kProblem, kLimits));
}
BENCHMARK(choose)->Unit(benchmark::kMicrosecond);

void emit_source(benchmark::State& state) {
  const Config config = choose_config(kProblem, kLimits);
  for (auto _ : state) benchmark::DoNotOptimize(emit(kProblem, config, kLimits));
}
BENCHMARK(emit_source)->Unit(benchmark::kMicrosecond);

/// A new problem every time, with NVRTC opened before: what a cold plan adds to NVRTC's own start.
void choose_emit_compile(benchmark::State& state) {
  Compiler compiler(in_memory());
  if (!compiler.nvrtc()) return;
  std::int64_t size = 1 << 20;
  for (auto _ : state) {
    PerturbedLinear problem = kProblem;
    problem.bake_shape = true;  // reaches the source, so that no two are the same
    problem.in = size;
    size += 64;
    const KernelSource source = emit(problem, choose_config(problem, kLimits), kLimits);
    benchmark::DoNotOptimize(compiler.compile(source));
  }
}
BENCHMARK(choose_emit_compile)->Unit(benchmark::kMillisecond)->Iterations(10);

/// NVRTC's own start: opening it and compiling an empty kernel.
void open_nvrtc(benchmark::State& state) {
  for (auto _ : state) {
    Compiler compiler(in_memory());
    KernelSource empty;
    empty.entry = "empty";
    empty.text = "extern \"C\" __global__ void empty() {}\n";
    empty.arch = "sm_90";
    empty.options = {"--gpu-architecture=sm_90"};
    benchmark::DoNotOptimize(compiler.compile(empty));
  }
}
BENCHMARK(open_nvrtc)->Unit(benchmark::kMillisecond)->Iterations(1);

/// A cache of its own, removed with all it holds.
class CacheDir {
 public:
  CacheDir()
      : path_(std::filesystem::temp_directory_path() / fmt::format("vnjit-bench-{}", ::getpid())) {}
  ~CacheDir() { std::filesystem::remove_all(path_); }
  CacheDir(const CacheDir&) = delete;
  CacheDir& operator=(const CacheDir&) = delete;
  const std::filesystem::path& path() const { return path_; }

 private:
  std::filesystem::path path_;
};

/// A hit beside so many other entries.
void disk_cache_hit(benchmark::State& state) {
  const CacheDir folder;
  Options options = Options::from_environment();
  options.cache_dir = folder.path();
  CacheFolder(folder.path()).create();
  for (std::int64_t n = 0; n < state.range(0); ++n) {
    std::ofstream(folder.path() / (hash128_hex(std::to_string(n)) + ".cubin")) << n;
  }
  const KernelSource source = emit(kProblem, choose_config(kProblem, kLimits), kLimits);
  Compiler(options).compile(source);
  Compiler compiler(options);
  for (auto _ : state) {
    if (!compiler.compile(source).cache_hit) state.SkipWithError("the entry was not found");
  }
}
BENCHMARK(disk_cache_hit)->Arg(10)->Arg(100'000)->Unit(benchmark::kMicrosecond);

/// The choice of a config by a tuning record, of these sizes (range 1: 0) or near ones, among so
/// many.
void find_record(benchmark::State& state) {
  const CacheDir folder;
  RecordStore store(folder.path() / "records", {});
  const auto problem = [](std::int64_t pop) { return PerturbedLinear{.pop = pop}; };
  for (std::int64_t pop = 1; pop <= state.range(0); ++pop) {
    const Config config = choose_config(problem(pop), kLimits);
    store.put({.problem = problem(pop),
               .limits = kLimits,
               .config = config,
               .seconds = 1,
               .default_config = config,
               .default_seconds = 1,
               .contract_version = noise_contract_version()});
  }
  std::this_thread::sleep_for(std::chrono::milliseconds(2100));  // until the folder has settled
  const Problem sought = problem(state.range(0) + state.range(1));
  for (auto _ : state) benchmark::DoNotOptimize(store.find(sought, kLimits));
}
BENCHMARK(find_record)
    ->Args({1, 0})
    ->Args({1, 1})
    ->Args({100, 0})
    ->Args({100, 10})
    ->Unit(benchmark::kMicrosecond)
    ->Iterations(1000);

/// A plan found again in memory; on the CPU's device, which takes the same path.
void plan_found_in_memory(benchmark::State& state) {
  Runtime runtime(in_memory());
  const auto device = runtime.cpu();
  const Problem problem = kProblem;
  auto plan = runtime.plan(problem, device);
  for (auto _ : state) benchmark::DoNotOptimize(runtime.plan(problem, device));
}
BENCHMARK(plan_found_in_memory)->Unit(benchmark::kNanosecond);

/// A tiny forward pass on a GPU, so that the host's part is what takes time.
class LaunchBench : public benchmark::Fixture {
 public:
  void SetUp(benchmark::State& state) override {
    std::string why;
    if (runtime.gpu_count(&why) == 0) {
      state.SkipWithError(why.c_str());
      return;
    }
    device = runtime.gpu(0);
    memory = Buffer<float>(device, 64 * 64);
    y = Buffer<float>(device, 64);
    seeds = Buffer<std::int64_t>(device, 1);
    arguments = {.x = memory.data(),
                 .weight = memory.data(),
                 .seeds = seeds.data(),
                 .y = y.data(),
                 .sigma = 0.1f,
                 .pop = 1,
                 .batch = 1,
                 .in = 64,
                 .out = 64};
  }
  void TearDown(benchmark::State&) override {
    seeds = {};
    memory = {};
    y = {};
    device.reset();
  }

  Runtime runtime{in_memory()};
  const PerturbedLinear problem{.bias = false, .pop = 1, .batch = 1, .in = 64, .out = 64};
  std::shared_ptr<Device> device;
  Buffer<float> memory, y;
  Buffer<std::int64_t> seeds;
  PerturbedLinearArguments arguments;
};

// The queue of the stream is drained outside the timing before it fills up.
constexpr int kLaunches = 500;

BENCHMARK_DEFINE_F(LaunchBench, run_ready_plan)(benchmark::State& state) {
  if (!device) return;
  const auto plan = runtime.plan(problem, device);
  while (state.KeepRunningBatch(kLaunches)) {
    for (int n = 0; n < kLaunches; ++n) plan->run(arguments);
    state.PauseTiming();
    device->synchronize();
    state.ResumeTiming();
  }
}
BENCHMARK_REGISTER_F(LaunchBench, run_ready_plan)->Unit(benchmark::kNanosecond);

/// What a new process adds to the start of the driver: a Runtime, a plan whose kernels are on disk,
/// and its first run.
BENCHMARK_DEFINE_F(LaunchBench, warm_start)(benchmark::State& state) {
  if (!device) return;
  const CacheDir folder;
  Options options = Options::from_environment();
  options.cache_dir = folder.path();
  Runtime(options).plan(problem, runtime.gpu(0));
  for (auto _ : state) {
    Runtime fresh(options);
    const auto plan = fresh.plan(problem, fresh.gpu(0));
    plan->run(arguments);
    device->synchronize();
  }
}
BENCHMARK_REGISTER_F(LaunchBench, warm_start)->Unit(benchmark::kMillisecond);

BENCHMARK_DEFINE_F(LaunchBench, bare_launch)(benchmark::State& state) {
  if (!device) return;
  const auto driver = std::make_shared<const Driver>();
  const KernelSource source = emit(problem, choose_config(problem, device->limits()),
                                   device->limits(), contiguous_access(problem));
  const Kernel kernel(driver, runtime.compile(source).binary, source.shared_bytes);
  PerturbedLinearParams params{};
  params.x = params.weight = memory.data();
  params.y = y.data();
  params.seeds = reinterpret_cast<const long long*>(seeds.data());
  params.batch = 1;
  params.in = params.out = params.noise_row_stride = 64;
  params.x_row_stride = params.weight_row_stride = params.y_row_stride = 64;
  void* parameters[] = {&params};
  const auto threads = static_cast<unsigned>(source.threads);
  const auto shared = static_cast<unsigned>(source.shared_bytes);
  while (state.KeepRunningBatch(kLaunches)) {
    for (int n = 0; n < kLaunches; ++n) {
      driver->check(driver->cuLaunchKernel(kernel.function(), 1, 1, 1, threads, 1, 1, shared,
                                           nullptr, parameters, nullptr),
                    "cuLaunchKernel");
    }
    state.PauseTiming();
    device->synchronize();
    state.ResumeTiming();
  }
}
BENCHMARK_REGISTER_F(LaunchBench, bare_launch)->Unit(benchmark::kNanosecond);

}  // namespace
}  // namespace vnjit
