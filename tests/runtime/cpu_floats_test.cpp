#include <gtest/gtest.h>

#include "cpu_reference.hpp"
#include "vnjit/runtime/cpu/floats.hpp"

namespace vnjit::cpu {
namespace {

/// The value of sign, exponent and mantissa fields as IEEE 754 defines them.
double ieee_value(std::uint32_t bits, int exponent_bits, int mantissa_bits) {
  const std::uint32_t mantissa = bits & ((1u << mantissa_bits) - 1);
  const std::uint32_t exponent = (bits >> mantissa_bits) & ((1u << exponent_bits) - 1);
  const double sign = (bits >> (exponent_bits + mantissa_bits)) & 1u ? -1.0 : 1.0;
  const int bias = (1 << (exponent_bits - 1)) - 1;
  if (exponent == (1u << exponent_bits) - 1) {
    return mantissa == 0 ? sign * std::numeric_limits<double>::infinity()
                         : std::numeric_limits<double>::quiet_NaN();
  }
  if (exponent == 0) return sign * std::ldexp(mantissa, 1 - bias - mantissa_bits);
  return sign * std::ldexp(mantissa + (1u << mantissa_bits),
                           static_cast<int>(exponent) - bias - mantissa_bits);
}

void expect_every_pattern(DataType type, int exponent_bits, int mantissa_bits) {
  std::vector<std::uint16_t> patterns(65536);
  for (std::size_t n = 0; n < patterns.size(); ++n) patterns[n] = static_cast<std::uint16_t>(n);
  std::vector<float> scratch(patterns.size(), tests::kNaN);
  const float* values = as_floats(type, patterns.data(), 0, 65536, scratch.data());
  for (std::uint32_t n = 0; n < 65536; ++n) {
    const double expected = ieee_value(n, exponent_bits, mantissa_bits);
    const double value = values[n];
    ASSERT_TRUE(std::isnan(expected) ? std::isnan(value) : value == expected) << "pattern " << n;
    ASSERT_EQ(std::signbit(value), (n & 0x8000u) != 0) << "pattern " << n;
  }
}

TEST(AsFloats, ConvertsEveryHalf) { expect_every_pattern(DataType::f16, 5, 10); }

TEST(AsFloats, ConvertsEveryBfloat16) { expect_every_pattern(DataType::bf16, 8, 7); }

TEST(AsFloats, PointsIntoFp32DataAndCountsFromTheGivenElement) {
  const std::vector<float> data{1, 2, 3};
  EXPECT_EQ(as_floats(DataType::f32, data.data(), 1, 2, nullptr), data.data() + 1);
  const std::vector<std::uint16_t> halves{0x3C00, 0x4000, 0xC400};
  float scratch[2];
  as_floats(DataType::f16, halves.data(), 1, 2, scratch);
  EXPECT_EQ(scratch[0], 2.0f);
  EXPECT_EQ(scratch[1], -4.0f);
}

}  // namespace
}  // namespace vnjit::cpu
