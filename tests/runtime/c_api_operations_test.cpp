#include <gtest/gtest.h>

#include "c_api_operation.hpp"
#include "cpu_reference.hpp"
#include "vnjit/runtime/cpu/floats.hpp"

// Every operation on the CPU, through the C API and through the C++ API: the same bits. Sizes and
// strides all differ, so that none can stand in for another.

namespace vnjit {
namespace {

using tests::bits_of;
using tests::kCppNoise;
using tests::kNoise;
using tests::kSigma;
using tests::random_seeds;
using tests::random_values;

using CApiOperation = tests::CApiOperation;

TEST_F(CApiOperation, PerturbedLinearWithEveryStrideGivesTheSameBits) {
  const std::int64_t pop = 4, batch = 3, in = 33, out = 7;
  const auto x = random_values(pop * 400, 1);
  const auto weight = random_values(out * 37, 2);
  const auto bias = random_values(out, 3);
  const auto seeds = random_seeds(pop / 2, 4);
  std::vector<float> y(pop * 100, tests::kNaN);
  std::vector<float> expected = y;

  vnjit_perturbed_linear problem;
  vnjit_perturbed_linear_init(&problem);
  problem.base.noise = kNoise;
  problem.layout = VNJIT_LAYOUT_INDIVIDUAL;
  vnjit_perturbed_linear_arguments arguments;
  vnjit_perturbed_linear_arguments_init(&arguments);
  arguments.base.sigma = kSigma;
  arguments.base.seeds = seeds.data();
  arguments.base.pop = pop;
  arguments.x = x.data();
  arguments.weight = weight.data();
  arguments.bias = bias.data();
  arguments.y = y.data();
  arguments.offset = 1234;
  arguments.batch = batch;
  arguments.in = in;
  arguments.out = out;
  arguments.x_row_stride = 35;
  arguments.x_individual_stride = 400;
  arguments.weight_row_stride = 36;
  arguments.y_row_stride = 11;
  arguments.y_individual_stride = 90;
  arguments.noise_row_stride = 64;
  run(problem, arguments);

  run_cpp(PerturbedLinear{.noise = kCppNoise, .layout = InputLayout::individual},
          PerturbedLinearArguments{.x = x.data(),
                                   .weight = weight.data(),
                                   .bias = bias.data(),
                                   .seeds = seeds.data(),
                                   .y = expected.data(),
                                   .sigma = kSigma,
                                   .offset = 1234,
                                   .pop = pop,
                                   .batch = batch,
                                   .in = in,
                                   .out = out,
                                   .x_row_stride = 35,
                                   .x_individual_stride = 400,
                                   .weight_row_stride = 36,
                                   .y_row_stride = 11,
                                   .y_individual_stride = 90,
                                   .noise_row_stride = 64});
  EXPECT_EQ(bits_of(y), bits_of(expected));
  EXPECT_NE(y[0], y[90]);
}

TEST_F(CApiOperation, PerturbedLinearOfBf16WithoutBiasReadsSigmaFromItsPointer) {
  const std::int64_t pop = 3, batch = 2, in = 16, out = 5;
  const auto x = tests::encoded(DataType::bf16, random_values(batch * in, 1));
  const auto weight = tests::encoded(DataType::bf16, random_values(out * in, 2));
  const auto seeds = random_seeds(pop, 4);
  std::vector<float> y(pop * batch * out, tests::kNaN);
  std::vector<float> expected = y;

  vnjit_perturbed_linear problem;
  vnjit_perturbed_linear_init(&problem);
  problem.input = VNJIT_TYPE_BF16;
  problem.bias = 0;
  vnjit_perturbed_linear_arguments arguments;
  vnjit_perturbed_linear_arguments_init(&arguments);
  arguments.base.sigma = 100;
  arguments.base.sigma_pointer = &kSigma;
  arguments.base.seeds = seeds.data();
  arguments.base.pop = pop;
  arguments.x = x.data();
  arguments.weight = weight.data();
  arguments.y = y.data();
  arguments.batch = batch;
  arguments.in = in;
  arguments.out = out;
  run(problem, arguments);

  run_cpp(PerturbedLinear{.input = DataType::bf16, .bias = false},
          PerturbedLinearArguments{.x = x.data(),
                                   .weight = weight.data(),
                                   .seeds = seeds.data(),
                                   .y = expected.data(),
                                   .sigma = kSigma,
                                   .pop = pop,
                                   .batch = batch,
                                   .in = in,
                                   .out = out});
  EXPECT_EQ(bits_of(y), bits_of(expected));
}

TEST_F(CApiOperation, PerturbedLinearWritesOutputsOf16Bits) {
  const std::int64_t pop = 2, batch = 3, in = 16, out = 5;
  const auto x = tests::encoded(DataType::f16, random_values(batch * in, 1));
  const auto weight = tests::encoded(DataType::f16, random_values(out * in, 2));
  const auto seeds = random_seeds(pop, 4);
  std::vector<std::uint16_t> y(pop * batch * out + 1, 0xFFFF);

  vnjit_perturbed_linear problem;
  vnjit_perturbed_linear_init(&problem);
  problem.input = problem.output = VNJIT_TYPE_F16;
  problem.precision = VNJIT_PRECISION_F32;
  problem.bias = 0;
  vnjit_perturbed_linear_arguments arguments;
  vnjit_perturbed_linear_arguments_init(&arguments);
  arguments.base.sigma = kSigma;
  arguments.base.seeds = seeds.data();
  arguments.base.pop = pop;
  arguments.x = x.data();
  arguments.weight = weight.data();
  arguments.y = y.data();
  arguments.batch = batch;
  arguments.in = in;
  arguments.out = out;
  run(problem, arguments);

  std::vector<float> sums(pop * batch * out, tests::kNaN);
  run_cpp(PerturbedLinear{.input = DataType::f16, .bias = false},
          PerturbedLinearArguments{.x = x.data(),
                                   .weight = weight.data(),
                                   .seeds = seeds.data(),
                                   .y = sums.data(),
                                   .sigma = kSigma,
                                   .pop = pop,
                                   .batch = batch,
                                   .in = in,
                                   .out = out});
  std::vector<std::uint16_t> expected(sums.size() + 1, 0xFFFF);
  cpu::store_floats(DataType::f16, sums.data(), pop * batch * out, expected.data(), 0);
  EXPECT_EQ(y, expected);
}

TEST_F(CApiOperation, APrecisionOrOutputThatTheInputDoesNotTakeIsRefused) {
  vnjit_perturbed_linear problem;
  vnjit_perturbed_linear_init(&problem);
  const auto refused = [&] {
    vnjit_plan* plan = nullptr;
    return refusal(
        vnjit_plan_create(runtime.get(), cpu.get(), &problem.base, nullptr, &plan, &error));
  };
  problem.output = VNJIT_TYPE_F16;
  EXPECT_EQ(refused(),
            "VNJIT_ERROR_INVALID_ARGUMENT: output is f16; f32 inputs have outputs of f32");
  problem.input = VNJIT_TYPE_F16;
  problem.precision = VNJIT_PRECISION_BF16;
  EXPECT_EQ(
      refused(),
      "VNJIT_ERROR_INVALID_ARGUMENT: precision is bf16; f16 inputs take input, f16, f32 or int8");
}

TEST_F(CApiOperation, ReduceMetricGivesTheSameBits) {
  const std::int64_t pop = 4, params = 1000;
  const auto center = tests::encoded(DataType::f16, random_values(params, 1));
  const auto seeds = random_seeds(pop / 2, 4);
  std::vector<float> metric(pop, tests::kNaN);
  std::vector<float> expected = metric;

  vnjit_reduce_metric problem;
  vnjit_reduce_metric_init(&problem);
  problem.base.noise = kNoise;
  problem.input = VNJIT_TYPE_F16;
  vnjit_reduce_metric_arguments arguments;
  vnjit_reduce_metric_arguments_init(&arguments);
  arguments.base.sigma = kSigma;
  arguments.base.seeds = seeds.data();
  arguments.base.pop = pop;
  arguments.center = center.data();
  arguments.metric = metric.data();
  arguments.offset = 99;
  arguments.params = params;
  run(problem, arguments);

  run_cpp(ReduceMetric{.noise = kCppNoise, .input = DataType::f16},
          ReduceMetricArguments{.center = center.data(),
                                .seeds = seeds.data(),
                                .metric = expected.data(),
                                .sigma = kSigma,
                                .offset = 99,
                                .pop = pop,
                                .params = params});
  EXPECT_EQ(bits_of(metric), bits_of(expected));
  EXPECT_GT(metric[0], 0.0f);
}

}  // namespace
}  // namespace vnjit
