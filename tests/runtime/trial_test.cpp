#include "vnjit/runtime/tune/trial.hpp"

#include <gmock/gmock.h>

#include <cmath>
#include <functional>
#include <limits>

#include "vnjit/codegen/error.hpp"
#include "vnjit/runtime/runtime.hpp"

namespace vnjit {
namespace {

using testing::HasSubstr;
using testing::Property;
using testing::Throws;
using testing::ThrowsMessage;

/// A right plan whose outputs are then changed.
class ChangedPlan final : public Plan {
 public:
  using Change = std::function<void(float* data, std::int64_t count)>;

  ChangedPlan(std::shared_ptr<const Plan> right, Change change)
      : right_(std::move(right)), change_(std::move(change)) {}

  const Problem& problem() const override { return right_->problem(); }
  const Device& device() const override { return right_->device(); }
  std::size_t workspace_bytes(const PerturbedLinearArguments&) const override { return 0; }
  std::size_t workspace_bytes(const GradientArguments&) const override { return 0; }
  std::size_t workspace_bytes(const ReduceMetricArguments&) const override { return 0; }
  void run(const PerturbedLinearArguments& a, StreamHandle, Workspace) const override {
    right_->run(a);
    change_(static_cast<float*>(a.y), a.pop * a.batch * a.out);
  }
  void run(const GradientArguments& a, StreamHandle, Workspace) const override {
    right_->run(a);
    const GradientBlock& block = a.blocks.front();
    change_(block.weight ? block.weight : block.output, block.rows * block.columns);
  }
  void run(const ReduceMetricArguments& a, StreamHandle, Workspace) const override {
    right_->run(a);
    change_(a.metric, a.pop);
  }
  std::string explain() const override { return {}; }

 private:
  std::shared_ptr<const Plan> right_;
  Change change_;
};

class TrialTest : public testing::Test {
 protected:
  double error(const Problem& problem) {
    Trial trial(problem, cpu);
    return trial.check(*runtime.plan(problem, cpu), trial_tolerance(problem, false));
  }

  /// What check() says of a plan whose outputs `change` has changed.
  double error(const Problem& problem, const ChangedPlan::Change& change) {
    Trial trial(problem, cpu);
    return trial.check(ChangedPlan(runtime.plan(problem, cpu), change),
                       trial_tolerance(problem, false));
  }

  Runtime runtime{Options{}};
  std::shared_ptr<Device> cpu = runtime.cpu();
  PerturbedLinear linear{.pop = 6, .batch = 5, .in = 33, .out = 17};
  Gradient gradient{.pop = 30, .rows = 12, .columns = 13};
  ReduceMetric reduce{.pop = 9, .params = 5000};
};

TEST_F(TrialTest, RightPlansAreWithinTheirTolerance) {
  for (const char* noise : {"philox:uniform8", "philox:normal", "philox:rademacher", "triton"}) {
    for (const bool antithetic : {false, true}) {
      NoiseSpec spec = parse_noise_spec(noise);
      spec.antithetic = antithetic;
      linear.noise = gradient.noise = reduce.noise = spec;
      reduce.pop = 8;
      EXPECT_LE(error(linear), 2e-6) << noise;
      EXPECT_LE(error(gradient), 1e-6) << noise;
      EXPECT_LE(error(reduce), 1e-6) << noise;
    }
  }
}

TEST_F(TrialTest, EveryFormOfAForwardPassIsChecked) {
  for (const DataType type : {DataType::f32, DataType::f16, DataType::bf16}) {
    for (const InputLayout layout : {InputLayout::shared, InputLayout::individual}) {
      for (const bool bias : {false, true}) {
        linear.input = linear.output = type;
        linear.layout = layout;
        linear.bias = bias;
        EXPECT_LE(error(linear), trial_tolerance(linear, false)) << command_flags(linear);
      }
    }
  }
}

TEST_F(TrialTest, UpdatesAndDivisorsAreChecked) {
  for (const Update update : {Update::none, Update::sgd, Update::adam}) {
    for (const Normalize normalize : {Normalize::seed, Normalize::unbiased}) {
      gradient.update = update;
      gradient.normalize = normalize;
      EXPECT_LE(error(gradient), 1e-6) << command_flags(gradient);
    }
  }
}

TEST_F(TrialTest, AnElementThatIsNotWrittenIsFound) {
  const auto erase_one = [](float* data, std::int64_t count) {
    data[count / 3] = std::numeric_limits<float>::quiet_NaN();
  };
  EXPECT_THAT([&] { error(linear, erase_one); },
              ThrowsMessage<Error>("1 of 510 elements of the result are NaN or were not written"));
  EXPECT_THAT([&] { error(gradient, erase_one); },
              ThrowsMessage<Error>("1 of 156 elements of the result are NaN or were not written"));
  EXPECT_THAT([&] { error(reduce, erase_one); },
              ThrowsMessage<Error>("1 of 9 elements of the result are NaN or were not written"));
}

TEST_F(TrialTest, AWrongResultIsRefusedWithItsError) {
  const auto scale = [](float* data, std::int64_t count) {
    for (std::int64_t n = 0; n < count; ++n) data[n] *= 1.001f;
  };
  for (const Problem& problem : {Problem(linear), Problem(gradient), Problem(reduce)}) {
    EXPECT_THAT(
        [&] { error(problem, scale); },
        ThrowsMessage<Error>(HasSubstr("the relative error of the result is 0.001, beyond ")))
        << command_flags(problem);
  }
}

TEST_F(TrialTest, ExactSumsMustHaveTheBitsOfTheFirst) {
  Trial trial(gradient, cpu);
  const auto right = runtime.plan(gradient, cpu);
  const ChangedPlan other(right, [](float* data, std::int64_t) {
    *data = std::nextafter(*data, std::numeric_limits<float>::infinity());
  });
  trial.check(*right, 1e-6);
  EXPECT_THAT([&] { trial.check(other, 1e-6); },
              ThrowsMessage<Error>(
                  "the result has other bits than the plan that was checked first, and must not"));
  gradient.noise = parse_noise_spec("philox:normal");
  Trial rounded(gradient, cpu);
  rounded.check(*runtime.plan(gradient, cpu), 1e-6);
  EXPECT_LE(rounded.check(
                ChangedPlan(runtime.plan(gradient, cpu),
                            [](float* data, std::int64_t) { *data = std::nextafter(*data, 1.0f); }),
                1e-6),
            1e-6);
}

TEST_F(TrialTest, AWrongUpdateIsFound) {
  gradient.update = Update::sgd;
  EXPECT_THAT([&] { error(gradient, [](float* weight, std::int64_t) { *weight += 0.001f; }); },
              ThrowsMessage<Error>(HasSubstr("weight 0 is ")));
}

TEST_F(TrialTest, EmptyResultsAreRefused) {
  linear.batch = 0;
  EXPECT_THAT(
      [&] { Trial(linear, cpu); },
      ThrowsMessage<InvalidArgument>("the result of this problem has shape (6, 0, 17): there "
                                     "is nothing to compute; give sizes of at least 1"));
}

TEST_F(TrialTest, TimesAreOfWholeRuns) {
  Trial trial(reduce, cpu);
  EXPECT_GT(trial.time(*runtime.plan(reduce, cpu), 0.01), 0.0);
}

}  // namespace
}  // namespace vnjit
