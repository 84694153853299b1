#include <benchmark/benchmark.h>

#include <vector>

#include "vnjit/runtime/check_arguments.hpp"
#include "vnjit/runtime/cpu/operations.hpp"

// The CPU backend's operations on one thread: multiply-adds a second of the forward pass, noise
// values a second of gradient and reduce metric.

namespace vnjit {
namespace {

/// Arguments: pop, batch, in, out.
void cpu_forward(benchmark::State& state, DataType input) {
  PerturbedLinear problem;
  problem.input = input;
  PerturbedLinearArguments arguments;
  arguments.pop = state.range(0);
  arguments.batch = state.range(1);
  arguments.in = state.range(2);
  arguments.out = state.range(3);
  arguments.sigma = 0.1f;
  const std::vector<float> x(static_cast<std::size_t>(arguments.batch * arguments.in));
  const std::vector<float> weight(static_cast<std::size_t>(arguments.in * arguments.out));
  const std::vector<float> bias(static_cast<std::size_t>(arguments.out));
  const std::vector<std::int64_t> seeds(static_cast<std::size_t>(arguments.pop), 7);
  std::vector<float> y(static_cast<std::size_t>(arguments.pop * arguments.batch * arguments.out));
  arguments.x = x.data();
  arguments.weight = weight.data();
  arguments.bias = bias.data();
  arguments.seeds = seeds.data();
  arguments.y = y.data();
  arguments = checked(problem, arguments);
  cpu::ThreadPool pool(1);
  for (auto _ : state) cpu::perturbed_linear(problem, arguments, pool);
  state.counters["multiply_adds"] = benchmark::Counter(
      static_cast<double>(arguments.pop * arguments.batch * arguments.in * arguments.out),
      benchmark::Counter::kIsIterationInvariantRate);
}

BENCHMARK_CAPTURE(cpu_forward, f32, DataType::f32)
    ->Args({2, 64, 1024, 1024})
    ->Args({2, 1, 1024, 1024})
    ->Args({16, 256, 64, 128})
    ->Args({16, 256, 128, 10})
    ->Unit(benchmark::kMicrosecond);
BENCHMARK_CAPTURE(cpu_forward, f16, DataType::f16)
    ->Args({2, 64, 1024, 1024})
    ->Unit(benchmark::kMicrosecond);
BENCHMARK_CAPTURE(cpu_forward, bf16, DataType::bf16)
    ->Args({2, 64, 1024, 1024})
    ->Unit(benchmark::kMicrosecond);

/// Arguments: pop, parameters.
void cpu_gradient(benchmark::State& state, std::string_view noise) {
  Gradient problem;
  problem.noise = parse_noise_spec(noise);
  GradientArguments arguments;
  arguments.pop = state.range(0);
  arguments.sigma = 0.1f;
  const std::vector<float> fitness(static_cast<std::size_t>(arguments.pop), 0.5f);
  const std::vector<std::int64_t> seeds(static_cast<std::size_t>(arguments.pop), 7);
  std::vector<float> output(static_cast<std::size_t>(state.range(1)));
  const GradientBlock block{.rows = 1, .columns = state.range(1), .output = output.data()};
  arguments.fitness = fitness.data();
  arguments.seeds = seeds.data();
  arguments.blocks = {&block, 1};
  arguments = checked(problem, arguments);
  cpu::ThreadPool pool(1);
  for (auto _ : state) cpu::gradient(problem, arguments, pool);
  state.SetItemsProcessed(state.iterations() * arguments.pop * state.range(1));
}

BENCHMARK_CAPTURE(cpu_gradient, uniform8, "philox:uniform8:7")
    ->Args({256, 65536})
    ->Args({256, 128});
BENCHMARK_CAPTURE(cpu_gradient, uniform, "philox:uniform:7")->Args({256, 65536});
BENCHMARK_CAPTURE(cpu_gradient, rademacher, "philox:rademacher:7")->Args({256, 65536});
BENCHMARK_CAPTURE(cpu_gradient, splitmix64, "splitmix64")->Args({256, 65536});
BENCHMARK_CAPTURE(cpu_gradient, triton, "triton")->Args({256, 65536});

void cpu_reduce_metric(benchmark::State& state) {
  const std::vector<float> center(1 << 20, 0.5f);
  const std::vector<std::int64_t> seeds(16, 7);
  std::vector<float> metric(16);
  ReduceMetricArguments arguments;
  arguments.center = center.data();
  arguments.seeds = seeds.data();
  arguments.metric = metric.data();
  arguments.sigma = 0.1f;
  arguments.pop = 16;
  arguments.params = 1 << 20;
  cpu::ThreadPool pool(1);
  for (auto _ : state) cpu::reduce_metric({}, arguments, pool);
  state.SetItemsProcessed(state.iterations() * (std::int64_t{16} << 20));
}

BENCHMARK(cpu_reduce_metric);

}  // namespace
}  // namespace vnjit
