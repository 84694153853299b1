#include "linear_case.hpp"
#include "vnjit/runtime/cpu/noise.hpp"

// The kernels of ordinary cores.

namespace vnjit::tests {
namespace {

class PerturbedLinearOnGpu : public LinearOnGpu {
 protected:
  void expect_exact(const LinearCase& c) { expect_right(c, 2e-6); }
};

TEST_F(PerturbedLinearOnGpu, IsWithinTwoMillionthsAt1024) {
  expect_exact({.problem = {.pop = 16, .batch = 64, .in = 1024, .out = 1024}});
}

TEST_F(PerturbedLinearOnGpu, IsRightForOddSizes) {
  for (const std::int64_t in : {1, 33, 257}) {
    for (const std::int64_t out : {7, 66}) {
      for (const std::int64_t batch : {1, 17}) {
        expect_exact(
            {.problem = {.pop = 3, .batch = batch, .in = in, .out = out}, .offset = 12345});
      }
    }
  }
}

TEST_F(PerturbedLinearOnGpu, IsRightForEveryNoiseTypeLayoutAndBias) {
  unsigned number = 0;
  for (NoiseSpec noise : every_noise()) {
    unsigned mix = number++;
    for (const DataType type : {DataType::f32, DataType::f16, DataType::bf16}) {
      noise.antithetic = (mix & 1) != 0;
      const PerturbedLinear problem{
          .noise = noise,
          .input = type,
          .precision = Precision::f32,
          .bias = (mix & 2) == 0,
          .layout = mix & 4 ? InputLayout::shared : InputLayout::individual,
          .pop = 4,
          .batch = 20,
          .in = 192,
          .out = 80};
      mix ^= 3;
      expect_exact({.problem = problem});                                   // the fast kernel
      expect_exact({.problem = problem, .offset = 71, .misalignment = 1});  // the other one
    }
  }
}

TEST_F(PerturbedLinearOnGpu, RoundsYToItsType) {
  for (const auto& [type, bound] :
       {std::pair{DataType::f16, 5e-4}, std::pair{DataType::bf16, 4e-3}}) {
    const PerturbedLinear problem{.input = type,
                                  .output = type,
                                  .precision = Precision::f32,
                                  .pop = 3,
                                  .batch = 20,
                                  .in = 192,
                                  .out = 79};
    expect_right({.problem = problem, .sigma = 8.0f}, bound);
    expect_right({.problem = problem, .sigma = 8.0f, .y_padding = 3, .y_misalignment = 1}, bound);
  }
}

TEST_F(PerturbedLinearOnGpu, FollowsStridesFromIndividualToIndividual) {
  const PerturbedLinear problem{
      .layout = InputLayout::individual, .pop = 3, .batch = 10, .in = 100, .out = 70};
  expect_exact({.problem = problem, .x_individual_padding = 12, .y_individual_padding = 5});
  expect_exact({.problem = problem, .x_individual_padding = 3, .y_misalignment = 1});
}

TEST_F(PerturbedLinearOnGpu, FollowsStridesAndWritesNothingBetweenRows) {
  const PerturbedLinear problem{.pop = 3, .batch = 10, .in = 100, .out = 70};
  expect_exact({.problem = problem,
                .offset = (std::int64_t{1} << 32) - 64,
                .sigma = -0.3f,
                .x_padding = 28,
                .weight_padding = 4,
                .y_padding = 5,
                .noise_padding = 28});
  expect_exact({.problem = problem, .x_padding = 1, .weight_padding = 3, .noise_padding = 7});
}

TEST_F(PerturbedLinearOnGpu, EveryDepthAndTileGivesTheSameBits) {
  const PerturbedLinear problem{
      .layout = InputLayout::individual, .pop = 4, .batch = 40, .in = 320, .out = 136};
  const LinearInputs inputs = draw(problem, 3);
  const auto expected = bits_of(run({.problem = problem}, inputs));
  for (const char* config :
       {"simt_o64b64k64_s1_w8_r1", "simt_o64b64k64_s2_w8_r1", "simt_o64b64k64_s3_w8_r1",
        "simt_o64b64k64_s4_w8_r1", "simt_o16b8k128_s2_w1_r2", "simt_o128b32k64_s2_w4_r1",
        "simt_o32b128k64_s3_w4_r1"}) {
    EXPECT_EQ(bits_of(run({.problem = problem, .config = parse_config(config)}, inputs)), expected)
        << config;
  }
}

TEST_F(PerturbedLinearOnGpu, ABakedShapeGivesTheSameBits) {
  PerturbedLinear problem{.pop = 2, .batch = 9, .in = 130, .out = 50};
  const LinearInputs inputs = draw(problem, 4);
  const auto expected = bits_of(run({.problem = problem}, inputs));
  problem.bake_shape = true;
  EXPECT_EQ(bits_of(run({.problem = problem}, inputs)), expected);
}

TEST_F(PerturbedLinearOnGpu, TheBatchSizeDoesNotReachTheBits) {
  const PerturbedLinear whole{.pop = 2, .batch = 70, .in = 96, .out = 24};
  const LinearInputs inputs = draw(whole, 5);
  const auto expected = bits_of(run({.problem = whole}, inputs));
  PerturbedLinear part = whole;
  part.batch = 3;
  LinearInputs first = inputs;
  first.x.resize(static_cast<std::size_t>(part.batch * part.in));
  const auto bits = bits_of(run({.problem = part}, first));
  for (std::int64_t i = 0; i < part.pop; ++i) {
    for (std::int64_t n = 0; n < part.batch * part.out; ++n) {
      EXPECT_EQ(bits[static_cast<std::size_t>(i * part.batch * part.out + n)],
                expected[static_cast<std::size_t>(i * whole.batch * whole.out + n)]);
    }
  }
}

TEST_F(PerturbedLinearOnGpu, WithoutInputsThereIsBiasAlone) {
  const LinearCase c{.problem = {.pop = 3, .batch = 5, .in = 0, .out = 33}, .sigma = 0.7f};
  const LinearInputs inputs = draw(c.problem, 6);
  EXPECT_LE(relative_error(run(c, inputs), reference(c, inputs)), 1e-7);
}

// W = 0, X = identity and sigma = 1 isolate the noise: Y[i] is N_i transposed.
class NoiseOnGpu : public PerturbedLinearOnGpu {
 protected:
  void expect_noise(const NoiseSpec& noise, std::int64_t in, std::int64_t out, std::int64_t offset,
                    DataType type = DataType::f32) {
    const PerturbedLinear problem{.noise = noise,
                                  .input = type,
                                  .precision = Precision::f32,
                                  .bias = false,
                                  .pop = 3,
                                  .batch = in,
                                  .in = in,
                                  .out = out};
    LinearInputs inputs{std::vector<float>(static_cast<std::size_t>(in * in)),
                        std::vector<float>(static_cast<std::size_t>(out * in)),
                        std::vector<float>(static_cast<std::size_t>(out)), random_seeds(3, 7)};
    for (std::int64_t k = 0; k < in; ++k) inputs.x[static_cast<std::size_t>(k * (in + 1))] = 1.0f;
    const std::vector<float> y = run({.problem = problem, .offset = offset, .sigma = 1.0f}, inputs);
    std::vector<float> row(static_cast<std::size_t>(in));
    std::int64_t wrong = 0;
    for (std::int64_t i = 0; i < problem.pop; ++i) {
      for (std::int64_t j = 0; j < out; ++j) {
        fill_noise(noise, inputs.seeds[static_cast<std::size_t>(i)],
                   static_cast<std::uint64_t>(offset + j * in), in, row.data());
        for (std::int64_t k = 0; k < in; ++k) {
          wrong += y[static_cast<std::size_t>((i * in + k) * out + j)] !=
                   row[static_cast<std::size_t>(k)];
        }
      }
    }
    EXPECT_EQ(wrong, 0) << to_string(noise) << " in " << in << " out " << out << " offset "
                        << offset;
  }
};

TEST_F(NoiseOnGpu, HasTheBitsOfTheCpuAtEveryAlignment) {
  for (const NoiseSpec& noise : every_noise()) {
    expect_noise(noise, 128, 70, 0);
    expect_noise(noise, 128, 70, (std::int64_t{1} << 32) - 64);
    expect_noise(noise, 100, 37, 5);
    expect_noise(noise, 65, 66, (std::int64_t{1} << 62) + 1);
  }
}

TEST_F(NoiseOnGpu, HasTheSameBitsFor16BitInputs) {
  expect_noise(NoiseSpec{}, 128, 40, 64, DataType::bf16);
  expect_noise(NoiseSpec{}, 75, 40, 11, DataType::f16);
}

}  // namespace
}  // namespace vnjit::tests
