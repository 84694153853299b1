#include <gtest/gtest.h>

#include <limits>

#include "cpu_reference.hpp"
#include "vnjit/runtime/check_arguments.hpp"

namespace vnjit {
namespace {

using tests::refusal_of;

// Never read: where they point is all that is checked.
template <typename T>
T* at(std::uintptr_t address) {
  return reinterpret_cast<T*>(address);
}

/// A block of 2 x 3 that has all buffers.
GradientBlock full() {
  return {.rows = 2,
          .columns = 3,
          .output = at<float>(256),
          .weight = at<float>(512),
          .first_moment = at<float>(768),
          .second_moment = at<float>(1024)};
}

/// With blocks[0] empty and blocks[1] full() after `change`.
template <typename Change>
std::string refusal(Update update, const Change& change, const UpdateStep& step = {}) {
  GradientBlock blocks[] = {{.rows = 0, .columns = 9}, full()};
  change(blocks[1]);
  return refusal_of([&] {
    checked(Gradient{.update = update}, GradientArguments{.fitness = at<float>(2048),
                                                          .seeds = at<std::int64_t>(4096),
                                                          .sigma = 1.0f,
                                                          .pop = 2,
                                                          .update = step,
                                                          .blocks = blocks});
  });
}

void only_output(GradientBlock& block) {
  block.weight = block.first_moment = block.second_moment = nullptr;
}

void without_moments(GradientBlock& block) { block.first_moment = block.second_moment = nullptr; }

TEST(CheckUpdate, TakesTheBuffersThatTheUpdateHas) {
  EXPECT_EQ(refusal(Update::none, only_output), "");
  EXPECT_EQ(refusal(Update::sgd, without_moments), "");
  EXPECT_EQ(refusal(Update::adam, [](auto&) {}), "");
}

TEST(CheckUpdate, NeedsTheOutputOnlyWithoutAnUpdate) {
  EXPECT_EQ(refusal(Update::sgd,
                    [](auto& block) {
                      without_moments(block);
                      block.output = nullptr;
                    }),
            "");
  EXPECT_EQ(refusal(Update::adam, [](auto& block) { block.output = nullptr; }), "");
  EXPECT_EQ(refusal(Update::none,
                    [](auto& block) {
                      only_output(block);
                      block.output = nullptr;
                    }),
            "blocks[1].output is null; allowed only when rows or columns is 0");
}

TEST(CheckUpdate, RefusesMissingBuffers) {
  EXPECT_EQ(refusal(Update::sgd, only_output),
            "blocks[1].weight is null; allowed only when rows or columns is 0");
  EXPECT_EQ(refusal(Update::adam, [](auto& block) { block.weight = nullptr; }),
            "blocks[1].weight is null; allowed only when rows or columns is 0");
  EXPECT_EQ(refusal(Update::adam, [](auto& block) { block.first_moment = nullptr; }),
            "blocks[1].first_moment is null; allowed only when rows or columns is 0");
  EXPECT_EQ(refusal(Update::adam, [](auto& block) { block.second_moment = nullptr; }),
            "blocks[1].second_moment is null; allowed only when rows or columns is 0");
  EXPECT_EQ(refusal(Update::adam, [](auto& block) { block = {.rows = 2, .columns = 0}; }), "");
}

TEST(CheckUpdate, RefusesBuffersWithoutAUse) {
  EXPECT_EQ(refusal(Update::none, without_moments),
            "blocks[1].weight is given; this plan's problem has no update: pass null");
  EXPECT_EQ(refusal(Update::none,
                    [](auto& block) {
                      only_output(block);
                      block.second_moment = at<float>(64);
                    }),
            "blocks[1].second_moment is given; this plan's problem has no update: pass null");
  EXPECT_EQ(refusal(Update::sgd, [](auto&) {}),
            "blocks[1].first_moment is given; this plan's problem has update sgd, which keeps no "
            "moments: pass null");
}

TEST(CheckUpdate, RefusesOneBufferForTwoPurposes) {
  EXPECT_EQ(refusal(Update::sgd,
                    [](auto& block) {
                      without_moments(block);
                      block.weight = block.output;
                    }),
            "blocks[1].output and blocks[1].weight overlap: 0x100 to 0x118 and 0x100 to 0x118; "
            "what a run "
            "writes needs memory of its own");
  EXPECT_EQ(
      refusal(Update::adam, [](auto& block) { block.second_moment = block.first_moment; }),
      "blocks[1].first_moment and blocks[1].second_moment overlap: 0x300 to 0x318 and 0x300 to "
      "0x318; what a run writes needs memory of its own");
  EXPECT_EQ(
      refusal(Update::adam, [](auto& block) { block.second_moment = block.weight; }),
      "blocks[1].weight and blocks[1].second_moment overlap: 0x200 to 0x218 and 0x200 to 0x218; "
      "what a run writes needs memory of its own");
  EXPECT_EQ(refusal(Update::adam,
                    [](auto& block) {
                      block.rows = 0;
                      block.output = block.weight;
                    }),
            "");
}

TEST(CheckUpdate, RefusesPointersOffTheirElementSize) {
  EXPECT_EQ(refusal(Update::adam, [](auto& block) { block.weight = at<float>(514); }),
            "blocks[1].weight is 0x202; it must be a multiple of its element size, 4");
  EXPECT_EQ(refusal(Update::adam, [](auto& block) { block.first_moment = at<float>(769); }),
            "blocks[1].first_moment is 0x301; it must be a multiple of its element size, 4");
  EXPECT_EQ(refusal(Update::adam, [](auto& block) { block.second_moment = at<float>(1027); }),
            "blocks[1].second_moment is 0x403; it must be a multiple of its element size, 4");
}

TEST(CheckUpdate, RefusesStridesOfWeightsBelowTheirRows) {
  EXPECT_EQ(refusal(Update::adam, [](auto& block) { block.weight_row_stride = 2; }),
            "blocks[1].weight_row_stride is 2; it must be at least columns = 3, or 0 for "
            "contiguous");
  EXPECT_EQ(refusal(Update::adam,
                    [](auto& block) {
                      block.weight_row_stride = std::numeric_limits<std::int64_t>::max();
                    }),
            "blocks[1].weight reaches 9223372036854775810 elements with these sizes and strides; "
            "2305843009213693951 of 4 bytes can be addressed");
  EXPECT_EQ(checked(full(), 0).weight_row_stride, 3);
  GradientBlock padded = full();
  padded.weight_row_stride = 5;
  EXPECT_EQ(checked(padded, 0).weight_row_stride, 5);
}

std::string step_refusal(Update update, const UpdateStep& step) {
  return refusal(update, update == Update::adam ? [](GradientBlock&) {} : without_moments, step);
}

TEST(CheckUpdate, RefusesNumbersThatAdamCannotTake) {
  const auto refused = [](const UpdateStep& step) { return step_refusal(Update::adam, step); };
  EXPECT_EQ(refused({.learning_rate = tests::kNaN}),
            "update.learning_rate is nan; it must be finite");
  EXPECT_EQ(refused({.beta1 = 1.0f}), "update.beta1 is 1; it must be at least 0 and below 1");
  EXPECT_EQ(refused({.beta1 = tests::kNaN}),
            "update.beta1 is nan; it must be at least 0 and below 1");
  EXPECT_EQ(refused({.beta2 = -0.5f}), "update.beta2 is -0.5; it must be at least 0 and below 1");
  EXPECT_EQ(refused({.epsilon = 0.0f}), "update.epsilon is 0; it must be finite and above 0");
  EXPECT_EQ(refused({.epsilon = tests::kInfinity}),
            "update.epsilon is inf; it must be finite and above 0");
  EXPECT_EQ(refused({.epsilon = tests::kNaN}),
            "update.epsilon is nan; it must be finite and above 0");
  EXPECT_EQ(refused({.step = 0}), "update.step is 0; steps are counted from 1");
  EXPECT_EQ(refused({.learning_rate = -1.0f, .beta1 = 0.0f, .beta2 = 0.0f}), "");
}

TEST(CheckUpdate, LooksAtNoNumberThatTheUpdateHasNoUseFor) {
  const UpdateStep bad{.beta1 = 2.0f, .beta2 = 2.0f, .epsilon = -1.0f, .step = 0};
  EXPECT_EQ(step_refusal(Update::sgd, bad), "");
  EXPECT_EQ(step_refusal(Update::sgd, {.learning_rate = -tests::kInfinity}),
            "update.learning_rate is -inf; it must be finite");
  EXPECT_EQ(refusal(Update::none, only_output, {.learning_rate = tests::kNaN}), "");
}

}  // namespace
}  // namespace vnjit
