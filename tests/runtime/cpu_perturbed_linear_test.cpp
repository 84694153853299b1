#include <gtest/gtest.h>

#include <algorithm>
#include <array>

#include "cpu_forward.hpp"
#include "vnjit/runtime/cpu/floats.hpp"
#include "vnjit/runtime/cpu/noise.hpp"

namespace vnjit {
namespace {

using tests::Forward;
using tests::index;
using tests::sizes;

double error_of(const PerturbedLinear& problem, const PerturbedLinearArguments& arguments) {
  const Forward forward(problem, arguments);
  return tests::relative_error(forward.contiguous(forward.run(2)), forward.reference());
}

TEST(CpuPerturbedLinear, IsWithin2e6OfFloat64At1024Inputs) {
  EXPECT_LT(error_of({}, sizes(2, 5, 1024, 64)), 2e-6);
}

TEST(CpuPerturbedLinear, TakesOddSizes) {
  for (const auto [pop, batch, in, out] :
       {std::array{1, 1, 1, 1}, std::array{2, 17, 33, 7}, std::array{3, 6, 257, 66},
        std::array{1, 7, 256, 32}, std::array{2, 1, 255, 31}, std::array{4, 13, 3, 33},
        std::array{1, 2, 700, 34}}) {
    EXPECT_LT(error_of({}, sizes(pop, batch, in, out)), 1e-6)
        << pop << " " << batch << " " << in << " " << out;
  }
}

TEST(CpuPerturbedLinear, TakesEveryDataTypeLayoutAndBias) {
  for (const DataType type : {DataType::f32, DataType::f16, DataType::bf16}) {
    for (const InputLayout layout : {InputLayout::shared, InputLayout::individual}) {
      for (const bool bias : {false, true}) {
        PerturbedLinear problem;
        problem.input = type;
        problem.layout = layout;
        problem.bias = bias;
        EXPECT_LT(error_of(problem, sizes(3, 8, 70, 45)), 1e-6)
            << to_string(type) << " layout " << static_cast<int>(layout) << " bias " << bias;
      }
    }
  }
}

TEST(CpuPerturbedLinear, TakesEveryNoise) {
  for (const NoiseSpec& noise : tests::every_noise()) {
    PerturbedLinear problem;
    problem.noise = noise;
    EXPECT_LT(error_of(problem, sizes(2, 4, 50, 40)), 1e-6) << to_string(noise);
  }
}

TEST(CpuPerturbedLinear, TakesNegativeAndZeroSigma) {
  for (const float sigma : {-0.5f, 0.0f, 1e-3f}) {
    PerturbedLinearArguments arguments = sizes(2, 4, 50, 40);
    arguments.sigma = sigma;
    EXPECT_LT(error_of({}, arguments), 1e-6) << sigma;
  }
}

TEST(CpuPerturbedLinear, GivesPairsOppositeNoiseInWeightsAndBias) {
  PerturbedLinear problem;
  problem.noise.antithetic = true;
  EXPECT_LT(error_of(problem, sizes(6, 4, 50, 40)), 1e-6);
}

TEST(CpuPerturbedLinear, GivesAPairTheBitsOfItsSeedWithBothSigns) {
  const NoiseSpec antithetic{.antithetic = true};
  PerturbedLinearArguments of_plus = sizes(3, 7, 300, 40), of_minus = of_plus;
  of_plus.sigma = 0.5f;
  of_minus.sigma = -0.5f;
  PerturbedLinearArguments of_pairs = of_plus;
  of_pairs.pop = 6;
  const Forward pairs({.noise = antithetic, .input = DataType::f16}, of_pairs);
  const Forward rounded({.noise = antithetic, .input = DataType::f16, .output = DataType::f16},
                        of_pairs);
  const Forward plus({.input = DataType::f16}, of_plus);
  const Forward minus({.input = DataType::f16}, of_minus);
  const std::vector<float> y = pairs.run(2), y_plus = plus.run(1), y_minus = minus.run(1);
  const std::vector<std::uint16_t> y_rounded = rounded.run_rounded(2);
  for (std::size_t p = 0; p < 3; ++p) {
    for (std::size_t n = 0; n < 7 * 40; ++n) {
      const float values[] = {y_plus[p * 280 + n], y_minus[p * 280 + n]};
      for (std::size_t sign = 0; sign < 2; ++sign) {
        EXPECT_EQ(y[(2 * p + sign) * 280 + n], values[sign]) << p << " " << n;
        std::uint16_t bits = 0;
        cpu::store_floats(DataType::f16, &values[sign], 1, &bits, 0);
        EXPECT_EQ(y_rounded[(2 * p + sign) * 280 + n], bits) << p << " " << n;
      }
    }
  }
}

TEST(CpuPerturbedLinear, TakesStridesAndLeavesGapsAlone) {
  for (const DataType type : {DataType::f32, DataType::bf16}) {
    PerturbedLinear problem;
    problem.input = type;
    problem.layout = InputLayout::individual;
    PerturbedLinearArguments arguments = sizes(3, 8, 33, 35);
    arguments.x_row_stride = 40;
    arguments.x_individual_stride = 8 * 40 + 3;
    arguments.weight_row_stride = 37;
    arguments.noise_row_stride = 64;
    arguments.y_row_stride = 36;
    arguments.y_individual_stride = 8 * 36 + 5;
    const Forward forward(problem, arguments);
    const std::vector<float> y = forward.run(2);
    EXPECT_LT(tests::relative_error(forward.contiguous(y), forward.reference()), 1e-6);
    const auto gaps = std::ranges::count_if(y, [](float value) { return std::isnan(value); });
    EXPECT_EQ(gaps, 3 * (8 * 36 + 5) - 3 * 8 * 35);
  }
}

TEST(CpuPerturbedLinear, IsAsExactWhateverPrecisionIsAllowed) {
  for (const Precision precision : {Precision::f32, Precision::tf32, Precision::bf16}) {
    EXPECT_LT(error_of({.precision = precision}, sizes(2, 5, 1024, 64)), 2e-6)
        << to_string(precision);
  }
}

TEST(CpuPerturbedLinear, LeavesBiasAndItsNoiseWithoutInputs) {
  const Forward forward({}, sizes(2, 3, 0, 5));
  const std::vector<float> y = forward.contiguous(forward.run(1));
  EXPECT_LT(tests::relative_error(y, forward.reference()), 1e-7);
  EXPECT_EQ(y[0], forward.bias[0] + 0.37f * tests::noise_value({}, forward.seeds[0], 1000));
  PerturbedLinear without_bias;
  without_bias.bias = false;
  const Forward nothing(without_bias, sizes(2, 3, 0, 5));
  EXPECT_EQ(nothing.contiguous(nothing.run(1)), std::vector<float>(30, 0.0f));
}

TEST(CpuPerturbedLinear, WritesNothingForEmptyOutputs) {
  for (const auto& arguments : {sizes(0, 3, 4, 5), sizes(2, 0, 4, 5), sizes(2, 3, 4, 0)}) {
    cpu::ThreadPool pool(2);
    std::vector<std::int64_t> seeds(2);
    const float bias[5] = {};
    float y = tests::kNaN;
    PerturbedLinearArguments run = arguments;
    run.seeds = seeds.data();
    run.bias = bias;
    run.y = &y;
    cpu::perturbed_linear({}, checked(PerturbedLinear{}, run), pool);
    EXPECT_TRUE(std::isnan(y));
  }
}

/// With W = 0, X = I and sigma = 1 the output is the noise itself, transposed.
TEST(CpuPerturbedLinear, IsolatesTheNoiseToTheBit) {
  constexpr std::int64_t kIn = 300;
  constexpr std::int64_t kOut = 37;
  for (const NoiseSpec& noise : tests::every_noise()) {
    PerturbedLinear problem;
    problem.noise = noise;
    problem.bias = false;
    PerturbedLinearArguments arguments = sizes(1, kIn, kIn, kOut);
    arguments.sigma = 1.0f;
    Forward forward(problem, arguments);
    std::ranges::fill(forward.weight, 0.0f);
    std::ranges::fill(forward.x, 0.0f);
    for (std::int64_t k = 0; k < kIn; ++k) forward.x[index(k * kIn + k)] = 1.0f;
    const std::vector<float> y = forward.run(2);
    std::vector<float> expected(index(kIn * kOut));
    fill_noise(noise, forward.seeds[0], 1000, kIn * kOut, expected.data());
    std::vector<float> transposed(expected.size());
    for (std::int64_t j = 0; j < kOut; ++j) {
      for (std::int64_t k = 0; k < kIn; ++k) {
        transposed[index(j * kIn + k)] = y[index(k * kOut + j)];
      }
    }
    EXPECT_EQ(tests::bits_of(transposed), tests::bits_of(expected)) << to_string(noise);
  }
}

TEST(CpuPerturbedLinear, GivesTheSameBitsForAnyNumberOfThreads) {
  const Forward forward({}, sizes(5, 9, 300, 70));
  const std::vector<std::uint32_t> bits = tests::bits_of(forward.run(1));
  EXPECT_EQ(tests::bits_of(forward.run(2)), bits);
  EXPECT_EQ(tests::bits_of(forward.run(5)), bits);
}

TEST(CpuPerturbedLinear, GivesTheSameBitsForARowAloneAndForOutputsInParts) {
  PerturbedLinear problem;
  problem.bias = false;
  const Forward whole(problem, sizes(2, 11, 300, 70));
  const std::vector<float> y = whole.run(2);
  for (std::int64_t first_out : {0, 33}) {
    Forward part(problem, sizes(2, 1, 300, 37));
    part.sizes.offset += first_out * 300;
    part.weight.assign(whole.weight.begin() + first_out * 300,
                       whole.weight.begin() + (first_out + 37) * 300);
    for (std::int64_t b = 0; b < 11; ++b) {
      part.x.assign(whole.x.begin() + b * 300, whole.x.begin() + (b + 1) * 300);
      const std::vector<float> row = part.run(1);
      for (std::int64_t i = 0; i < 2; ++i) {
        const auto begin = y.begin() + (i * 11 + b) * 70 + first_out;
        EXPECT_EQ(tests::bits_of({row.begin() + i * 37, row.begin() + (i + 1) * 37}),
                  tests::bits_of({begin, begin + 37}))
            << "row " << b << " of individual " << i;
      }
    }
  }
}

}  // namespace
}  // namespace vnjit
