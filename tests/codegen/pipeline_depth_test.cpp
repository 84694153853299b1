#include "vnjit/codegen/pipeline_depth.hpp"

#include <gtest/gtest.h>

namespace vnjit {
namespace {

TEST(ChooseNumStages, CountsTheStagesThatFit) {
  EXPECT_EQ(choose_num_stages(100'000, 33'000), 3);
  EXPECT_EQ(choose_num_stages(99'000, 33'000), 3);
  EXPECT_EQ(choose_num_stages(98'999, 33'000), 2);
  EXPECT_EQ(choose_num_stages(66'000, 33'000, 2), 2);
}

TEST(ChooseNumStages, IsAtMostTheMaximum) {
  EXPECT_EQ(choose_num_stages(232'448, 1024), 4);
  EXPECT_EQ(choose_num_stages(232'448, 1024, 7), 7);
  EXPECT_EQ(choose_num_stages(232'448, 1024, 1), 1);
  EXPECT_EQ(choose_num_stages(std::int64_t{1} << 62, 1, 5), 5);
}

TEST(ChooseNumStages, IsOneWhenNothingFits) {
  EXPECT_EQ(choose_num_stages(32'767, 32'768), 1);
  EXPECT_EQ(choose_num_stages(0, 32'768), 1);
  EXPECT_EQ(choose_num_stages(-5'000, 100), 1);
}

TEST(ChooseNumStages, IsTheMaximumWhereAStageTakesNothing) {
  EXPECT_EQ(choose_num_stages(49'152, 0), 4);
  EXPECT_EQ(choose_num_stages(49'152, -1), 4);
  EXPECT_EQ(choose_num_stages(49'152, 0, 2), 2);
  EXPECT_EQ(choose_num_stages(0, 0, 3), 3);
}

// The seed module's own tiles: forward (BLOCK_BATCH·BLOCK_IN + BLOCK_OUT·BLOCK_IN +
// BLOCK_BATCH·BLOCK_OUT)·4 bytes, gradient BLOCK_OUT·BLOCK_IN·4.
TEST(ChooseNumStages, GivesTheSeedModulesTilesItsDepths) {
  constexpr std::int64_t kForward = (64 * 128 + 64 * 128 + 64 * 64) * 4;
  EXPECT_EQ(choose_num_stages(48 * 1024, kForward), 1);
  EXPECT_EQ(choose_num_stages(99 * 1024, kForward), 1);
  EXPECT_EQ(choose_num_stages(163 * 1024, kForward), 2);
  EXPECT_EQ(choose_num_stages(227 * 1024, kForward), 2);
  constexpr std::int64_t kGradient = 64 * 4096 * 4;
  EXPECT_EQ(choose_num_stages(227 * 1024, kGradient), 1);
  EXPECT_EQ(choose_num_stages(227 * 1024, 1024 * 4), 4);
}

}  // namespace
}  // namespace vnjit
