#include <algorithm>
#include <cmath>
#include <limits>

#include "vnjit/runtime/cpu/floats.hpp"
#include "vnjit/runtime/cpu/noise.hpp"
#include "vnjit/runtime/cpu/operations.hpp"
#include "vnjit/runtime/cpu/vector_clones.hpp"

namespace vnjit::cpu {
namespace {

/// Parameters that a task reads once for all of its individuals.
constexpr std::int64_t kChunk = 1024;

/// Seeds of one task at most, and individuals of one seed.
constexpr std::int64_t kMaxGroup = 16;
constexpr std::int64_t kMaxSigns = 2;

/// Partial sums of one individual, side by side so that they are added as vectors.
constexpr int kLanes = 32;

VNJIT_VECTOR_CLONES
void add_magnitudes(const float* center, float sigma, const float* noise, std::int64_t count,
                    double* lanes) {
  std::int64_t n = 0;
  for (; n + kLanes <= count; n += kLanes) {
    for (int lane = 0; lane < kLanes; ++lane) {
      const float perturbed = center[n + lane] + sigma * noise[n + lane];
      lanes[lane] += static_cast<double>(std::fabs(perturbed));
    }
  }
  for (int lane = 0; n + lane < count; ++lane) {
    const float perturbed = center[n + lane] + sigma * noise[n + lane];
    lanes[lane] += static_cast<double>(std::fabs(perturbed));
  }
}

/// The individuals of `count` seeds: noise is made once for both of a pair.
void reduce_group(const ReduceMetric& problem, const ReduceMetricArguments& arguments,
                  std::int64_t first, std::int64_t count) {
  const std::int64_t signs = problem.noise.antithetic ? 2 : 1;
  const float sigma = arguments.sigma.value;
  alignas(64) float scratch[kChunk];
  alignas(64) float noise[kChunk];
  alignas(64) double lanes[kMaxGroup * kMaxSigns][kLanes] = {};
  for (std::int64_t k = 0; k < arguments.params; k += kChunk) {
    const std::int64_t length = std::min(kChunk, arguments.params - k);
    const float* center = as_floats(problem.input, arguments.center, k, length, scratch);
    for (std::int64_t member = 0; member < count; ++member) {
      fill_noise(problem.noise, arguments.seeds[first + member],
                 static_cast<std::uint64_t>(arguments.offset + k), length, noise);
      for (std::int64_t sign = 0; sign < signs; ++sign) {
        add_magnitudes(center, sign == 0 ? sigma : -sigma, noise, length,
                       lanes[member * signs + sign]);
      }
    }
  }
  for (std::int64_t individual = 0; individual < count * signs; ++individual) {
    double sum = 0.0;
    for (const double lane : lanes[individual]) sum += lane;
    arguments.metric[first * signs + individual] =
        static_cast<float>(sum / static_cast<double>(arguments.params));
  }
}

}  // namespace

void reduce_metric(const ReduceMetric& problem, const ReduceMetricArguments& arguments,
                   ThreadPool& pool) {
  if (arguments.params == 0) {
    std::fill_n(arguments.metric, arguments.pop, std::numeric_limits<float>::quiet_NaN());
    return;
  }
  const std::int64_t seeds = problem.noise.seed_count(arguments.pop);
  const std::int64_t group =
      std::clamp(seeds / (std::int64_t{4} * pool.threads()), std::int64_t{1}, kMaxGroup);
  pool.parallel_for((seeds + group - 1) / group, [&](std::int64_t index) {
    const std::int64_t first = index * group;
    reduce_group(problem, arguments, first, std::min(group, seeds - first));
  });
}

}  // namespace vnjit::cpu
