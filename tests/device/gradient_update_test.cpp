#include "gradient_case.hpp"
#include "noise_param.hpp"

// Parameters that step along their gradient: weights and moments in place.

namespace vnjit::tests {
namespace {

class GradientUpdate : public GradientOnGpu, public testing::WithParamInterface<NoiseSpec> {
 protected:
  GradientCase case_of(Update update, std::vector<BlockShape> blocks, std::int64_t pop) {
    GradientCase made =
        GradientCase::of({.noise = GetParam(), .update = update}, std::move(blocks), pop);
    made.update = {.learning_rate = 0.05f, .beta1 = 0.8f, .beta2 = 0.99f, .epsilon = 1e-3f};
    return made;
  }

  /// Of a few steps, against the CPU: the same bits where sums are integers, else to a millionth.
  void expect_steps_of_the_cpu(const GradientCase& subject, int steps = 3) {
    const auto found = run_case(runtime, device, subject, steps);
    const auto expected = on_cpu(subject, steps);
    if (has_integer_sums(GetParam())) return expect_same_bits(found, expected);
    expect_near("output", subject, found, expected, &BlockResult::output);
    expect_near("weight", subject, found, expected, &BlockResult::weight);
    expect_near("first moment", subject, found, expected, &BlockResult::first_moment);
    // Squares have twice the relative error.
    expect_near("second moment", subject, found, expected, &BlockResult::second_moment, 2e-6);
  }

 private:
  /// Over all blocks: the gradient of a single parameter may be a small difference.
  static void expect_near(const char* what, const GradientCase& subject,
                          const std::vector<BlockResult>& found,
                          const std::vector<BlockResult>& expected,
                          std::vector<float> BlockResult::*of, double bound = 1e-6) {
    ASSERT_EQ(found.size(), expected.size()) << what;
    std::vector<float> values;
    std::vector<double> reference;
    for (std::size_t n = 0; n < found.size(); ++n) {
      ASSERT_EQ((found[n].*of).size(), (expected[n].*of).size()) << what;
      if ((found[n].*of).empty()) continue;
      const std::vector<float> here = packed(found[n].*of, subject.blocks[n]);
      const std::vector<float> there = packed(expected[n].*of, subject.blocks[n]);
      values.insert(values.end(), here.begin(), here.end());
      reference.insert(reference.end(), there.begin(), there.end());
    }
    if (values.empty()) return;
    EXPECT_LE(relative_error(values, reference), bound) << what;
  }
};

INSTANTIATE_TEST_SUITE_P(Of, GradientUpdate, testing::ValuesIn(every_noise()), noise_name);

constexpr Update kUpdates[] = {Update::sgd, Update::adam};

TEST_P(GradientUpdate, StepsLikeTheCpu) {
  const std::vector<BlockShape> blocks = {
      {.offset = 5, .rows = 7, .columns = 100, .noise_padding = 28, .padding = 3},
      {.offset = 3000, .columns = 513},
      {.offset = 9000, .rows = 5, .columns = 40, .noise_padding = 1000, .padding = 1},
      {.offset = 20'000, .rows = 6, .columns = 50}};
  for (const Update update : kUpdates) {
    for (const bool output : {false, true}) {
      GradientCase subject = case_of(update, blocks, 50);
      subject.output = output;
      SCOPED_TRACE(testing::Message() << to_string(update) << " output " << output);
      expect_steps_of_the_cpu(subject);
    }
  }
}

// However many thread blocks sum, and whichever is the last: a parameter steps once a run.
TEST_P(GradientUpdate, StepsOnceInEveryRun) {
  for (const Update update : kUpdates) {
    for (const std::int64_t pop : {8, 600, 20'000}) {
      const GradientCase subject = case_of(update, {{.offset = 9, .columns = 70}}, pop);
      SCOPED_TRACE(testing::Message() << to_string(update) << " pop " << pop);
      expect_steps_of_the_cpu(subject);
    }
  }
}

// A launch takes 55 blocks of sgd and 45 of adam.
TEST_P(GradientUpdate, TakesListsOfAnyLength) {
  for (const Update update : kUpdates) {
    for (const int count : {44, 45, 46, 55, 56, 120}) {
      std::vector<BlockShape> blocks;
      for (int n = 0; n < count; ++n) {
        blocks.push_back({.offset = 700 * n, .rows = n % 3, .columns = n * 37 % 50 + 1});
      }
      SCOPED_TRACE(testing::Message() << to_string(update) << " of " << count);
      expect_steps_of_the_cpu(case_of(update, blocks, 10), 2);
    }
  }
}

TEST_P(GradientUpdate, GoesDownhillWhereTheLearningRateIsNegative) {
  for (const Update update : kUpdates) {
    GradientCase subject = case_of(update, {{.columns = 100}}, 30);
    subject.update.learning_rate = -0.05f;
    expect_steps_of_the_cpu(subject);
  }
}

}  // namespace
}  // namespace vnjit::tests
