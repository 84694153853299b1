#include "tensor_case.hpp"
#include "vnjit/codegen/pipeline_depth.hpp"

// How a kernel is laid out, and how its buffers lie, does not reach the values.

namespace vnjit::tests {
namespace {

class TensorTilesOnGpu : public TensorOnGpu {
 protected:
  int deepest(const PerturbedLinear& problem, const Config& config) const {
    return pipeline_depth(config, problem, device->limits()).stages;
  }

  /// Every config gives the same bits, and those are right.
  void expect_same_bits(const PerturbedLinear& problem, const std::vector<Config>& configs) {
    const LinearInputs inputs = draw(problem, 3);
    const float sigma = large_sigma(problem.input);
    LinearCase c{.problem = problem, .sigma = sigma, .config = configs.front()};
    const std::vector<float> expected = run(c, inputs);
    EXPECT_LE(relative_error(expected, reference(c, inputs)), bound_of(problem)) << c.describe();
    for (const Config& config : configs) {
      c.config = config;
      EXPECT_EQ(bits_of(run(c, inputs)), bits_of(expected)) << c.describe();
    }
  }
};

TEST_P(TensorTilesOnGpu, EveryTileAndDepthGivesTheSameBits) {
  for (const auto& [input, precision] :
       {std::pair{DataType::f16, Precision::input}, std::pair{DataType::f32, Precision::tf32}}) {
    for (const auto layout : {InputLayout::shared, InputLayout::individual}) {
      const PerturbedLinear problem{.input = input,
                                    .precision = precision,
                                    .layout = layout,
                                    .pop = 4,
                                    .batch = 40,
                                    .in = 448,
                                    .out = 136};
      std::vector<Config> configs = {tile(problem, 64, 32),      tile(problem, 64, 32, 3),
                                     tile(problem, 64, 8),       tile(problem, 128, 64, 3),
                                     tile(problem, 128, 16, 4),  tile(problem, 256, 16),
                                     tile(problem, 128, 128, 2), tile(problem, 192, 32, 2)};
      Config deep = tile(problem, 64, 64);
      deep.stages = deepest(problem, deep);
      configs.push_back(deep);
      if (GetParam() == Family::mma_sync) configs.push_back(tile(problem, 64, 32, 1));
      expect_same_bits(problem, configs);
    }
  }
}

TEST_P(TensorTilesOnGpu, AStageMayHoldSeveralSteps) {
  const PerturbedLinear problem{
      .input = DataType::bf16, .pop = 4, .batch = 40, .in = 320, .out = 136};
  std::vector<Config> configs;
  for (const int steps : {1, 2, 3, 4}) {
    configs.push_back(tile(problem, 64, 32));
    configs.back().block_in *= steps;
  }
  expect_same_bits(problem, configs);
}

TEST_P(TensorTilesOnGpu, SeveralBlocksMayShareAMultiprocessor) {
  const PerturbedLinear problem{
      .input = DataType::f16, .pop = 200, .batch = 16, .in = 128, .out = 200};
  Config three = tile(problem, 64, 16);
  three.blocks_per_sm = 3;
  expect_same_bits(problem, {tile(problem, 64, 16), three});
}

// A block goes through many units: the pipeline runs on from one to the next, whose first stages
// lie anywhere in it.
TEST_P(TensorTilesOnGpu, ManyUnitsABlockAreRightForEveryNumberOfSteps) {
  int number = 0;
  for (const auto layout : {InputLayout::shared, InputLayout::individual}) {
    for (const std::int64_t in : {64, 128, 192, 784, 832}) {
      PerturbedLinear problem{
          .input = DataType::f16, .layout = layout, .pop = 300, .batch = 9, .in = in, .out = 72};
      problem.noise.antithetic = number++ % 2 == 1;
      // Rows of noise start at multiples of 64 where a tile of W has to match.
      LinearCase c{.problem = problem, .sigma = 8.0f, .planned = problem};
      if (layout == InputLayout::individual) c.noise_padding = (64 - in % 64) % 64;
      if (c.noise_row_stride() % 64 == 0) c.planned->in = 832;  // of one plan
      const LinearInputs inputs = draw(problem, 17);
      const std::vector<double> expected = reference(c, inputs);
      for (const int stages : {2, 3}) {
        c.config = tile(problem, 64, 8, stages);
        EXPECT_LE(relative_error(run(c, inputs), expected), 1e-5) << c.describe();
      }
    }
  }
}

TEST_P(TensorTilesOnGpu, FollowsStridesAndWritesNothingBetweenRows) {
  for (const auto layout : {InputLayout::shared, InputLayout::individual}) {
    const PerturbedLinear problem{
        .input = DataType::f16, .layout = layout, .pop = 3, .batch = 37, .in = 192, .out = 100};
    LinearCase c{.problem = problem, .sigma = 8.0f, .config = chosen(problem)};
    c.x_padding = 24;
    c.weight_padding = 8;
    c.noise_padding = 64;
    c.x_individual_padding = layout == InputLayout::individual ? 40 : 0;
    for (const std::int64_t y_padding : {0, 1, 4, 7}) {
      for (const std::int64_t y_individual_padding : {0, 3, 8}) {
        for (const std::int64_t y_misalignment : {0, 1}) {
          c.y_padding = y_padding;
          c.y_individual_padding = y_individual_padding;
          c.y_misalignment = y_misalignment;
          expect_near(c);
        }
      }
    }
  }
}

TEST_P(TensorTilesOnGpu, ABakedShapeGivesTheSameBits) {
  PerturbedLinear problem{.input = DataType::f16, .pop = 2, .batch = 9, .in = 192, .out = 50};
  const LinearInputs inputs = draw(problem, 4);
  const Config config = chosen(problem);
  const auto expected = bits_of(run({.problem = problem, .config = config}, inputs));
  problem.bake_shape = true;
  EXPECT_EQ(bits_of(run({.problem = problem, .config = config}, inputs)), expected);
}

// Planned for sizes whose indices and counters need 64 bits; run with an offset beyond 2^32 calls.
TEST_P(TensorTilesOnGpu, WideIndicesAndCountersAreRight) {
  for (const char* noise : {"philox:uniform8:7", "philox:uniform:7", "triton", "splitmix64"}) {
    for (const auto layout : {InputLayout::shared, InputLayout::individual}) {
      PerturbedLinear problem{.noise = parse_noise_spec(noise),
                              .input = DataType::f16,
                              .layout = layout,
                              .pop = 3,
                              .batch = 37,
                              .in = 192,
                              .out = 100};
      PerturbedLinear planned = problem;
      planned.in = planned.out = std::int64_t{1} << 18;
      ASSERT_TRUE(contiguous_access(planned).wide_index);
      ASSERT_TRUE(contiguous_access(planned).wide_counter);
      LinearCase c{
          .problem = problem, .sigma = 8.0f, .config = tile(planned, 64, 32), .planned = planned};
      for (const int power : {33, 36, 40, 61}) {
        c.offset = (std::int64_t{1} << power) - 64 * 192;
        expect_near(c);
      }
    }
  }
}

TEST_P(TensorTilesOnGpu, ManySmallIndividualsAreRight) {
  const PerturbedLinear problem{.input = DataType::f16,
                                .layout = InputLayout::individual,
                                .pop = 8192,
                                .batch = 1,
                                .in = 64,
                                .out = 64};
  const LinearCase c{.problem = problem, .sigma = 8.0f, .config = chosen(problem)};
  const LinearInputs inputs = draw(problem, 5);
  const std::vector<float> y = run(c, inputs);
  std::mt19937 engine(6);
  for (int n = 0; n < 50; ++n) {
    const auto i = static_cast<std::ptrdiff_t>(n == 0 ? 8191 : engine() % 8192);
    const std::vector<float> one(y.begin() + i * 64, y.begin() + (i + 1) * 64);
    EXPECT_LE(relative_error(one, reference_of(c, inputs, i)), 1e-5) << "individual " << i;
  }
}

INSTANTIATE_TEST_SUITE_P(Families, TensorTilesOnGpu, every_tensor_family(), family_name);

class IndividualsOnGpu : public LinearOnGpu {
 protected:
  void SetUp() override {
    LinearOnGpu::SetUp();
    if (device && !device->limits().has_async_copy()) {
      GTEST_SKIP() << device->limits().arch() << " has no mma_sync";
    }
  }
};

// The last group of 2, 4 or 8 individuals is not full.
TEST_F(IndividualsOnGpu, SideBySideGiveTheBitsOfOneAtATime) {
  struct Choice {
    const char* noise;
    bool antithetic;
    std::int64_t in;
  };
  for (const auto& [noise, antithetic, in] :
       {Choice{"philox:uniform8:7", false, 192}, Choice{"philox:uniform8:7", true, 208},
        Choice{"philox:uniform:10", false, 208}, Choice{"triton", true, 192}}) {
    PerturbedLinear problem{.noise = parse_noise_spec(noise),
                            .input = DataType::f16,
                            .layout = InputLayout::individual,
                            .pop = antithetic ? 6 : 7,
                            .batch = 11,
                            .in = in,
                            .out = 100};
    problem.noise.antithetic = antithetic;
    const LinearInputs inputs = draw(problem, 7);
    LinearCase c{
        .problem = problem, .sigma = 8.0f, .config = parse_config("mma_sync_o64b8k64_s2_w4_r1")};
    const std::vector<float> alone = run(c, inputs);
    EXPECT_LE(relative_error(alone, reference(c, inputs)), bound_of(problem)) << c.describe();
    for (const char* config :
         {"mma_sync_o64b8k64_s2_w4_r1_i2", "mma_sync_o64b8k64_s3_w4_r1_i4",
          "mma_sync_o64b8k64_s2_w4_r1_i8", "mma_sync_o128b16k128_s2_w8_r1_i2"}) {
      c.config = parse_config(config);
      EXPECT_EQ(bits_of(run(c, inputs)), bits_of(alone)) << c.describe();
    }
  }
}

TEST_F(IndividualsOnGpu, SideBySideAreRightInTheFusedForm) {
  const PerturbedLinear problem{.input = DataType::f16,
                                .layout = InputLayout::individual,
                                .pop = 7,
                                .batch = 11,
                                .in = 192,
                                .out = 100};
  for (const char* config :
       {"mma_sync_fused_o64b8k64_s2_w4_r1_i2", "mma_sync_fused_o64b16k64_s2_w4_r1_i4"}) {
    expect_right({.problem = problem, .sigma = 0.5f, .config = parse_config(config)}, 5e-4);
  }
}

}  // namespace
}  // namespace vnjit::tests
