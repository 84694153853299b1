#include "vnjit/codegen/cost_model.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "examples.hpp"

namespace vnjit {
namespace {

const DeviceLimits kSm90 = DeviceLimits::preset("sm_90");

constexpr std::int64_t PerturbedLinear::*kSizes[] = {&PerturbedLinear::pop, &PerturbedLinear::batch,
                                                     &PerturbedLinear::in, &PerturbedLinear::out};

TEST(CostModel, IsFiniteAndPositiveForEveryCandidate) {
  for (const char* arch : {"sm_75", "sm_80", "sm_90", "sm_120"}) {
    const DeviceLimits limits = DeviceLimits::preset(arch);
    for (const PerturbedLinear& problem : tests::every_tensor_problem()) {
      for (const Config& config : candidates(problem, limits)) {
        const double cycles = predicted_cycles(config, problem, limits);
        ASSERT_TRUE(std::isfinite(cycles) && cycles > 0) << to_string(config) << ' ' << cycles;
        ASSERT_GT(predicted_seconds(config, problem, limits), 0) << to_string(config);
      }
    }
  }
}

TEST(CostModel, IsFiniteForEverySize) {
  constexpr std::int64_t kHuge = std::numeric_limits<std::int64_t>::max() / 64 * 64;
  for (PerturbedLinear problem : tests::every_tensor_input()) {
    for (const auto size : kSizes) {
      for (const std::int64_t value : {std::int64_t{0}, std::int64_t{64}, kHuge}) {
        PerturbedLinear other = problem;
        other.*size = value;
        for (const Config& config : candidates(other, kSm90)) {
          const double seconds = predicted_seconds(config, other, kSm90);
          ASSERT_TRUE(std::isfinite(seconds) && seconds > 0) << to_string(config);
        }
      }
    }
  }
}

// Nothing is predicted of one size that is not predicted of those around it.
TEST(CostModel, NeverFallsAsASizeGrows) {
  const PerturbedLinear start{
      .input = DataType::f16, .pop = 64, .batch = 64, .in = 512, .out = 256};
  for (const InputLayout layout : {InputLayout::shared, InputLayout::individual}) {
    PerturbedLinear problem = start;
    problem.layout = layout;
    for (const Config& config : candidates(problem, kSm90)) {
      for (const auto size : kSizes) {
        PerturbedLinear larger = problem;
        double before = 0;
        for (int step = 0; step < 24; ++step) {
          const double cycles = predicted_cycles(config, larger, kSm90);
          ASSERT_GE(cycles, before) << to_string(config) << ' ' << larger.pop << ' ' << larger.batch
                                    << ' ' << larger.in << ' ' << larger.out;
          before = cycles;
          larger.*size += 64;  // keeps the class of access
        }
      }
    }
  }
}

TEST(CostModel, OfTheChoiceGrowsWithEachSize) {
  for (const PerturbedLinear& problem : tests::every_tensor_problem()) {
    for (const auto size : kSizes) {
      PerturbedLinear larger = problem;
      larger.*size *= 8;
      const auto best = [](const PerturbedLinear& of) {
        return predicted_seconds(choose_config(of, kSm90), of, kSm90);
      };
      EXPECT_GT(best(larger), 2 * best(problem)) << command_flags(problem);
    }
  }
}

TEST(CostModel, CountsTheStartOfEveryKernel) {
  const auto starts = [](const Config& config, const PerturbedLinear& problem) {
    const double running = predicted_cycles(config, problem, kSm90) / (kSm90.clock_mhz * 1e6);
    return predicted_seconds(config, problem, kSm90) - running;
  };
  const Config tensor{.family = Family::mma_sync, .warps = 4};
  const double one = starts({}, PerturbedLinear{});
  EXPECT_GT(one, 0);
  PerturbedLinear own{.input = DataType::f16, .layout = InputLayout::individual};
  EXPECT_NEAR(starts(tensor, own), one, one / 100);
  EXPECT_NEAR(starts(tensor, PerturbedLinear{.input = DataType::f16}), 2 * one, one / 100);
  EXPECT_NEAR(starts(tensor, PerturbedLinear{.precision = Precision::f16}), 4 * one, one / 100);
}

TEST(CostModel, SecondsFollowTheClock) {
  DeviceLimits slow = kSm90;
  slow.clock_mhz /= 3;
  const PerturbedLinear problem{.input = DataType::f16};
  const Config config = choose_config(problem, kSm90);
  EXPECT_EQ(predicted_cycles(config, problem, slow), predicted_cycles(config, problem, kSm90));
  EXPECT_GT(predicted_seconds(config, problem, slow),
            2 * predicted_seconds(config, problem, kSm90));
}

TEST(CostModel, OneProductOfAnAntitheticPairIsCheaperThanTwo) {
  PerturbedLinear pairs{.input = DataType::f16};
  const Config config = choose_config(pairs, kSm90);
  const double single = predicted_cycles(config, pairs, kSm90);
  pairs.noise.antithetic = true;
  EXPECT_LT(predicted_cycles(config, pairs, kSm90), single);
}

}  // namespace
}  // namespace vnjit
