#include <gtest/gtest.h>

#include "cpu_reference.hpp"
#include "vnjit/runtime/check_arguments.hpp"
#include "vnjit/runtime/cpu/operations.hpp"

namespace vnjit {
namespace {

constexpr float kSigma = -0.25f;

struct Population {
  std::vector<float> fitness;
  std::vector<std::int64_t> seeds;

  Population(std::int64_t pop, bool antithetic)
      : fitness(tests::random_values(pop, 5)),
        seeds(tests::random_seeds(antithetic ? pop / 2 : pop, 6)) {
    // Full fp32 mantissas: products with short ones would be summed without rounding.
    for (float& value : fitness) value /= 3.0f;
  }

  GradientArguments arguments(std::span<const GradientBlock> blocks) const {
    GradientArguments made;
    made.fitness = fitness.data();
    made.seeds = seeds.data();
    made.sigma = kSigma;
    made.pop = static_cast<std::int64_t>(fitness.size());
    made.blocks = blocks;
    return made;
  }
};

void run(const Gradient& problem, const GradientArguments& arguments, int threads = 2) {
  cpu::ThreadPool pool(threads);
  cpu::gradient(problem, checked(problem, arguments), pool);
}

/// Sum of fitness times noise over the population, of one element.
double reference(const NoiseSpec& noise, const Population& population, std::int64_t element) {
  double sum = 0;
  for (std::size_t i = 0; i < population.fitness.size(); ++i) {
    sum += population.fitness[i] *
           tests::individual_noise(noise, population.seeds, static_cast<std::int64_t>(i), element);
  }
  return sum;
}

std::vector<double> reference(const NoiseSpec& noise, const Population& population,
                              std::int64_t offset, std::int64_t count, double divisor) {
  std::vector<double> values;
  for (std::int64_t n = 0; n < count; ++n) {
    values.push_back(reference(noise, population, offset + n) / divisor);
  }
  return values;
}

TEST(CpuGradient, DividesByPopulationAndSigmaForEveryNoise) {
  const Population population(20, false);
  for (const NoiseSpec& noise : tests::every_noise()) {
    std::vector<float> output(60 * 50, tests::kNaN);
    const GradientBlock block{.offset = 777, .rows = 60, .columns = 50, .output = output.data()};
    run({.noise = noise}, population.arguments({&block, 1}));
    EXPECT_LT(tests::relative_error(output, reference(noise, population, 777, 3000, 20 * kSigma)),
              1e-6)
        << to_string(noise);
  }
}

TEST(CpuGradient, IsWithin1e6OfFloat64ForAPopulationOf65536) {
  const Population population(65536, false);
  std::vector<float> output(40, tests::kNaN);
  const GradientBlock block{.offset = 3, .rows = 1, .columns = 40, .output = output.data()};
  run({}, population.arguments({&block, 1}));
  EXPECT_LT(tests::relative_error(output, reference({}, population, 3, 40, 65536.0 * kSigma)),
            1e-6);
}

TEST(CpuGradient, PairsIndividualsOfAntitheticNoise) {
  const NoiseSpec noise{.antithetic = true};
  const Population population(12, true);
  std::vector<float> output(300, tests::kNaN);
  const GradientBlock block{.offset = 0, .rows = 1, .columns = 300, .output = output.data()};
  run({.noise = noise}, population.arguments({&block, 1}));
  EXPECT_LT(tests::relative_error(output, reference(noise, population, 0, 300, 12 * kSigma)), 1e-6);
}

TEST(CpuGradient, TakesPopSizeAsTheDivisorAlone) {
  const Population population(10, false);
  std::vector<float> output(70, tests::kNaN);
  const GradientBlock block{.offset = 9, .rows = 1, .columns = 70, .output = output.data()};
  GradientArguments arguments = population.arguments({&block, 1});
  arguments.pop_size = 40;
  run({}, arguments);
  EXPECT_LT(tests::relative_error(output, reference({}, population, 9, 70, 40 * kSigma)), 1e-6);
}

TEST(CpuGradient, DividesByTheVarianceWhenUnbiased) {
  const Population population(10, false);
  std::vector<float> output(70, tests::kNaN);
  const GradientBlock block{.offset = 9, .rows = 1, .columns = 70, .output = output.data()};
  run({.normalize = Normalize::unbiased}, population.arguments({&block, 1}));
  const double variance = (1 - 0x1p-16) / 12;
  EXPECT_LT(tests::relative_error(output, reference({}, population, 9, 70, 10 * kSigma * variance)),
            1e-6);
}

/// Fitness <g, noise> of a linear objective: the unbiased estimate tends to g itself.
TEST(CpuGradient, EstimatesAKnownGradientWhenUnbiased) {
  constexpr std::int64_t kPop = 20000;
  const std::vector<double> expected{1.0, -2.0, 0.5, 3.0};
  Population population(kPop, false);
  for (std::size_t i = 0; i < population.fitness.size(); ++i) {
    double fitness = 0;
    for (std::size_t k = 0; k < expected.size(); ++k) {
      fitness += kSigma * expected[k] *
                 tests::noise_value({}, population.seeds[i], static_cast<std::int64_t>(k));
    }
    population.fitness[i] = static_cast<float>(fitness);
  }
  std::vector<float> output(4, tests::kNaN);
  const GradientBlock block{.offset = 0, .rows = 1, .columns = 4, .output = output.data()};
  run({.normalize = Normalize::unbiased}, population.arguments({&block, 1}));
  EXPECT_LT(tests::relative_error(output, expected), 0.03);
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
    run({}, population.arguments({&block, 1}));
    std::vector<float> values;
    std::vector<double> expected;
    for (std::int64_t n = 0; n < 50 * 40; ++n) {
      const float value = output[static_cast<std::size_t>(n)];
      if (n % 40 >= 33) {
        EXPECT_TRUE(std::isnan(value)) << "stride " << noise_row_stride << " element " << n;
        continue;
      }
      values.push_back(value);
      expected.push_back(reference({}, population, 100 + n / 40 * noise_row_stride + n % 40) /
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
  run({}, population.arguments(blocks));
  EXPECT_LT(tests::relative_error(weight, reference({}, population, 10, 2100, 5 * kSigma)), 1e-6);
  EXPECT_LT(tests::relative_error(bias, reference({}, population, 2110, 30, 5 * kSigma)), 1e-6);
  for (std::int64_t row = 0; row < 3; ++row) {
    const auto begin = wide.begin() + row * 1500;
    EXPECT_LT(tests::relative_error({begin, begin + 1500},
                                    reference({}, population, 4000 + row * 1600, 1500, 5 * kSigma)),
              1e-6)
        << "row " << row;
  }
}

TEST(CpuGradient, GivesTheSameBitsForAnyNumberOfThreadsAndAnyBlock) {
  const Population population(130, false);
  std::vector<float> whole(5000, tests::kNaN);
  const GradientBlock block{.offset = 50, .rows = 50, .columns = 100, .output = whole.data()};
  run({}, population.arguments({&block, 1}), 1);
  for (const int threads : {2, 5}) {
    std::vector<float> again(5000, tests::kNaN);
    const GradientBlock same{.offset = 50, .rows = 50, .columns = 100, .output = again.data()};
    run({}, population.arguments({&same, 1}), threads);
    EXPECT_EQ(tests::bits_of(again), tests::bits_of(whole)) << threads << " threads";
  }
  std::vector<float> part(1700, tests::kNaN);
  const GradientBlock inner{.offset = 50 + 1234, .rows = 1, .columns = 1700, .output = part.data()};
  run({}, population.arguments({&inner, 1}));
  EXPECT_EQ(tests::bits_of(part), tests::bits_of({whole.begin() + 1234, whole.begin() + 2934}));
}

}  // namespace
}  // namespace vnjit
