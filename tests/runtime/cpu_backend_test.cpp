#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "cpu_reference.hpp"
#include "vnjit/runtime/cpu/backend.hpp"
#include "vnjit/runtime/cpu/noise.hpp"

namespace vnjit {
namespace {

using testing::HasSubstr;
using tests::refusal_of;

const StreamHandle kSomeStream = reinterpret_cast<StreamHandle>(std::uintptr_t{16});

TEST(CpuDevice, IsNoGpuAndHasNoLimitsOfItsOwn) {
  const auto device = make_cpu_device(1);
  EXPECT_FALSE(device->is_gpu());
  EXPECT_EQ(device->ordinal(), -1);
  EXPECT_EQ(device->name(), "cpu");
  EXPECT_EQ(device->limits(), DeviceLimits{});
}

TEST(CpuDevice, AllocatesAlignedMemoryAndCopies) {
  const auto device = make_cpu_device(1);
  for (const std::size_t count : {1, 3, 1000}) {
    std::vector<float> host(count, 2.5f);
    const Buffer<float> buffer(device, host.data(), count);
    EXPECT_EQ(reinterpret_cast<std::uintptr_t>(buffer.data()) % 256, 0u);
    std::ranges::fill(host, 0.0f);
    buffer.copy_to(host.data());
    EXPECT_EQ(host, std::vector<float>(count, 2.5f));
  }
}

TEST(CpuDevice, TakesTheNullStreamOnly) {
  const auto device = make_cpu_device(1);
  EXPECT_EQ(device->create_stream(), nullptr);
  EXPECT_NO_THROW(device->synchronize());
  int value = 0;
  const std::string expected = "stream is not null; the CPU backend has no streams: pass null";
  EXPECT_EQ(refusal_of([&] { device->synchronize(kSomeStream); }), expected);
  EXPECT_EQ(refusal_of([&] { device->copy_in(&value, &value, 0, kSomeStream); }), expected);
  EXPECT_EQ(refusal_of([&] { device->copy_out(&value, &value, 0, kSomeStream); }), expected);
  const auto plan = make_cpu_plan(ReduceMetric{}, device);
  EXPECT_EQ(refusal_of([&] { plan->run(ReduceMetricArguments{}, kSomeStream); }), expected);
}

TEST(CpuDevice, RefusesANegativeNumberOfThreads) {
  EXPECT_EQ(refusal_of([] { make_cpu_device(-1); }),
            "the number of CPU threads is -1; use 1 to 1024, or 0 for one a core");
}

TEST(CpuPlan, RunsEachOperation) {
  const auto device = make_cpu_device(2);
  const std::int64_t seed = 11;
  const float one = 1.0f;
  const float zero = 0.0f;
  float noise = 0;
  fill_noise({}, seed, 5, 1, &noise);
  float result = tests::kNaN;

  PerturbedLinearArguments forward;
  forward.x = &one;
  forward.weight = &zero;
  forward.seeds = &seed;
  forward.y = &result;
  forward.sigma = 2.0f;
  forward.offset = 5;
  forward.pop = forward.batch = forward.in = forward.out = 1;
  make_cpu_plan(PerturbedLinear{.bias = false}, device)->run(forward);
  EXPECT_EQ(result, 2 * noise);

  const GradientBlock block{.offset = 5, .rows = 1, .columns = 1, .output = &result};
  GradientArguments gradient;
  gradient.fitness = &one;
  gradient.seeds = &seed;
  gradient.sigma = 0.5f;
  gradient.pop = 1;
  gradient.blocks = {&block, 1};
  make_cpu_plan(Gradient{}, device)->run(gradient);
  EXPECT_EQ(result, 2 * noise);

  ReduceMetricArguments metric;
  metric.center = &zero;
  metric.seeds = &seed;
  metric.metric = &result;
  metric.sigma = -4.0f;
  metric.offset = 5;
  metric.pop = metric.params = 1;
  make_cpu_plan(ReduceMetric{}, device)->run(metric);
  EXPECT_EQ(result, std::fabs(4 * noise));
}

TEST(CpuPlan, ReadsSigmaWhereItIsPointedToAndRefusesTheSameValues) {
  const auto plan = make_cpu_plan(ReduceMetric{}, make_cpu_device(1));
  const std::int64_t seed = 11;
  const float zero = 0.0f;
  float sigma = 3.0f;
  float result = tests::kNaN;
  float noise = 0;
  fill_noise({}, seed, 0, 1, &noise);
  ReduceMetricArguments arguments;
  arguments.center = &zero;
  arguments.seeds = &seed;
  arguments.metric = &result;
  arguments.sigma = &sigma;
  arguments.pop = arguments.params = 1;
  plan->run(arguments);
  EXPECT_EQ(result, std::fabs(3 * noise));
  sigma = tests::kNaN;
  EXPECT_EQ(refusal_of([&] { plan->run(arguments); }), "sigma is nan; it must be finite");
}

TEST(CpuPlan, RefusesArgumentsOfAnotherOperation) {
  const auto device = make_cpu_device(1);
  EXPECT_EQ(
      refusal_of([&] { make_cpu_plan(ReduceMetric{}, device)->run(PerturbedLinearArguments{}); }),
      "this plan is for reduce-metric, not for perturbed-linear arguments");
  EXPECT_EQ(refusal_of([&] { make_cpu_plan(PerturbedLinear{}, device)->run(GradientArguments{}); }),
            "this plan is for perturbed-linear, not for gradient arguments");
  EXPECT_EQ(refusal_of([&] { make_cpu_plan(Gradient{}, device)->run(ReduceMetricArguments{}); }),
            "this plan is for weight-gradient, not for reduce-metric arguments");
}

TEST(CpuPlan, ChecksItsArgumentsBeforeItRuns) {
  const auto plan = make_cpu_plan(PerturbedLinear{}, make_cpu_device(1));
  PerturbedLinearArguments arguments;
  arguments.batch = -1;
  EXPECT_EQ(refusal_of([&] { plan->run(arguments); }), "batch is -1; it must be at least 0");
}

TEST(CpuPlan, RefusesAProblemThatDoesNotValidateAndADeviceThatIsNoCpu) {
  const auto device = make_cpu_device(1);
  EXPECT_THAT(refusal_of([&] { make_cpu_plan(PerturbedLinear{.in = -3}, device); }),
              HasSubstr("in is -3"));
  EXPECT_EQ(refusal_of([] { make_cpu_plan(Gradient{}, nullptr); }),
            "device null is not the CPU; a CPU plan needs a device from make_cpu_device");
}

TEST(CpuPlan, NeedsNoWorkspaceAndExplainsItself) {
  const auto device = make_cpu_device(3);
  const auto plan = make_cpu_plan(ReduceMetric{.noise = {.antithetic = true}}, device);
  EXPECT_EQ(plan->workspace_bytes(PerturbedLinearArguments{}), 0u);
  EXPECT_EQ(plan->workspace_bytes(GradientArguments{}), 0u);
  EXPECT_EQ(plan->workspace_bytes(ReduceMetricArguments{}), 0u);
  EXPECT_EQ(&plan->device(), device.get());
  EXPECT_TRUE(std::holds_alternative<ReduceMetric>(plan->problem()));
  const std::string text = plan->explain();
  EXPECT_THAT(text, HasSubstr("device: cpu, 3 threads\n"));
  EXPECT_THAT(text, HasSubstr("problem: reduce-metric"));
  EXPECT_THAT(text, HasSubstr("noise: philox:uniform8:7, antithetic\n"));
  EXPECT_THAT(text, HasSubstr("kernels: none, host code is compiled ahead of time\n"));
}

TEST(CpuPlan, OutlivesTheHandleOfItsDevice) {
  auto device = make_cpu_device(2);
  const auto plan = make_cpu_plan(ReduceMetric{}, device);
  device.reset();
  EXPECT_EQ(plan->device().name(), "cpu");
  EXPECT_NO_THROW(plan->run(ReduceMetricArguments{}));
}

}  // namespace
}  // namespace vnjit
