#include <gtest/gtest.h>

#include "cpu_population.hpp"

namespace vnjit {
namespace {

using tests::noise_sum;
using tests::noise_sums;
using tests::Population;
using tests::run_gradient;

constexpr float kSigma = tests::kPopulationSigma;

TEST(CpuGradient, DividesByPopulationAndSigmaForEveryNoise) {
  const Population population(20, false);
  for (const NoiseSpec& noise : tests::every_noise()) {
    std::vector<float> output(60 * 50, tests::kNaN);
    const GradientBlock block{.offset = 777, .rows = 60, .columns = 50, .output = output.data()};
    run_gradient({.noise = noise}, population.arguments({&block, 1}));
    EXPECT_LT(tests::relative_error(output, noise_sums(noise, population, 777, 3000, 20 * kSigma)),
              1e-6)
        << to_string(noise);
  }
}

TEST(CpuGradient, PairsIndividualsOfAntitheticNoise) {
  const NoiseSpec noise{.antithetic = true};
  const Population population(12, true);
  std::vector<float> output(300, tests::kNaN);
  const GradientBlock block{.offset = 0, .rows = 1, .columns = 300, .output = output.data()};
  run_gradient({.noise = noise}, population.arguments({&block, 1}));
  EXPECT_LT(tests::relative_error(output, noise_sums(noise, population, 0, 300, 12 * kSigma)),
            1e-6);
}

TEST(CpuGradient, TakesPopSizeAsTheDivisorAlone) {
  const Population population(10, false);
  std::vector<float> output(70, tests::kNaN);
  const GradientBlock block{.offset = 9, .rows = 1, .columns = 70, .output = output.data()};
  GradientArguments arguments = population.arguments({&block, 1});
  arguments.pop_size = 40;
  run_gradient({}, arguments);
  EXPECT_LT(tests::relative_error(output, noise_sums({}, population, 9, 70, 40 * kSigma)), 1e-6);
}

TEST(CpuGradient, DividesByTheVarianceWhenUnbiased) {
  const Population population(10, false);
  std::vector<float> output(70, tests::kNaN);
  const GradientBlock block{.offset = 9, .rows = 1, .columns = 70, .output = output.data()};
  run_gradient({.normalize = Normalize::unbiased}, population.arguments({&block, 1}));
  const double variance = (1 - 0x1p-16) / 12;
  EXPECT_LT(
      tests::relative_error(output, noise_sums({}, population, 9, 70, 10 * kSigma * variance)),
      1e-6);
}

TEST(CpuGradient, TakesStridesAndLeavesGapsAlone) {
  const Population population(5, false);
  // Gaps of the noise short and long: rows summed together and one by one.
  for (const std::int64_t noise_row_stride : {33, 64, 96, 97, 2000}) {
    std::vector<float> output(50 * 40, tests::kNaN);
    const GradientBlock block{.offset = 100,
                              .rows = 50,
                              .columns = 33,
                              .output = output.data(),
                              .output_row_stride = 40,
                              .noise_row_stride = noise_row_stride};
    run_gradient({}, population.arguments({&block, 1}));
    std::vector<float> values;
    std::vector<double> expected;
    for (std::int64_t n = 0; n < 50 * 40; ++n) {
      const float value = output[static_cast<std::size_t>(n)];
      if (n % 40 >= 33) {
        EXPECT_TRUE(std::isnan(value)) << "stride " << noise_row_stride << " element " << n;
        continue;
      }
      values.push_back(value);
      expected.push_back(noise_sum({}, population, 100 + n / 40 * noise_row_stride + n % 40) /
                         (5 * kSigma));
    }
    EXPECT_LT(tests::relative_error(values, expected), 1e-6) << "stride " << noise_row_stride;
  }
}

TEST(CpuGradient, FillsAllBlocksOfAModelAndSkipsEmptyOnes) {
  const Population population(5, false);
  std::vector<float> weight(30 * 70, tests::kNaN);
  std::vector<float> bias(30, tests::kNaN);
  std::vector<float> wide(3 * 1500, tests::kNaN);
  const std::vector<GradientBlock> blocks{
      {.offset = 0, .rows = 0, .columns = 4},
      {.offset = 10, .rows = 30, .columns = 70, .output = weight.data()},
      {.offset = 10 + 2100, .rows = 1, .columns = 30, .output = bias.data()},
      {.offset = 0, .rows = 3, .columns = 0},
      {.offset = 4000, .rows = 3, .columns = 1500, .output = wide.data(), .noise_row_stride = 1600},
  };
  run_gradient({}, population.arguments(blocks));
  EXPECT_LT(tests::relative_error(weight, noise_sums({}, population, 10, 2100, 5 * kSigma)), 1e-6);
  EXPECT_LT(tests::relative_error(bias, noise_sums({}, population, 2110, 30, 5 * kSigma)), 1e-6);
  for (std::int64_t row = 0; row < 3; ++row) {
    const auto begin = wide.begin() + row * 1500;
    EXPECT_LT(
        tests::relative_error({begin, begin + 1500},
                              noise_sums({}, population, 4000 + row * 1600, 1500, 5 * kSigma)),
        1e-6)
        << "row " << row;
  }
}

TEST(CpuGradient, GivesTheSameBitsForAnyNumberOfThreadsAndAnyBlock) {
  const Population population(130, false);
  for (const NoiseSpec& noise : tests::every_noise()) {
    std::vector<float> whole(5000, tests::kNaN);
    const GradientBlock block{.offset = 50, .rows = 50, .columns = 100, .output = whole.data()};
    run_gradient({.noise = noise}, population.arguments({&block, 1}), 1);
    for (const int threads : {2, 5}) {
      std::vector<float> again(5000, tests::kNaN);
      const GradientBlock same{.offset = 50, .rows = 50, .columns = 100, .output = again.data()};
      run_gradient({.noise = noise}, population.arguments({&same, 1}), threads);
      EXPECT_EQ(tests::bits_of(again), tests::bits_of(whole))
          << to_string(noise) << " " << threads << " threads";
    }
    EXPECT_EQ(tests::bits_of(tests::gradient_of({.noise = noise}, population, 50 + 1234, 1700)),
              tests::bits_of({whole.begin() + 1234, whole.begin() + 2934}))
        << to_string(noise);
  }
}

}  // namespace
}  // namespace vnjit
