#include <benchmark/benchmark.h>

#include <memory>
#include <random>
#include <string>
#include <vector>

#include "vnjit/runtime/driver.hpp"
#include "vnjit/vnjit.hpp"

// Device time of the operations on GPU 0, by events around a run, on random inputs.

namespace vnjit {
namespace {

class Stopwatch {
 public:
  Stopwatch() {
    driver_.check(driver_.cuEventCreate(&begin_, CU_EVENT_DEFAULT), "cuEventCreate");
    driver_.check(driver_.cuEventCreate(&end_, CU_EVENT_DEFAULT), "cuEventCreate");
  }
  ~Stopwatch() {
    driver_.cuEventDestroy(begin_);
    driver_.cuEventDestroy(end_);
  }
  Stopwatch(const Stopwatch&) = delete;
  Stopwatch& operator=(const Stopwatch&) = delete;

  template <typename Function>
  double seconds(const Function& run) {
    driver_.check(driver_.cuEventRecord(begin_, nullptr), "cuEventRecord");
    run();
    driver_.check(driver_.cuEventRecord(end_, nullptr), "cuEventRecord");
    driver_.check(driver_.cuEventSynchronize(end_), "cuEventSynchronize");
    float milliseconds = 0;
    driver_.check(driver_.cuEventElapsedTime(&milliseconds, begin_, end_), "cuEventElapsedTime");
    return milliseconds * 1e-3;
  }

 private:
  Driver driver_;
  CUevent begin_ = nullptr;
  CUevent end_ = nullptr;
};

Buffer<float> random_floats(const std::shared_ptr<Device>& device, std::int64_t count) {
  std::mt19937 engine(1);
  std::normal_distribution<float> normal;
  std::vector<float> values(static_cast<std::size_t>(count));
  for (float& value : values) value = normal(engine);
  return Buffer<float>(device, values.data(), values.size());
}

Buffer<std::int64_t> random_seeds(const std::shared_ptr<Device>& device, std::int64_t count) {
  std::mt19937_64 engine(2);
  std::vector<std::int64_t> values(static_cast<std::size_t>(count));
  for (std::int64_t& value : values) value = static_cast<std::int64_t>(engine());
  return Buffer<std::int64_t>(device, values.data(), values.size());
}

std::shared_ptr<Device> gpu(Runtime& runtime, benchmark::State& state) {
  std::string why;
  if (runtime.gpu_count(&why) == 0) {
    state.SkipWithError(why.c_str());
    return nullptr;
  }
  return runtime.gpu(0);
}

template <typename Arguments>
void time_runs(benchmark::State& state, const Plan& plan, const Arguments& arguments,
               std::int64_t values) {
  Stopwatch stopwatch;
  stopwatch.seconds([&] { plan.run(arguments); });
  for (auto _ : state) {
    state.SetIterationTime(stopwatch.seconds([&] { plan.run(arguments); }));
  }
  state.counters["noise/s"] = benchmark::Counter(static_cast<double>(values),
                                                 benchmark::Counter::kIsIterationInvariantRate);
}

/// With `depth` 0 the config the library chooses, else that config with another depth.
void forward(benchmark::State& state, PerturbedLinear problem, const char* noise, int depth) {
  Runtime runtime;
  const auto device = gpu(runtime, state);
  if (!device) return;
  problem.noise = parse_noise_spec(noise);
  const bool individual = problem.layout == InputLayout::individual;
  const auto x = random_floats(device, (individual ? problem.pop : 1) * problem.batch * problem.in);
  const auto weight = random_floats(device, problem.out * problem.in);
  const auto bias = random_floats(device, problem.out);
  const auto seeds = random_seeds(device, problem.pop);
  const Buffer<float> y(device,
                        static_cast<std::size_t>(problem.pop * problem.batch * problem.out));
  Config config = choose_config(problem, device->limits());
  if (depth != 0) config.stages = depth;
  const auto plan = runtime.plan(problem, device, config);
  state.SetLabel(to_string(config));
  time_runs(state, *plan,
            PerturbedLinearArguments{.x = x.data(),
                                     .weight = weight.data(),
                                     .bias = bias.data(),
                                     .seeds = seeds.data(),
                                     .y = y.data(),
                                     .sigma = 0.1f,
                                     .pop = problem.pop,
                                     .batch = problem.batch,
                                     .in = problem.in,
                                     .out = problem.out},
            problem.pop * problem.out * problem.in);
  state.counters["FLOP/s"] = benchmark::Counter(
      2.0 * static_cast<double>(problem.pop * problem.batch * problem.in * problem.out),
      benchmark::Counter::kIsIterationInvariantRate);
}

constexpr PerturbedLinear kSquare{.pop = 16, .batch = 64, .in = 1024, .out = 1024};
constexpr PerturbedLinear kSquare256{.pop = 256, .batch = 128, .in = 1024, .out = 1024};
constexpr PerturbedLinear kSmall{
    .layout = InputLayout::individual, .pop = 8192, .batch = 1, .in = 64, .out = 64};

#define VNJIT_FORWARD(name, ...) \
  BENCHMARK_CAPTURE(forward, name, __VA_ARGS__)->UseManualTime()->Unit(benchmark::kMicrosecond)
VNJIT_FORWARD(p16_b64_1024_chosen, kSquare, "philox:uniform8:7", 0);
VNJIT_FORWARD(p16_b64_1024_depth_1, kSquare, "philox:uniform8:7", 1);
VNJIT_FORWARD(p16_b64_1024_depth_2, kSquare, "philox:uniform8:7", 2);
VNJIT_FORWARD(p16_b64_1024_uniform, kSquare, "philox:uniform:7", 0);
VNJIT_FORWARD(p16_b64_1024_rademacher, kSquare, "philox:rademacher:7", 0);
VNJIT_FORWARD(p16_b64_1024_triton, kSquare, "triton", 0);
VNJIT_FORWARD(p256_b128_1024_chosen, kSquare256, "philox:uniform8:7", 0);
VNJIT_FORWARD(p256_b128_1024_depth_1, kSquare256, "philox:uniform8:7", 1);
VNJIT_FORWARD(p8192_b1_64_individual_x, kSmall, "philox:uniform8:7", 0);

void gradient(benchmark::State& state, std::int64_t pop, std::int64_t rows, std::int64_t columns,
              const char* noise) {
  Runtime runtime;
  const auto device = gpu(runtime, state);
  if (!device) return;
  const auto fitness = random_floats(device, pop);
  const auto seeds = random_seeds(device, pop);
  const Buffer<float> output(device, static_cast<std::size_t>(rows * columns));
  const GradientBlock block{.rows = rows, .columns = columns, .output = output.data()};
  const Gradient problem{
      .noise = parse_noise_spec(noise), .pop = pop, .rows = rows, .columns = columns};
  time_runs(state, *runtime.plan(problem, device),
            GradientArguments{.fitness = fitness.data(),
                              .seeds = seeds.data(),
                              .sigma = 0.1f,
                              .pop = pop,
                              .blocks = {&block, 1}},
            pop * rows * columns);
}

#define VNJIT_GRADIENT(name, ...) \
  BENCHMARK_CAPTURE(gradient, name, __VA_ARGS__)->UseManualTime()->Unit(benchmark::kMicrosecond)
VNJIT_GRADIENT(p256_1024x1024_uniform8, 256, 1024, 1024, "philox:uniform8:7");
VNJIT_GRADIENT(p256_1024x1024_uniform, 256, 1024, 1024, "philox:uniform:7");
VNJIT_GRADIENT(p256_1024x1024_triton, 256, 1024, 1024, "triton");
VNJIT_GRADIENT(p1024_bias_256, 1024, 1, 256, "philox:uniform8:7");

void reduce(benchmark::State& state, std::int64_t pop, std::int64_t params, const char* noise) {
  Runtime runtime;
  const auto device = gpu(runtime, state);
  if (!device) return;
  const auto center = random_floats(device, params);
  const auto seeds = random_seeds(device, pop);
  const Buffer<float> metric(device, static_cast<std::size_t>(pop));
  const ReduceMetric problem{.noise = parse_noise_spec(noise), .pop = pop, .params = params};
  time_runs(state, *runtime.plan(problem, device),
            ReduceMetricArguments{.center = center.data(),
                                  .seeds = seeds.data(),
                                  .metric = metric.data(),
                                  .sigma = 0.1f,
                                  .pop = pop,
                                  .params = params},
            pop * params);
}

#define VNJIT_REDUCE(name, ...) \
  BENCHMARK_CAPTURE(reduce, name, __VA_ARGS__)->UseManualTime()->Unit(benchmark::kMicrosecond)
VNJIT_REDUCE(p1024_1000000_uniform8, 1024, 1'000'000, "philox:uniform8:7");
VNJIT_REDUCE(p1024_1000000_triton, 1024, 1'000'000, "triton");

}  // namespace
}  // namespace vnjit
