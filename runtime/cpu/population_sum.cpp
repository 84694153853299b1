#include "vnjit/runtime/cpu/population_sum.hpp"

#include <algorithm>
#include <bit>
#include <limits>

#include "gradient/fixed_point.cuh"
#include "noise/noise.cuh"
#include "vnjit/codegen/sum_config.hpp"
#include "vnjit/runtime/cpu/noise.hpp"
#include "vnjit/runtime/cpu/vector_clones.hpp"

namespace vnjit::cpu {
namespace {

/// Seeds that are summed in fp32 before the sum goes to fp64.
constexpr std::int64_t kSeedsPerFloat = 64;

/// Seeds whose products, below 2^38, are summed in fp64 without rounding before the sum goes to
/// integers.
constexpr std::int64_t kSeedsPerDouble = 1 << 14;

double unit_of(const NoiseSpec& noise) {
  return noise.distribution == Distribution::uniform8
             ? static_cast<double>(noise::PhiloxUniform8<7>::kUnit)
             : static_cast<double>(noise::PhiloxRademacher<7>::kUnit);
}

VNJIT_VECTOR_CLONES
void add_scaled(const float* noise, float factor, std::int64_t count, float* sums) {
  for (std::int64_t n = 0; n < count; ++n) sums[n] += factor * noise[n];
}

VNJIT_VECTOR_CLONES
void add_scaled(const float* noise, double factor, std::int64_t count, double* sums) {
  for (std::int64_t n = 0; n < count; ++n) sums[n] += factor * static_cast<double>(noise[n]);
}

VNJIT_VECTOR_CLONES
void flush(std::int64_t count, float* sums, double* totals) {
  for (std::int64_t n = 0; n < count; ++n) {
    totals[n] += static_cast<double>(sums[n]);
    sums[n] = 0.0f;
  }
}

VNJIT_VECTOR_CLONES
void flush(std::int64_t count, double* sums, std::int64_t* totals) {
  for (std::int64_t n = 0; n < count; ++n) {
    totals[n] += static_cast<std::int64_t>(sums[n]);
    sums[n] = 0.0;
  }
}

}  // namespace

PopulationSum::PopulationSum(const Gradient& problem, const GradientArguments& arguments)
    : noise_(problem.noise),
      arguments_(arguments),
      seeds_(noise_.seed_count(arguments.pop)),
      integers_(has_integer_sums(noise_)) {
  const double divisor = static_cast<double>(arguments.pop_size) *
                         (problem.normalize == Normalize::unbiased ? noise_.variance() : 1.0);
  scale_ = 1.0 / (divisor * static_cast<double>(arguments.sigma.value));
  if (!integers_) return;
  std::uint32_t largest = 0;
  for (std::int64_t s = 0; s < seeds_; ++s) {
    largest = std::max(largest, std::bit_cast<std::uint32_t>(fitness_of(s)) & kMagnitudeBits);
  }
  finite_ = largest < kInfinityBits;
  if (!finite_) return;
  shift_ = fixed_point_shift(largest, static_cast<std::uint64_t>(seeds_));
  unit_ = unit_of(noise_);
  // In this order, that of the kernels, for the same bits.
  scale_ = scale_ * (fixed_point_unit(shift_) * unit_);
}

void PopulationSum::make(std::uint64_t first, std::int64_t count, float* gradients) const {
  if (!finite_) {
    std::fill_n(gradients, count, std::numeric_limits<float>::quiet_NaN());
  } else if (integers_) {
    make_integers(first, count, gradients);
  } else {
    make_floats(first, count, gradients);
  }
}

float PopulationSum::fitness_of(std::int64_t seed) const {
  const float* fitness = arguments_.fitness;
  return noise_.antithetic ? fitness[2 * seed] - fitness[2 * seed + 1] : fitness[seed];
}

void PopulationSum::make_integers(std::uint64_t first, std::int64_t count, float* gradients) const {
  alignas(64) float values[kSumElements];
  alignas(64) double sums[kSumElements];
  alignas(64) std::int64_t totals[kSumElements];
  std::fill_n(sums, count, 0.0);
  std::fill_n(totals, count, 0);
  for (std::int64_t s = 0; s < seeds_; ++s) {
    fill_noise(noise_, arguments_.seeds[s], first, count, values);
    const int fitness = fixed_point(fitness_of(s), shift_);
    add_scaled(values, static_cast<double>(fitness) / unit_, count, sums);
    if ((s + 1) % kSeedsPerDouble == 0 || s + 1 == seeds_) flush(count, sums, totals);
  }
  for (std::int64_t n = 0; n < count; ++n) {
    gradients[n] = static_cast<float>(static_cast<double>(totals[n]) * scale_);
  }
}

void PopulationSum::make_floats(std::uint64_t first, std::int64_t count, float* gradients) const {
  alignas(64) float values[kSumElements];
  alignas(64) float sums[kSumElements];
  alignas(64) double totals[kSumElements];
  std::fill_n(sums, count, 0.0f);
  std::fill_n(totals, count, 0.0);
  for (std::int64_t s = 0; s < seeds_; ++s) {
    fill_noise(noise_, arguments_.seeds[s], first, count, values);
    add_scaled(values, fitness_of(s), count, sums);
    if ((s + 1) % kSeedsPerFloat == 0 || s + 1 == seeds_) flush(count, sums, totals);
  }
  for (std::int64_t n = 0; n < count; ++n) {
    gradients[n] = static_cast<float>(totals[n] * scale_);
  }
}

}  // namespace vnjit::cpu
