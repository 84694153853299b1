#include <gtest/gtest.h>

#include <array>

#include "c_api_fixture.hpp"
#include "cpu_reference.hpp"
#include "vnjit/runtime/cpu/floats.hpp"
#include "vnjit/runtime/runtime.hpp"

// Every operation on the CPU, through the C API and through the C++ API: the same bits. Sizes and
// strides all differ, so that none can stand in for another.

namespace vnjit {
namespace {

using tests::bits_of;
using tests::random_seeds;
using tests::random_values;

constexpr vnjit_noise kNoise{VNJIT_GENERATOR_PHILOX, VNJIT_DISTRIBUTION_UNIFORM, 10, 1};
constexpr NoiseSpec kCppNoise{Generator::philox, Distribution::uniform, 10, true};
constexpr float kSigma = -0.25f;

class CApiOperation : public tests::CApiTest {
 protected:
  template <typename Problem, typename Arguments>
  void run(const Problem& problem, const Arguments& arguments) {
    const tests::CPlan plan = plan_of(problem);
    EXPECT_EQ(vnjit_plan_run(plan.get(), &arguments.base, nullptr, nullptr, 0, &error), VNJIT_OK)
        << error.message;
  }

  template <typename Arguments>
  void run_cpp(const Problem& problem, const Arguments& arguments) {
    cpp_runtime.plan(problem, cpp_runtime.cpu())->run(arguments);
  }

  Runtime cpp_runtime{Options{}};
};

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

/// A block of a later version of the C API.
struct LaterBlock {
  vnjit_gradient_block known;
  std::int64_t appended;
};

class CApiGradient : public CApiOperation {
 protected:
  CApiGradient() {
    vnjit_gradient_init(&problem);
    problem.base.noise = kNoise;
    problem.normalize = VNJIT_NORMALIZE_UNBIASED;
    vnjit_gradient_arguments_init(&arguments);
    arguments.base.sigma = kSigma;
    arguments.base.seeds = seeds.data();
    arguments.base.pop = 6;
    arguments.fitness = fitness.data();
    arguments.pop_size = 10;
    std::vector<GradientBlock> cpp_blocks = {
        {.offset = 77,
         .rows = 3,
         .columns = 5,
         .output = expected.data(),
         .output_row_stride = 8,
         .noise_row_stride = 64},
        {.offset = 1000, .rows = 1, .columns = 9, .output = expected.data() + 30}};
    run_cpp(Gradient{.noise = kCppNoise, .normalize = Normalize::unbiased},
            GradientArguments{.fitness = fitness.data(),
                              .seeds = seeds.data(),
                              .sigma = kSigma,
                              .pop = 6,
                              .pop_size = 10,
                              .blocks = cpp_blocks});
  }

  void set(vnjit_gradient_block& first, vnjit_gradient_block& second) {
    vnjit_gradient_block_init(&first);
    first.offset = 77;
    first.rows = 3;
    first.columns = 5;
    first.output = output.data();
    first.output_row_stride = 8;
    first.noise_row_stride = 64;
    vnjit_gradient_block_init(&second);
    second.offset = 1000;
    second.rows = 1;
    second.columns = 9;
    second.output = output.data() + 30;
  }

  std::vector<std::int64_t> seeds = random_seeds(3, 4);
  std::vector<float> fitness = random_values(6, 5);
  std::vector<float> output = std::vector<float>(40, tests::kNaN);
  std::vector<float> expected = output;
  vnjit_gradient problem;
  vnjit_gradient_arguments arguments;
};

TEST_F(CApiGradient, OfSeveralBlocksGivesTheSameBits) {
  std::array<vnjit_gradient_block, 2> blocks;
  set(blocks[0], blocks[1]);
  arguments.blocks = blocks.data();
  arguments.block_count = blocks.size();
  run(problem, arguments);
  EXPECT_EQ(bits_of(output), bits_of(expected));
  EXPECT_NE(output[30], 0.0f);
}

TEST_F(CApiGradient, TakesBlocksOfALaterVersion) {
  std::array<LaterBlock, 2> blocks{};
  set(blocks[0].known, blocks[1].known);
  for (LaterBlock& block : blocks) block.known.struct_size = sizeof(LaterBlock);
  arguments.blocks = &blocks[0].known;
  arguments.block_count = blocks.size();
  run(problem, arguments);
  EXPECT_EQ(bits_of(output), bits_of(expected));
}

TEST_F(CApiGradient, RefusesBlocksThatAreNoneOrNotInitialized) {
  const tests::CPlan plan = plan_of(problem);
  const auto refused = [&] {
    return refusal(vnjit_plan_run(plan.get(), &arguments.base, nullptr, nullptr, 0, &error));
  };
  arguments.block_count = 2;
  EXPECT_EQ(refused(), "VNJIT_ERROR_INVALID_ARGUMENT: blocks is null; it must be given");

  std::array<vnjit_gradient_block, 2> blocks;
  set(blocks[0], blocks[1]);
  arguments.blocks = blocks.data();
  blocks[1].struct_size = 64;
  EXPECT_EQ(refused(),
            "VNJIT_ERROR_INVALID_ARGUMENT: blocks[1].struct_size is 64; it must be 56, as that of "
            "blocks[0]");
  blocks[0].struct_size = 0;
  EXPECT_EQ(refused(),
            "VNJIT_ERROR_INVALID_ARGUMENT: vnjit_gradient_block.struct_size is 0; it must be from "
            "56 to 8192, a multiple of 8, and is set by vnjit_gradient_block_init");
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
