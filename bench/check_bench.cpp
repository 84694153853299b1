#include <benchmark/benchmark.h>

#include <vector>

#include "vnjit/runtime/check_arguments.hpp"

// What the checks of a run cost before anything is launched. No memory is touched.

namespace vnjit {
namespace {

float* floats(std::uintptr_t index) { return reinterpret_cast<float*>(0x7F0000000000 + 4 * index); }
std::int64_t* seeds() { return reinterpret_cast<std::int64_t*>(0x7E0000000000); }
const Workspace kWorkspace{reinterpret_cast<void*>(0x7D0000000000), 1 << 20};

void check_forward(benchmark::State& state) {
  const PerturbedLinear problem;
  const PerturbedLinearArguments arguments{.x = floats(0),
                                           .weight = floats(1 << 20),
                                           .bias = floats(1 << 22),
                                           .seeds = seeds(),
                                           .y = floats(1 << 24),
                                           .sigma = 0.1f,
                                           .pop = 256,
                                           .batch = 64,
                                           .in = 1024,
                                           .out = 1024};
  for (auto _ : state) benchmark::DoNotOptimize(checked(problem, arguments, kWorkspace));
}
BENCHMARK(check_forward)->Unit(benchmark::kNanosecond);

void check_reduce(benchmark::State& state) {
  const ReduceMetric problem;
  const ReduceMetricArguments arguments{.center = floats(0),
                                        .seeds = seeds(),
                                        .metric = floats(1 << 24),
                                        .sigma = 0.1f,
                                        .pop = 256,
                                        .params = 1'000'000};
  for (auto _ : state) benchmark::DoNotOptimize(checked(problem, arguments, kWorkspace));
}
BENCHMARK(check_reduce)->Unit(benchmark::kNanosecond);

/// A list of matrices of 512 x 512, of which each kind of buffer lies one after the other, or
/// (range 1) each block's buffers together, so that the kinds do not ascend apart.
void check_gradient(benchmark::State& state, Update update) {
  const auto count = static_cast<std::uintptr_t>(state.range(0));
  const bool mixed = state.range(1) != 0;
  constexpr std::uintptr_t kSize = 512 * 512;
  const auto buffer = [&](std::uintptr_t block, std::uintptr_t kind) {
    return floats(kSize * (mixed ? 4 * block + kind : kind * count + block));
  };
  std::vector<GradientBlock> blocks;
  for (std::uintptr_t n = 0; n < count; ++n) {
    GradientBlock& block = blocks.emplace_back(
        GradientBlock{.offset = static_cast<std::int64_t>(kSize * n), .rows = 512, .columns = 512});
    if (update == Update::none) block.output = buffer(n, 0);
    if (update != Update::none) block.weight = buffer(n, 1);
    if (update == Update::adam) {
      block.first_moment = buffer(n, 2);
      block.second_moment = buffer(n, 3);
    }
  }
  const Gradient problem{.update = update};
  const GradientArguments arguments{.fitness = reinterpret_cast<float*>(0x7C0000000000),
                                    .seeds = seeds(),
                                    .sigma = 0.1f,
                                    .pop = 256,
                                    .blocks = blocks};
  for (auto _ : state) benchmark::DoNotOptimize(checked(problem, arguments, kWorkspace));
}
BENCHMARK_CAPTURE(check_gradient, none, Update::none)
    ->Args({1, 0})
    ->Args({71, 0})
    ->Unit(benchmark::kNanosecond);
BENCHMARK_CAPTURE(check_gradient, sgd, Update::sgd)->Args({55, 0})->Unit(benchmark::kNanosecond);
BENCHMARK_CAPTURE(check_gradient, adam, Update::adam)
    ->Args({1, 0})
    ->Args({45, 0})
    ->Args({45, 1})
    ->Unit(benchmark::kNanosecond);

}  // namespace
}  // namespace vnjit
