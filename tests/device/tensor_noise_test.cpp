#include "tensor_case.hpp"
#include "vnjit/runtime/cpu/noise.hpp"

// The noise that tensor cores multiply, apart from the weights.

namespace vnjit::tests {
namespace {

/// `value` as the matrix instruction takes it.
float rounded(Precision operands, float value) {
  if (operands == Precision::tf32) {
    return std::bit_cast<float>((std::bit_cast<std::uint32_t>(value) + 0x1000u) & 0xFFFFE000u);
  }
  const DataType type = operands == Precision::f16 ? DataType::f16 : DataType::bf16;
  std::uint16_t bits = 0;
  float result = 0;
  cpu::store_floats(type, &value, 1, &bits, 0);
  return *cpu::as_floats(type, &bits, 0, 1, &result);
}

class TensorNoiseOnGpu : public TensorOnGpu {
 protected:
  static constexpr float kSigma = 0.25f;  // scales without rounding

  static PerturbedLinear problem_of(const NoiseSpec& noise, DataType input, InputLayout layout,
                                    std::int64_t in) {
    return {.noise = noise,
            .input = input,
            .precision = input == DataType::f32 ? Precision::tf32 : Precision::input,
            .layout = layout,
            .pop = 4,
            .batch = in + 1,
            .in = in,
            .out = 70};
  }

  /// W and b are 0 and the rows of X are those of the identity and one of zeros: Y[i] is sigma
  /// times N_i transposed plus the noise of b, and that alone in the last row.
  void expect_bits(const LinearCase& c) {
    const PerturbedLinear& p = c.problem;
    LinearInputs inputs = draw(p, 7);
    std::fill(inputs.x.begin(), inputs.x.end(), 0.0f);
    std::fill(inputs.weight.begin(), inputs.weight.end(), 0.0f);
    std::fill(inputs.bias.begin(), inputs.bias.end(), 0.0f);
    for (std::int64_t block = 0; block < c.inputs(); ++block) {
      for (std::int64_t k = 0; k < p.in; ++k) {
        inputs.x[static_cast<std::size_t>((block * p.batch + k) * p.in + k)] = 1.0f;
      }
    }
    const std::vector<float> y = run(c, inputs);
    std::int64_t wrong = 0;
    for (std::int64_t i = 0; i < p.pop; ++i) {
      const auto seed = static_cast<std::size_t>(p.noise.antithetic ? i / 2 : i);
      const float sigma = p.noise.antithetic && i % 2 == 1 ? -c.sigma : c.sigma;
      const auto noise = [&](std::int64_t element, std::int64_t count) {
        std::vector<float> values(static_cast<std::size_t>(count));
        fill_noise(p.noise, inputs.seeds[seed], static_cast<std::uint64_t>(c.offset + element),
                   count, values.data());
        return values;
      };
      const std::vector<float> bias = noise(p.out * c.noise_row_stride(), p.out);
      for (std::int64_t j = 0; j < p.out; ++j) {
        const std::vector<float> row = noise(j * c.noise_row_stride(), p.in);
        const float shift = sigma * bias[static_cast<std::size_t>(j)];
        for (std::int64_t b = 0; b < p.batch; ++b) {
          const float value =
              b < p.in ? rounded(operand_precision(p), row[static_cast<std::size_t>(b)]) : 0.0f;
          wrong +=
              y[static_cast<std::size_t>((i * p.batch + b) * p.out + j)] != sigma * value + shift;
        }
      }
    }
    EXPECT_EQ(wrong, 0) << c.describe() << ": of " << y.size();
  }
};

TEST_P(TensorNoiseOnGpu, HasTheBitsOfTheCpuInEveryElement) {
  unsigned number = 0;
  for (NoiseSpec noise : every_noise()) {
    for (const DataType input : {DataType::f16, DataType::bf16, DataType::f32}) {
      noise.antithetic = number % 2 == 1;
      const auto layout = number / 2 % 2 == 0 ? InputLayout::shared : InputLayout::individual;
      ++number;
      const PerturbedLinear problem = problem_of(noise, input, layout, 128);
      LinearCase c{.problem = problem, .sigma = kSigma, .config = chosen(problem)};
      for (const std::int64_t offset : {0, 64 * 12345}) {
        c.offset = offset;
        expect_bits(c);
      }
    }
  }
}

TEST_P(TensorNoiseOnGpu, HasTheBitsOfTheCpuInRowsAtMultiplesOf16) {
  for (const char* noise : {"philox:uniform8:7", "philox:uniform:7", "philox:rademacher:7"}) {
    for (const DataType input : {DataType::f16, DataType::bf16, DataType::f32}) {
      const PerturbedLinear problem =
          problem_of(parse_noise_spec(noise), input, InputLayout::shared, 208);
      LinearCase c{.problem = problem, .sigma = kSigma, .config = chosen(problem)};
      for (const std::int64_t offset : {0, 16, 32, 48}) {
        c.offset = offset;
        expect_bits(c);
      }
    }
  }
}

// Bytes are exact operands: the kernel for any buffers, which takes the elements whose counters
// pass 32 bits and the offsets that are not aligned, gives the same.
TEST_P(TensorNoiseOnGpu, HasTheBitsOfTheCpuAtEveryOffset) {
  constexpr std::int64_t kNarrow = std::int64_t{1} << 36;
  ASSERT_EQ(narrow_noise_elements(NoiseSpec{}), kNarrow);
  for (const DataType input : {DataType::f16, DataType::bf16}) {
    for (const std::int64_t in : {128, 208}) {
      const PerturbedLinear problem = problem_of(NoiseSpec{}, input, InputLayout::shared, in);
      LinearCase c{.problem = problem, .sigma = kSigma, .config = chosen(problem)};
      const std::int64_t rows = 400 * in;  // those of W and what a tile may hang over
      for (const std::int64_t offset :
           {(std::int64_t{1} << 33), (std::int64_t{1} << 33) + 16, (std::int64_t{1} << 33) + 5,
            kNarrow - rows / 64 * 64, kNarrow - 640, kNarrow, kNarrow * 1024 + 64,
            (std::int64_t{1} << 62) + 1}) {
        c.offset = offset;
        expect_bits(c);
      }
    }
  }
}

TEST_P(TensorNoiseOnGpu, AloneLosesNothingHoweverSmallSigmaIs) {
  for (const DataType input : {DataType::f16, DataType::bf16}) {
    for (const auto layout : {InputLayout::shared, InputLayout::individual}) {
      const PerturbedLinear problem{
          .input = input, .layout = layout, .pop = 3, .batch = 40, .in = 1024, .out = 100};
      for (const bool positive : {true, false}) {
        LinearInputs inputs = draw(problem, 9);
        std::fill(inputs.weight.begin(), inputs.weight.end(), 0.0f);
        std::fill(inputs.bias.begin(), inputs.bias.end(), 0.0f);
        if (positive) {
          for (float& x : inputs.x) x = std::abs(x);
        }
        for (const float sigma : {1e-4f, 0.1f}) {
          const LinearCase c{.problem = problem, .sigma = sigma, .config = chosen(problem)};
          EXPECT_LE(relative_error(run(c, inputs), reference(c, inputs)), 1e-5)
              << c.describe() << " positive " << positive;
        }
      }
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Families, TensorNoiseOnGpu, every_tensor_family(), family_name);

}  // namespace
}  // namespace vnjit::tests
