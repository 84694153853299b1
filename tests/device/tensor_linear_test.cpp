#include "tensor_case.hpp"

// Right values on tensor cores, for every noise, type and size.

namespace vnjit::tests {
namespace {

struct Operands {
  DataType input;
  Precision precision;
};

constexpr Operands kOwn[] = {{DataType::f16, Precision::input},
                             {DataType::bf16, Precision::input},
                             {DataType::f32, Precision::tf32}};
constexpr Operands kConverted[] = {{DataType::f32, Precision::f16},
                                   {DataType::f32, Precision::bf16}};

class TensorLinearOnGpu : public TensorOnGpu {
 protected:
  /// Of few individuals and odd sizes. The bits of `mix` choose layout, antithetic noise and bias.
  static PerturbedLinear mixed(const NoiseSpec& noise, const Operands& operands, unsigned mix) {
    PerturbedLinear problem{.noise = noise,
                            .input = operands.input,
                            .precision = operands.precision,
                            .bias = (mix & 4) == 0,
                            .layout = mix & 1 ? InputLayout::individual : InputLayout::shared,
                            .pop = mix & 2 ? 6 : 5,
                            .batch = 37,
                            .in = 192,
                            .out = 100};
    problem.noise.antithetic = (mix & 2) != 0;
    return problem;
  }

  /// One plan with sigma of either sign and in memory, at several offsets.
  void expect_near_at_offsets(LinearCase c) {
    c.sigma = large_sigma(c.problem.input);
    expect_near(c);
    c.sigma_on_device = true;
    c.offset = 64 * 1001;
    expect_near(c);
    c.sigma_on_device = false;
    c.sigma = -c.sigma;
    c.offset = 64 * 1001 + 16;
    expect_near(c);
  }
};

TEST_P(TensorLinearOnGpu, IsRightForEveryNoiseAndOperand) {
  unsigned number = 0;
  for (const NoiseSpec& noise : every_noise()) {
    for (unsigned type = 0; type < std::size(kOwn); ++type) {
      const PerturbedLinear problem = mixed(noise, kOwn[type], number ^ (3 * type));
      expect_near_at_offsets({.problem = problem, .config = chosen(problem)});
    }
    ++number;
  }
}

TEST_P(TensorLinearOnGpu, RoundsF32InputsFirstWhereAsked) {
  unsigned number = 0;
  for (const char* noise : {"philox:uniform8:7", "triton", "philox:uniform:7", "splitmix64"}) {
    for (const Operands& operands : kConverted) {
      const PerturbedLinear problem = mixed(parse_noise_spec(noise), operands, number++);
      const LinearCase c{.problem = problem, .config = chosen(problem)};
      expect_near_at_offsets(c);
      LinearCase anywhere = c;  // rows of any alignment: what multiplies are the rounded copies
      anywhere.sigma = large_sigma(problem.input);
      anywhere.x_padding = 3;
      anywhere.weight_padding = 1;
      anywhere.x_individual_padding = problem.layout == InputLayout::individual ? 5 : 0;
      anywhere.misalignment = 1;
      expect_near(anywhere);
    }
  }
}

TEST_P(TensorLinearOnGpu, RoundsYToItsType) {
  unsigned number = 0;
  for (const DataType type : {DataType::f16, DataType::bf16}) {
    for (const auto layout : {InputLayout::shared, InputLayout::individual}) {
      PerturbedLinear problem = mixed(NoiseSpec{}, {type, Precision::input}, number++);
      problem.layout = layout;
      problem.output = type;
      LinearCase c{.problem = problem, .sigma = 8.0f, .config = chosen(problem)};
      expect_near(c);
      c.y_padding = 12;  // rows that four values at a time can be written to
      c.y_individual_padding = 4;
      expect_near(c);
      c.y_padding = 3;
      c.y_misalignment = 1;
      expect_near(c);
    }
  }
}

TEST_P(TensorLinearOnGpu, TheFusedFormIsRightToItsRounding) {
  unsigned number = 0;
  for (const char* noise : {"philox:uniform8:7", "triton", "philox:rademacher:7", "splitmix64"}) {
    for (const Operands& operands : {kOwn[0], kOwn[1], kOwn[2], kConverted[number % 2]}) {
      PerturbedLinear problem = mixed(parse_noise_spec(noise), operands, number++);
      LinearCase c{.problem = problem, .sigma = 0.5f, .config = fused_tile(problem)};
      expect_near(c);
      c.sigma = -0.5f;
      c.offset = 64 * 77;
      expect_near(c);
    }
  }
}

// Without rounding the error would be that of fp32 sums.
TEST_P(TensorLinearOnGpu, TheFusedFormRounds) {
  const PerturbedLinear problem = mixed(NoiseSpec{}, {DataType::bf16, Precision::input}, 0);
  const LinearCase c{.problem = problem, .sigma = 0.5f, .config = fused_tile(problem)};
  const LinearInputs inputs = draw(problem, 17);
  EXPECT_GT(relative_error(run(c, inputs), reference(c, inputs)), 1e-4);
}

TEST_P(TensorLinearOnGpu, NoiseRowsMayStartAtMultiplesOf16) {
  for (const char* noise : {"philox:uniform8:7", "philox:uniform:7", "philox:rademacher:10"}) {
    for (const Operands& operands : kOwn) {
      for (const auto layout : {InputLayout::shared, InputLayout::individual}) {
        PerturbedLinear problem = mixed(parse_noise_spec(noise), operands, 0);
        problem.layout = layout;
        problem.in = 208;
        // The bytes of a tile of W lie in another order than shifted noise.
        const bool bytes =
            problem.noise.distribution == Distribution::uniform8 && operands.input != DataType::f32;
        if (GetParam() == Family::wgmma && bytes && layout == InputLayout::individual) continue;
        LinearCase c{
            .problem = problem, .sigma = large_sigma(problem.input), .config = chosen(problem)};
        for (const std::int64_t offset : {0, 16, 32, 48, 64 * 99}) {
          c.offset = offset;
          expect_near(c);
        }
        c.noise_padding = 32;  // rows at multiples of 16 in 240 from the first
        expect_near(c);
      }
    }
  }
}

TEST_P(TensorLinearOnGpu, OnePlanIsRightForEveryBatchAndOutput) {
  for (const auto layout : {InputLayout::shared, InputLayout::individual}) {
    const PerturbedLinear planned{
        .input = DataType::f16, .layout = layout, .pop = 3, .batch = 64, .in = 128, .out = 1024};
    for (const Config& config : {chosen(planned), tile(planned, 64, 8), tile(planned, 128, 64)}) {
      for (const std::int64_t batch : {1, 8, 16, 200}) {
        for (const std::int64_t out : {10, 64, 1000}) {
          PerturbedLinear problem = planned;
          problem.batch = batch;
          problem.out = out;
          expect_near({.problem = problem, .sigma = 8.0f, .config = config, .planned = planned});
        }
      }
    }
  }
}

TEST_P(TensorLinearOnGpu, OnePlanIsRightForEveryInput) {
  for (const auto layout : {InputLayout::shared, InputLayout::individual}) {
    PerturbedLinear planned = mixed(NoiseSpec{}, kOwn[1], 0);
    planned.layout = layout;
    for (const std::int64_t in : {0, 8, 64, 72, 320, 1024}) {
      PerturbedLinear problem = planned;
      problem.in = in;
      // Noise rows are made to fit 64 elements where the rows of W do not.
      expect_near({.problem = problem,
                   .sigma = 8.0f,
                   .noise_padding = (64 - in % 64) % 64,
                   .config = chosen(planned),
                   .planned = planned});
    }
  }
}

TEST_P(TensorLinearOnGpu, WithoutSigmaEveryIndividualIsTheCenter) {
  const PerturbedLinear problem = mixed(NoiseSpec{}, kOwn[0], 2);
  const LinearCase c{.problem = problem, .sigma = 0.0f, .config = chosen(problem)};
  const LinearInputs inputs = draw(problem, 17);
  const std::vector<float> y = run(c, inputs);
  EXPECT_LE(relative_error(y, reference(c, inputs)), 1e-6);
  const std::ptrdiff_t size = problem.batch * problem.out;
  for (std::int64_t i = 1; i < problem.pop; ++i) {
    EXPECT_TRUE(std::equal(y.begin(), y.begin() + size, y.begin() + i * size)) << i;
  }
}

INSTANTIATE_TEST_SUITE_P(Families, TensorLinearOnGpu, every_tensor_family(), family_name);

}  // namespace
}  // namespace vnjit::tests
