#include <algorithm>

#include "vnjit/runtime/check_arguments.hpp"
#include "vnjit/runtime/cpu/noise.hpp"
#include "vnjit/runtime/cpu/operations.hpp"
#include "vnjit/runtime/cpu/vector_clones.hpp"

namespace vnjit::cpu {
namespace {

/// Noise elements that a task regenerates for the whole population: they stay in the first cache.
constexpr std::int64_t kChunk = 1024;

/// Seeds that are summed in fp32 before the sum goes to fp64.
constexpr std::int64_t kSeedsPerSum = 64;

/// A noise row this much longer than its columns is summed whole, to keep rows together.
constexpr std::int64_t kMaxGap = 64;

/// How a block is cut into tasks: runs of noise elements, one for all rows or one for each.
struct Runs {
  std::int64_t count;     ///< runs of the block
  std::int64_t elements;  ///< of one run, unused ones between rows included
  std::int64_t chunks;    ///< of one run
};

Runs runs_of(const GradientBlock& block) {
  if (block.rows == 0 || block.columns == 0) return {0, 0, 0};
  const bool whole = block.noise_row_stride - block.columns < kMaxGap;
  const std::int64_t elements =
      whole ? (block.rows - 1) * block.noise_row_stride + block.columns : block.columns;
  return {whole ? 1 : block.rows, elements, (elements + kChunk - 1) / kChunk};
}

VNJIT_VECTOR_CLONES
void add_scaled(const float* noise, float fitness, std::int64_t count, float* sums) {
  for (std::int64_t n = 0; n < count; ++n) sums[n] += fitness * noise[n];
}

VNJIT_VECTOR_CLONES
void flush(std::int64_t count, float* sums, double* totals) {
  for (std::int64_t n = 0; n < count; ++n) {
    totals[n] += static_cast<double>(sums[n]);
    sums[n] = 0.0f;
  }
}

/// totals[n] = sum over the population of fitness times the noise of element + n.
void sum_population(const NoiseSpec& noise, const GradientArguments& arguments,
                    std::uint64_t element, std::int64_t count, double* totals) {
  alignas(64) float values[kChunk];
  alignas(64) float sums[kChunk] = {};
  std::fill_n(totals, count, 0.0);
  const float* fitness = arguments.fitness;
  const std::int64_t seeds = noise.antithetic ? arguments.pop / 2 : arguments.pop;
  for (std::int64_t s = 0; s < seeds; ++s) {
    fill_noise(noise, arguments.seeds[s], element, count, values);
    add_scaled(values, noise.antithetic ? fitness[2 * s] - fitness[2 * s + 1] : fitness[s], count,
               sums);
    if ((s + 1) % kSeedsPerSum == 0 || s + 1 == seeds) flush(count, sums, totals);
  }
}

/// Writes what of the elements [first, first + count) of a block's noise is in its columns.
void write(const GradientBlock& block, std::int64_t first, std::int64_t count, double scale,
           const double* totals) {
  for (std::int64_t n = 0; n < count;) {
    const std::int64_t row = (first + n) / block.noise_row_stride;
    const std::int64_t column = (first + n) % block.noise_row_stride;
    const std::int64_t end = std::min(count, n + block.columns - column);
    float* output = block.output + row * block.output_row_stride + column;
    for (std::int64_t m = n; m < end; ++m) output[m - n] = static_cast<float>(totals[m] * scale);
    n += block.noise_row_stride - column;
  }
}

}  // namespace

void gradient(const Gradient& problem, const GradientArguments& arguments, ThreadPool& pool) {
  const double variance = problem.normalize == Normalize::unbiased ? problem.noise.variance() : 1.0;
  const double scale = 1.0 / (static_cast<double>(arguments.pop_size) *
                              static_cast<double>(arguments.sigma.value) * variance);
  std::int64_t tasks = 0;
  for (std::size_t b = 0; b < arguments.blocks.size(); ++b) {
    const Runs runs = runs_of(checked(arguments.blocks[b], b));
    tasks += runs.count * runs.chunks;
  }
  pool.parallel_for(tasks, [&](std::int64_t task) {
    std::size_t b = 0;
    GradientBlock block = checked(arguments.blocks[b], b);
    Runs runs = runs_of(block);
    while (task >= runs.count * runs.chunks) {
      task -= runs.count * runs.chunks;
      ++b;
      block = checked(arguments.blocks[b], b);
      runs = runs_of(block);
    }
    const std::int64_t chunk = task % runs.chunks * kChunk;
    const std::int64_t first = task / runs.chunks * block.noise_row_stride + chunk;
    const std::int64_t count = std::min(kChunk, runs.elements - chunk);
    double totals[kChunk];
    sum_population(problem.noise, arguments, static_cast<std::uint64_t>(block.offset + first),
                   count, totals);
    write(block, first, count, scale, totals);
  });
}

}  // namespace vnjit::cpu
