#include <gtest/gtest.h>

#include "cpu_population.hpp"
#include "vnjit/runtime/gradient_update.hpp"

namespace vnjit {
namespace {

using tests::bits_of;
using tests::Population;

constexpr float kSigma = tests::kPopulationSigma;

TEST(AdamStep, IsCorrectedForMomentsThatStartAtZero) {
  const UpdateStep first{.learning_rate = 0.5f, .beta1 = 0.75f, .beta2 = 0.9375f};
  const AdamStep step = adam_step_of(first);
  EXPECT_EQ(step.learning_rate, 2.0f);
  EXPECT_EQ(step.root_correction, 4.0f);
  EXPECT_EQ(step.beta1, 0.75f);
  EXPECT_EQ(step.beta2, 0.9375f);
  EXPECT_EQ(step.epsilon, 1e-8f);
  const AdamStep late = adam_step_of({.learning_rate = -0.5f, .step = 1'000'000'000});
  EXPECT_EQ(late.learning_rate, -0.5f);
  EXPECT_EQ(late.root_correction, 1.0f);
}

// Near 1, decay^step in fp32 would leave few digits of what is missing to 1.
TEST(AdamStep, IsMadeInDouble) {
  const double decay = static_cast<double>(0.9987f);
  const AdamStep step = adam_step_of({.learning_rate = 1.0f, .beta1 = 0.9987f, .step = 2});
  EXPECT_EQ(step.learning_rate, static_cast<float>(1 / ((1 - decay) * (1 + decay))));
}

/// Parameters of 6 rows and 50 columns with gaps in memory and in noise, and their float64 doubles.
class CpuGradientUpdate : public testing::TestWithParam<const char*> {
 protected:
  static constexpr std::int64_t kRows = 6, kColumns = 50, kStride = 53, kNoiseStride = 61;
  static constexpr std::int64_t kOffset = 1000;
  static constexpr int kSteps = 5;

  static std::vector<float> padded(const std::vector<float>& values) {
    std::vector<float> made(kRows * kStride, tests::kNaN);
    for (std::size_t n = 0; n < values.size(); ++n) made[place(n)] = values[n];
    return made;
  }

  static std::size_t place(std::size_t n) { return n / kColumns * kStride + n % kColumns; }

  static std::vector<float> packed(const std::vector<float>& values) {
    std::vector<float> made;
    for (std::size_t n = 0; n < kRows * kColumns; ++n) made.push_back(values[place(n)]);
    for (std::size_t n = 0; n < values.size(); ++n) {
      EXPECT_EQ(std::isnan(values[n]), n % kStride >= kColumns) << n;
    }
    return made;
  }

  static std::vector<double> doubles(const std::vector<float>& values) {
    return {values.begin(), values.end()};
  }

  GradientBlock block() {
    return {.offset = kOffset,
            .rows = kRows,
            .columns = kColumns,
            .noise_row_stride = kNoiseStride,
            .weight = weight.data(),
            .weight_row_stride = kStride};
  }

  void run(Update update, const GradientBlock& block, const UpdateStep& step) {
    GradientArguments arguments = population.arguments({&block, 1});
    arguments.update = step;
    tests::run_gradient({.noise = noise, .update = update}, arguments);
  }

  /// The fitness of another generation.
  void evaluate(int step) {
    population.fitness = tests::random_values(population.pop(), 100 + static_cast<unsigned>(step));
    for (float& value : population.fitness) value /= 3.0f;
  }

  std::vector<double> gradient() const {
    std::vector<double> values;
    for (std::int64_t row = 0; row < kRows; ++row) {
      const std::vector<double> more =
          tests::noise_sums(noise, population, kOffset + row * kNoiseStride, kColumns,
                            static_cast<double>(population.pop()) * static_cast<double>(kSigma));
      values.insert(values.end(), more.begin(), more.end());
    }
    return values;
  }

  NoiseSpec noise = parse_noise_spec(GetParam());
  Population population{30, false};
  std::vector<float> start = tests::random_values(kRows * kColumns, 3);
  std::vector<float> weight = padded(start);
  std::vector<double> expected = doubles(start);
};

TEST_P(CpuGradientUpdate, SgdStepsAlongTheGradient) {
  for (int step = 1; step <= kSteps; ++step) {
    evaluate(step);
    const float rate = step % 2 == 0 ? 0.3f : -0.05f;
    run(Update::sgd, block(), {.learning_rate = rate});
    const std::vector<double> along = gradient();
    for (std::size_t n = 0; n < along.size(); ++n) {
      expected[n] += static_cast<double>(rate) * along[n];
    }
    EXPECT_LT(tests::relative_error(packed(weight), expected), 1e-6) << step;
  }
}

TEST_P(CpuGradientUpdate, AdamStepsAndKeepsItsMoments) {
  const std::vector<float> zeros(kRows * kColumns);
  std::vector<float> first = padded(zeros), second = padded(zeros);
  std::vector<double> expected_first(zeros.size()), expected_second(zeros.size());
  UpdateStep step{.learning_rate = 0.25f, .beta1 = 0.8f, .beta2 = 0.98f, .epsilon = 1e-3f};
  const double beta1 = static_cast<double>(step.beta1), beta2 = static_cast<double>(step.beta2);
  for (step.step = 1; step.step <= kSteps; ++step.step) {
    evaluate(static_cast<int>(step.step));
    GradientBlock given = block();
    given.first_moment = first.data();
    given.second_moment = second.data();
    run(Update::adam, given, step);
    const std::vector<double> along = gradient();
    const auto number = static_cast<double>(step.step);
    for (std::size_t n = 0; n < along.size(); ++n) {
      expected_first[n] = beta1 * expected_first[n] + (1 - beta1) * along[n];
      expected_second[n] = beta2 * expected_second[n] + (1 - beta2) * along[n] * along[n];
      const double mean = expected_first[n] / (1 - std::pow(beta1, number));
      const double square = expected_second[n] / (1 - std::pow(beta2, number));
      expected[n] += static_cast<double>(step.learning_rate) * mean /
                     (std::sqrt(square) + static_cast<double>(step.epsilon));
    }
    EXPECT_LT(tests::relative_error(packed(first), expected_first), 1e-6) << step.step;
    EXPECT_LT(tests::relative_error(packed(second), expected_second), 1e-6) << step.step;
    EXPECT_LT(tests::relative_error(packed(weight), expected), 1e-6) << step.step;
  }
}

TEST_P(CpuGradientUpdate, WritesTheGradientTooWhereItIsAskedFor) {
  std::vector<float> plain(kRows * kColumns, tests::kNaN);
  const GradientBlock only{.offset = kOffset,
                           .rows = kRows,
                           .columns = kColumns,
                           .output = plain.data(),
                           .noise_row_stride = kNoiseStride};
  run(Update::none, only, {});
  run(Update::sgd, block(), {.learning_rate = 0.5f});
  const std::vector<float> without = weight;

  weight = padded(start);
  std::vector<float> output(kRows * 55, tests::kNaN);
  GradientBlock both = block();
  both.output = output.data();
  both.output_row_stride = 55;
  run(Update::sgd, both, {.learning_rate = 0.5f});
  EXPECT_EQ(bits_of(packed(weight)), bits_of(packed(without)));
  for (std::size_t n = 0; n < plain.size(); ++n) {
    EXPECT_EQ(output[n / kColumns * 55 + n % kColumns], plain[n]) << n;
    EXPECT_EQ(weight[place(n)], std::fma(0.5f, plain[n], start[n])) << n;
  }
  EXPECT_TRUE(std::isnan(output[kColumns]));
}

INSTANTIATE_TEST_SUITE_P(Noise, CpuGradientUpdate,
                         testing::Values("philox:uniform8:7", "philox:uniform:7",
                                         "philox:rademacher:7", "triton"));

TEST(CpuGradientUpdateBits, AreTheSameForAnyNumberOfThreads) {
  const Population population(40, false);
  const std::vector<float> start = tests::random_values(3000, 3);
  std::vector<std::vector<std::uint32_t>> seen;
  for (const int threads : {1, 2, 5}) {
    std::vector<float> weight = start, first(3000, 0.5f), second(3000, 0.25f);
    const GradientBlock block{.offset = 5,
                              .rows = 3,
                              .columns = 1000,
                              .weight = weight.data(),
                              .first_moment = first.data(),
                              .second_moment = second.data()};
    GradientArguments arguments = population.arguments({&block, 1});
    arguments.update = {.learning_rate = 0.1f, .step = 3};
    tests::run_gradient({.update = Update::adam}, arguments, threads);
    weight.insert(weight.end(), first.begin(), first.end());
    weight.insert(weight.end(), second.begin(), second.end());
    seen.push_back(bits_of(weight));
  }
  EXPECT_EQ(seen[1], seen[0]);
  EXPECT_EQ(seen[2], seen[0]);
}

}  // namespace
}  // namespace vnjit
