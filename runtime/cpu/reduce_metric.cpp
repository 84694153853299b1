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

/// Individuals of one task at most.
constexpr std::int64_t kMaxGroup = 16;

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

void reduce_group(const ReduceMetric& problem, const ReduceMetricArguments& arguments,
                  std::int64_t first, std::int64_t count) {
  const bool antithetic = problem.noise.antithetic;
  alignas(64) float scratch[kChunk];
  alignas(64) float noise[kChunk];
  alignas(64) double lanes[kMaxGroup][kLanes] = {};
  for (std::int64_t k = 0; k < arguments.params; k += kChunk) {
    const std::int64_t length = std::min(kChunk, arguments.params - k);
    const float* center = as_floats(problem.input, arguments.center, k, length, scratch);
    for (std::int64_t member = 0; member < count; ++member) {
      const std::int64_t individual = first + member;
      const float sigma =
          antithetic && individual % 2 == 1 ? -arguments.sigma.value : arguments.sigma.value;
      fill_noise(problem.noise, arguments.seeds[antithetic ? individual / 2 : individual],
                 static_cast<std::uint64_t>(arguments.offset + k), length, noise);
      add_magnitudes(center, sigma, noise, length, lanes[member]);
    }
  }
  for (std::int64_t member = 0; member < count; ++member) {
    double sum = 0.0;
    for (const double lane : lanes[member]) sum += lane;
    arguments.metric[first + member] =
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
  const std::int64_t group =
      std::clamp(arguments.pop / (4 * pool.threads()), std::int64_t{1}, kMaxGroup);
  pool.parallel_for((arguments.pop + group - 1) / group, [&](std::int64_t index) {
    const std::int64_t first = index * group;
    reduce_group(problem, arguments, first, std::min(group, arguments.pop - first));
  });
}

}  // namespace vnjit::cpu
