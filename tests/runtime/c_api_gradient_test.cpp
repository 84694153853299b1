#include <gtest/gtest.h>

#include <array>
#include <cstring>

#include "c_api_operation.hpp"
#include "cpu_reference.hpp"

namespace vnjit {
namespace {

using tests::bits_of;
using tests::kCppNoise;
using tests::kNoise;
using tests::kSigma;
using tests::random_seeds;
using tests::random_values;

/// A block of a later version of the C API.
struct LaterBlock {
  vnjit_gradient_block known;
  std::int64_t appended;
};

class CApiGradient : public tests::CApiOperation {
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

/// The first version of a block, which has no weight.
struct FirstBlock {
  std::array<std::byte, 56> bytes;
};

TEST_F(CApiGradient, TakesArgumentsAndBlocksOfTheFirstVersion) {
  std::array<vnjit_gradient_block, 2> now;
  set(now[0], now[1]);
  std::array<FirstBlock, 2> blocks;
  for (std::size_t b = 0; b < blocks.size(); ++b) {
    now[b].struct_size = sizeof(FirstBlock);
    std::memcpy(&blocks[b], &now[b], sizeof(FirstBlock));
  }
  arguments.blocks = reinterpret_cast<const vnjit_gradient_block*>(blocks.data());
  arguments.block_count = blocks.size();
  arguments.base.struct_size = 72;
  arguments.learning_rate = tests::kNaN;
  run(problem, arguments);
  EXPECT_EQ(bits_of(output), bits_of(expected));
}

TEST_F(CApiGradient, UpdatesWithAdamToTheSameBits) {
  const auto start = random_values(24, 7);
  std::vector<float> weight = start, first(24, 0.5f), second(24, 0.25f);
  vnjit_gradient_block block;
  vnjit_gradient_block_init(&block);
  block.offset = 77;
  block.rows = 3;
  block.columns = 5;
  block.noise_row_stride = 64;
  block.weight = weight.data();
  block.first_moment = first.data();
  block.second_moment = second.data();
  block.weight_row_stride = 8;
  arguments.blocks = &block;
  arguments.block_count = 1;
  arguments.learning_rate = 0.125f;
  arguments.beta1 = 0.75f;
  arguments.beta2 = 0.875f;
  arguments.epsilon = 0.5f;
  arguments.step = 3;
  problem.update = VNJIT_UPDATE_ADAM;
  run(problem, arguments);

  std::vector<float> cpp_weight = start, cpp_first(24, 0.5f), cpp_second(24, 0.25f);
  const GradientBlock cpp_block{.offset = 77,
                                .rows = 3,
                                .columns = 5,
                                .noise_row_stride = 64,
                                .weight = cpp_weight.data(),
                                .first_moment = cpp_first.data(),
                                .second_moment = cpp_second.data(),
                                .weight_row_stride = 8};
  run_cpp(Gradient{.noise = kCppNoise, .normalize = Normalize::unbiased, .update = Update::adam},
          GradientArguments{.fitness = fitness.data(),
                            .seeds = seeds.data(),
                            .sigma = kSigma,
                            .pop = 6,
                            .pop_size = 10,
                            .update = {.learning_rate = 0.125f,
                                       .beta1 = 0.75f,
                                       .beta2 = 0.875f,
                                       .epsilon = 0.5f,
                                       .step = 3},
                            .blocks = {&cpp_block, 1}});
  EXPECT_EQ(bits_of(weight), bits_of(cpp_weight));
  EXPECT_EQ(bits_of(first), bits_of(cpp_first));
  EXPECT_EQ(bits_of(second), bits_of(cpp_second));
  EXPECT_NE(weight[0], start[0]);
  EXPECT_EQ(weight[5], start[5]);
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
  blocks[1].struct_size = 56;
  EXPECT_EQ(refused(),
            "VNJIT_ERROR_INVALID_ARGUMENT: blocks[1].struct_size is 56; it must be 88, as that of "
            "blocks[0]");
  blocks[0].struct_size = 0;
  EXPECT_EQ(refused(),
            "VNJIT_ERROR_INVALID_ARGUMENT: vnjit_gradient_block.struct_size is 0; it must be from "
            "56 to 8192, a multiple of 8, and is set by vnjit_gradient_block_init");
}

}  // namespace
}  // namespace vnjit
