#include <gtest/gtest.h>

#include "cpu_forward.hpp"
#include "cpu_population.hpp"

// What a gradient is an estimate of, and how exactly it is summed.

namespace vnjit {
namespace {

using tests::gradient_of;
using tests::noise_sums;
using tests::Population;

constexpr float kSigma = tests::kPopulationSigma;

std::vector<NoiseSpec> with_antithetic() {
  std::vector<NoiseSpec> specs = tests::every_noise();
  for (NoiseSpec spec : tests::every_noise()) {
    spec.antithetic = true;
    specs.push_back(spec);
  }
  return specs;
}

double error_of_ranks(const NoiseSpec& noise, std::int64_t pop, std::int64_t count) {
  Population population(pop, noise.antithetic);
  for (std::int64_t i = 0; i < pop; ++i) {
    population.fitness[static_cast<std::size_t>(i)] = static_cast<float>(1000 + i);
  }
  const double divisor = static_cast<double>(pop) * static_cast<double>(kSigma);
  return tests::relative_error(gradient_of({.noise = noise}, population, 3, count),
                               noise_sums(noise, population, 3, count, divisor));
}

TEST(CpuGradientError, IsAtMost1e6WithFitnessFarFromZero) {
  for (const NoiseSpec& noise : with_antithetic()) {
    EXPECT_LE(error_of_ranks(noise, 256, 200), 1e-6) << to_string(noise);
  }
}

TEST(CpuGradientError, DoesNotGrowWithThePopulation) {
  for (const NoiseSpec& noise : tests::every_noise()) {
    EXPECT_LE(error_of_ranks(noise, 65536, 12), 1e-6) << to_string(noise);
  }
}

TEST(CpuGradientError, OfAPopulationInTwoCallsAddsUp) {
  constexpr std::int64_t kFirst = 37;
  for (const NoiseSpec& noise : tests::every_noise()) {
    const Population population(100, false);
    std::vector<float> halves[2] = {std::vector<float>(200, tests::kNaN),
                                    std::vector<float>(200, tests::kNaN)};
    for (int half = 0; half < 2; ++half) {
      const GradientBlock block{
          .offset = 7, .rows = 1, .columns = 200, .output = halves[half].data()};
      GradientArguments arguments = population.arguments({&block, 1});
      arguments.pop_size = 100;
      arguments.pop = half == 0 ? kFirst : 100 - kFirst;
      arguments.fitness += half * kFirst;
      arguments.seeds += half * kFirst;
      tests::run_gradient({.noise = noise}, arguments);
    }
    std::vector<float> sum;
    for (std::size_t n = 0; n < 200; ++n) sum.push_back(halves[0][n] + halves[1][n]);
    EXPECT_LE(tests::relative_error(
                  sum, noise_sums(noise, population, 7, 200, 100 * static_cast<double>(kSigma))),
              1e-6)
        << to_string(noise);
  }
}

/// f(W) = <slope, W>, whose gradient is the slope everywhere.
TEST(CpuGradientEstimate, IsTheGradientOfALinearFunctionWithinThreeStandardErrors) {
  constexpr std::int64_t kPop = 4096;
  const std::vector<double> slope{1.0, -2.0, 0.5, 3.0, -0.25, 0.0};
  const auto count = static_cast<std::int64_t>(slope.size());
  for (const NoiseSpec& noise : with_antithetic()) {
    Population population(kPop, noise.antithetic);
    population.seeds = tests::random_seeds(noise.antithetic ? kPop / 2 : kPop, 7);
    std::vector<std::vector<double>> values;  // of the noise, of each individual
    for (std::int64_t i = 0; i < kPop; ++i) {
      values.emplace_back();
      double fitness = 0;
      for (std::int64_t k = 0; k < count; ++k) {
        values.back().push_back(tests::individual_noise(noise, population.seeds, i, k));
        fitness +=
            static_cast<double>(kSigma) * slope[static_cast<std::size_t>(k)] * values.back().back();
      }
      population.fitness[static_cast<std::size_t>(i)] = static_cast<float>(fitness);
    }
    const std::vector<float> output =
        gradient_of({.noise = noise, .normalize = Normalize::unbiased}, population, 0, count);
    // Both of a pair tell the same.
    const double independent = static_cast<double>(noise.antithetic ? kPop / 2 : kPop);
    for (std::size_t k = 0; k < slope.size(); ++k) {
      double squares = 0;
      for (std::size_t i = 0; i < values.size(); ++i) {
        const double one = static_cast<double>(population.fitness[i]) * values[i][k] /
                           (static_cast<double>(kSigma) * noise.variance());
        squares += (one - slope[k]) * (one - slope[k]);
      }
      const double standard_error = std::sqrt(squares / static_cast<double>(kPop) / independent);
      EXPECT_LT(std::fabs(static_cast<double>(output[k]) - slope[k]), 3 * standard_error)
          << to_string(noise) << (noise.antithetic ? " antithetic " : " ") << k;
      EXPECT_LT(standard_error, 0.2) << to_string(noise) << " " << k;
    }
  }
}

/// f = <slope, Y>: what the noise of a pair adds to one individual's Y it takes from the other's,
/// so that W, X·W^T and the bias leave no trace in the gradient.
TEST(CpuGradientEstimate, OfPairsTakesTheNoiseThatTheForwardPassHas) {
  constexpr std::int64_t kPop = 40, kBatch = 3, kIn = 9, kOut = 5;
  for (const NoiseSpec& spec : tests::every_noise()) {
    NoiseSpec noise = spec;
    noise.antithetic = true;
    PerturbedLinearArguments sizes;
    sizes.sigma = kSigma;
    sizes.offset = 21;
    sizes.pop = kPop;
    sizes.batch = kBatch;
    sizes.in = kIn;
    sizes.out = kOut;
    const tests::Forward forward({.noise = noise, .bias = false}, sizes);
    const std::vector<float> y = forward.run(1);
    const std::vector<float> slope = tests::random_values(kBatch * kOut, 9);

    Population population(kPop, true);
    population.seeds = forward.seeds;
    for (std::size_t i = 0; i < kPop; ++i) {
      double fitness = 0;
      for (std::size_t n = 0; n < slope.size(); ++n) fitness += slope[n] * y[i * slope.size() + n];
      population.fitness[i] = static_cast<float>(fitness);
    }
    std::vector<double> of_weights(kOut * kIn);  // slope^T·X, the gradient of f
    for (std::size_t j = 0; j < kOut; ++j) {
      for (std::size_t k = 0; k < kIn; ++k) {
        for (std::size_t b = 0; b < kBatch; ++b) {
          of_weights[j * kIn + k] += slope[b * kOut + j] * forward.x[b * kIn + k];
        }
      }
    }
    std::vector<double> expected(kOut * kIn);
    for (const std::int64_t seed : forward.seeds) {
      double along = 0;
      for (std::size_t n = 0; n < expected.size(); ++n) {
        along += of_weights[n] *
                 tests::noise_value(noise, seed, sizes.offset + static_cast<std::int64_t>(n));
      }
      for (std::size_t n = 0; n < expected.size(); ++n) {
        expected[n] += 2 * along / kPop *
                       tests::noise_value(noise, seed, sizes.offset + static_cast<std::int64_t>(n));
      }
    }
    EXPECT_LT(tests::relative_error(
                  gradient_of({.noise = noise}, population, sizes.offset, kOut * kIn), expected),
              1e-5)
        << to_string(noise);
  }
}

}  // namespace
}  // namespace vnjit
