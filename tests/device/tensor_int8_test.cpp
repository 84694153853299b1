#include <cmath>

#include "tensor_case.hpp"

// Precision int8: bytes of noise times X rounded to 8 bits a row, with exact sums.

namespace vnjit::tests {
namespace {

class Int8OnGpu : public TensorOnGpu {
 protected:
  static PerturbedLinear int8_problem(DataType input, std::int64_t in) {
    return {
        .input = input, .precision = Precision::int8, .pop = 5, .batch = 37, .in = in, .out = 100};
  }

  /// Rows of X as the kernels round them: q times a scale, q from -127 to 127.
  static std::vector<float> quantized(const std::vector<float>& x, std::int64_t in) {
    std::vector<float> result;
    for (auto row = x.begin(); row != x.end(); row += in) {
      float largest = 0;
      std::for_each(row, row + in, [&](float v) { largest = std::max(largest, std::abs(v)); });
      std::transform(row, row + in, std::back_inserter(result), [&](float v) {
        return largest == 0 ? 0 : std::nearbyint(v * (127 / largest)) * (largest / 127);
      });
    }
    return result;
  }

  /// X·W^T + b of the X given, and all that is noise of the X quantized.
  static std::vector<double> int8_reference(LinearCase c, LinearInputs inputs) {
    LinearCase without = c;
    without.sigma = 0;
    std::vector<double> y = reference(without, inputs);
    inputs.x = quantized(inputs.x, c.problem.in);
    const std::vector<double> noisy = reference(c, inputs);
    const std::vector<double> quiet = reference(without, inputs);
    for (std::size_t n = 0; n < y.size(); ++n) y[n] += noisy[n] - quiet[n];
    return y;
  }

  void expect_int8(const LinearCase& c, double bound) {
    const LinearInputs inputs = draw(c.problem, 29);
    const std::vector<float> y = run(c, inputs);
    EXPECT_LE(relative_error(y, int8_reference(c, inputs)), bound) << c.describe();
    // X in 8 bits a row is off by less than 2 % of the whole, be it all noise.
    EXPECT_LE(relative_error(y, reference(c, inputs)), 2e-2) << c.describe();
  }
};

TEST_P(Int8OnGpu, MultipliesBytesWithXInEightBits) {
  for (const std::int64_t in : {64, 128, 192, 832}) {
    for (const DataType input : {DataType::f16, DataType::bf16}) {
      const PerturbedLinear problem = int8_problem(input, in);
      expect_int8({.problem = problem, .offset = 64 * 7, .sigma = 8.0f, .config = chosen(problem)},
                  1e-5);
    }
  }
}

TEST_P(Int8OnGpu, KeepsTheBaseProductOfFp32InTf32) {
  const PerturbedLinear problem = int8_problem(DataType::f32, 192);
  expect_int8({.problem = problem, .sigma = 2.0f, .config = chosen(problem)}, 1e-3);
}

TEST_P(Int8OnGpu, KnowsPairsStridesTilesAndDepths) {
  PerturbedLinear problem = int8_problem(DataType::f16, 320);
  problem.pop = 6;
  problem.noise.antithetic = true;
  problem.bias = false;
  for (const int stages : {2, 3}) {
    Config config = tile(problem, 128, 16, stages);
    config.block_in = 128 * (stages - 1);
    expect_int8({.problem = problem,
                 .sigma = -8.0f,
                 .x_padding = 8,
                 .weight_padding = 16,
                 .y_padding = 3,
                 .noise_padding = 64,
                 .config = config},
                1e-5);
  }
}

TEST_P(Int8OnGpu, HasTheSameBitsForEveryTile) {
  const PerturbedLinear problem = int8_problem(DataType::f16, 192);
  const LinearInputs inputs = draw(problem, 31);
  Config config = tile(problem, 64, 64);
  config.block_in = 128;
  const std::vector<float> y = run({.problem = problem, .sigma = 8.0f, .config = config}, inputs);
  config = tile(problem, 256, 8, 4);
  config.block_in = 128;
  EXPECT_EQ(run({.problem = problem, .sigma = 8.0f, .config = config}, inputs), y);
}

TEST_P(Int8OnGpu, RoundsARowOfZerosToZeros) {
  const PerturbedLinear problem = int8_problem(DataType::f16, 128);
  const LinearCase c{.problem = problem, .sigma = 8.0f, .config = chosen(problem)};
  LinearInputs inputs = draw(problem, 37);
  std::fill_n(inputs.x.begin(), problem.in, 0.0f);
  EXPECT_LE(relative_error(run(c, inputs), int8_reference(c, inputs)), 1e-5);
}

INSTANTIATE_TEST_SUITE_P(Families, Int8OnGpu, every_tensor_family(), family_name);

}  // namespace
}  // namespace vnjit::tests
