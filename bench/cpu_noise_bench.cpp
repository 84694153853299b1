#include <benchmark/benchmark.h>

#include <vector>

#include "vnjit/runtime/cpu/noise.hpp"

// Noise values a second of one core, into a buffer that fits the first two cache levels.

namespace vnjit {
namespace {

constexpr std::int64_t kValues = 8192;

void fill_noise_of(benchmark::State& state, std::string_view noise, std::uint64_t offset) {
  const NoiseSpec spec = parse_noise_spec(noise);
  std::vector<float> values(kValues);
  std::int64_t seed = 0;
  for (auto _ : state) {
    fill_noise(spec, ++seed, offset, kValues, values.data());
    benchmark::DoNotOptimize(values.data());
    benchmark::ClobberMemory();
  }
  state.SetItemsProcessed(state.iterations() * kValues);
}

BENCHMARK_CAPTURE(fill_noise_of, uniform8, "philox:uniform8:7", 0);
BENCHMARK_CAPTURE(fill_noise_of, uniform8_unaligned, "philox:uniform8:7", 4'294'967'259);
BENCHMARK_CAPTURE(fill_noise_of, uniform8_10_rounds, "philox:uniform8:10", 0);
BENCHMARK_CAPTURE(fill_noise_of, uniform, "philox:uniform:7", 0);
BENCHMARK_CAPTURE(fill_noise_of, rademacher, "philox:rademacher:7", 0);
BENCHMARK_CAPTURE(fill_noise_of, normal, "philox:normal:7", 0);
BENCHMARK_CAPTURE(fill_noise_of, splitmix64, "splitmix64", 0);
BENCHMARK_CAPTURE(fill_noise_of, triton, "triton", 0);

}  // namespace
}  // namespace vnjit
