#include <gtest/gtest.h>

#include <limits>

#include "cpu_population.hpp"

// Noise of whole numbers: sums are exact integers of fitness in fixed point, and their bits are
// those of a formula that the kernels follow too.

namespace vnjit {
namespace {

using tests::bits_of;
using tests::gradient_of;
using tests::Population;

constexpr float kLargest = std::numeric_limits<float>::max();
constexpr float kLeast = std::numeric_limits<float>::denorm_min();

std::vector<NoiseSpec> integer_noise() {
  std::vector<NoiseSpec> specs;
  for (const char* text :
       {"philox:uniform8:7", "philox:uniform8:10", "philox:rademacher:7", "philox:rademacher:10"}) {
    specs.push_back(parse_noise_spec(text));
    specs.push_back(specs.back());
    specs.back().antithetic = true;
  }
  return specs;
}

/// What is summed of each seed.
std::vector<float> seed_fitness(const NoiseSpec& noise, const Population& population) {
  if (!noise.antithetic) return population.fitness;
  std::vector<float> differences;
  for (std::size_t i = 0; i < population.fitness.size(); i += 2) {
    differences.push_back(population.fitness[i] - population.fitness[i + 1]);
  }
  return differences;
}

/// Bits of fitness behind the point, so that the largest has 30 in all.
int shift_of(const std::vector<float>& fitness) {
  float largest = 0;
  for (const float value : fitness) largest = std::max(largest, std::fabs(value));
  return 30 - 1 - std::ilogb(std::max(largest, std::numeric_limits<float>::min()));
}

std::vector<float> formula(const Gradient& problem, const Population& population,
                           std::int64_t offset, std::int64_t count) {
  const NoiseSpec& noise = problem.noise;
  const double unit = noise.distribution == Distribution::uniform8 ? 0x1p-9 : 1.0;
  const std::vector<float> fitness = seed_fitness(noise, population);
  const int shift = shift_of(fitness);
  const double variance = problem.normalize == Normalize::unbiased ? noise.variance() : 1.0;
  const double divisor = static_cast<double>(population.pop()) * variance;
  const double scale = 1.0 / (divisor * static_cast<double>(tests::kPopulationSigma));
  std::vector<float> values;
  for (std::int64_t n = 0; n < count; ++n) {
    std::int64_t total = 0;
    for (std::size_t s = 0; s < fitness.size(); ++s) {
      const double value = tests::noise_value(noise, population.seeds[s], offset + n) / unit;
      total += std::llrint(std::ldexp(static_cast<double>(fitness[s]), shift)) *
               static_cast<std::int64_t>(value);
    }
    values.push_back(static_cast<float>(static_cast<double>(total) *
                                        (scale * (std::ldexp(1.0, -shift) * unit))));
  }
  return values;
}

TEST(CpuGradientExact, GivesTheBitsOfTheFormulaForEveryNoiseOfIntegers) {
  for (const NoiseSpec& noise : integer_noise()) {
    for (const Normalize normalize : {Normalize::seed, Normalize::unbiased}) {
      const Gradient problem{.noise = noise, .normalize = normalize};
      const Population population(302, noise.antithetic);
      EXPECT_EQ(bits_of(gradient_of(problem, population, 777, 300)),
                bits_of(formula(problem, population, 777, 300)))
          << to_string(noise) << (noise.antithetic ? " antithetic" : "");
    }
  }
}

// Sums of 40,000 products of 38 bits pass 2^53, where fp64 has no odd numbers.
TEST(CpuGradientExact, LosesNothingBesideFitnessThatCancels) {
  constexpr std::int64_t kPop = 160'000;
  Population population(kPop, false);
  std::ranges::fill(population.seeds, 11);
  for (std::int64_t i = 0; i < kPop; ++i) {
    const float large = i < kPop / 2 ? 1 - 0x1p-24f : -(1 - 0x1p-24f);
    population.fitness[static_cast<std::size_t>(i)] = i % 2 == 0 ? large : 0x3p-30f;
  }
  const std::vector<float> output = gradient_of({}, population, 0, 64);
  for (std::int64_t n = 0; n < 64; ++n) {
    const double expected =
        tests::noise_value({}, 11, n) * 0x3p-30 / 2 / static_cast<double>(tests::kPopulationSigma);
    EXPECT_EQ(output[static_cast<std::size_t>(n)], static_cast<float>(expected)) << n;
  }
}

TEST(CpuGradientExact, TakesFitnessOfAnyMagnitude) {
  for (const NoiseSpec& noise : integer_noise()) {
    Population population(64, noise.antithetic);
    const std::vector<float> fitness = population.fitness;
    for (const float largest : {kLeast, 0x1p-140f, 0x1p-126f, 1e-30f, 1e30f, kLargest / 2}) {
      for (std::size_t i = 0; i < fitness.size(); ++i) {
        population.fitness[i] = fitness[i] / 3 * largest;
      }
      population.fitness[2] = largest;
      const std::vector<float> output = gradient_of({.noise = noise}, population, 5, 70);
      EXPECT_EQ(bits_of(output), bits_of(formula({.noise = noise}, population, 5, 70)))
          << to_string(noise) << " " << largest;
    }
  }
}

TEST(CpuGradientExact, OfOneIndividualIsFitnessTimesNoise) {
  for (const float fitness : {kLeast, 0x1.fffffep-126f, -1.0f, 1e30f, -kLargest}) {
    Population population(1, false);
    population.fitness = {fitness};
    const std::vector<float> output = gradient_of({}, population, 9, 100);
    for (std::int64_t n = 0; n < 100; ++n) {
      // Exact but for the last rounding.
      const double expected = static_cast<double>(fitness) *
                              tests::noise_value({}, population.seeds[0], 9 + n) /
                              static_cast<double>(tests::kPopulationSigma);
      EXPECT_EQ(output[static_cast<std::size_t>(n)], static_cast<float>(expected))
          << fitness << " " << n;
    }
  }
}

TEST(CpuGradientExact, IsZeroWhereAllFitnessIs) {
  Population population(20, false);
  std::ranges::fill(population.fitness, 0.0f);
  population.fitness[3] = -0.0f;
  for (const float value : gradient_of({}, population, 0, 100)) EXPECT_EQ(value, 0.0f);
}

TEST(CpuGradientExact, IsNaNWhereAFitnessIsNotFinite) {
  for (const NoiseSpec& noise : integer_noise()) {
    for (const float bad : {tests::kNaN, tests::kInfinity, -tests::kInfinity}) {
      Population population(20, noise.antithetic);
      population.fitness[17] = bad;
      for (const float value : gradient_of({.noise = noise}, population, 0, 100)) {
        EXPECT_TRUE(std::isnan(value)) << to_string(noise) << " " << bad;
      }
    }
  }
}

TEST(CpuGradientExact, IsNaNWhereADifferenceOfAPairIsNotFinite) {
  Population population(20, true);
  population.fitness[4] = kLargest;
  population.fitness[5] = -kLargest;
  for (const float value : gradient_of({.noise = {.antithetic = true}}, population, 0, 100)) {
    EXPECT_TRUE(std::isnan(value));
  }
}

}  // namespace
}  // namespace vnjit
