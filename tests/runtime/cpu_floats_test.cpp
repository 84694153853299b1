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

std::uint16_t stored(DataType type, float value) {
  std::uint16_t bits = 0;
  store_floats(type, &value, 1, &bits, 0);
  return bits;
}

/// Every two neighbours among the finite values of the type and the power of two after the largest,
/// which is stored as infinity: each is stored as itself, halfway goes to the even pattern, and
/// what is next to halfway to the nearer.
void expect_nearest_between_neighbours(DataType type, int exponent_bits, int mantissa_bits) {
  const std::uint32_t infinity = ((1u << exponent_bits) - 1) << mantissa_bits;
  const int largest_exponent = 1 << (exponent_bits - 1);
  for (std::uint32_t low = 0; low < infinity; ++low) {
    const std::uint32_t high = low + 1;
    const double beyond = std::ldexp(1.0, largest_exponent);
    const double a = ieee_value(low, exponent_bits, mantissa_bits);
    const double b = high == infinity ? beyond : ieee_value(high, exponent_bits, mantissa_bits);
    const float halfway = static_cast<float>((a + b) / 2);
    ASSERT_EQ(halfway, (a + b) / 2) << low;
    for (const std::uint32_t sign : {0u, 0x8000u}) {
      const auto expect = [&](float magnitude, std::uint32_t pattern) {
        EXPECT_EQ(stored(type, sign ? -magnitude : magnitude), sign | pattern)
            << "magnitude " << magnitude << " at pattern " << low;
      };
      expect(static_cast<float>(a), low);
      expect(halfway, low % 2 == 0 ? low : high);
      expect(std::nextafter(halfway, 0.0f), low);
      expect(std::nextafter(halfway, tests::kInfinity), high);
    }
    ASSERT_FALSE(testing::Test::HasFailure());
  }
}

TEST(StoreFloats, RoundsToTheNearestHalfTiesToEven) {
  expect_nearest_between_neighbours(DataType::f16, 5, 10);
}

TEST(StoreFloats, RoundsToTheNearestBfloat16TiesToEven) {
  expect_nearest_between_neighbours(DataType::bf16, 8, 7);
}

TEST(StoreFloats, KeepsInfinityAndNaN) {
  for (const auto& [type, infinity] :
       {std::pair{DataType::f16, 0x7C00u}, std::pair{DataType::bf16, 0x7F80u}}) {
    EXPECT_EQ(stored(type, tests::kInfinity), infinity);
    EXPECT_EQ(stored(type, -tests::kInfinity), infinity | 0x8000u);
    EXPECT_EQ(stored(type, std::numeric_limits<float>::max()), infinity);
    // Quiet, signalling, and of a payload that 16 bits do not hold.
    for (const std::uint32_t nan : {0x7FC00000u, 0x7F800001u, 0x7FFFFFFFu, 0xFFFFFFFFu}) {
      const std::uint32_t bits = stored(type, std::bit_cast<float>(nan));
      EXPECT_GT(bits & 0x7FFFu, infinity) << nan;
      EXPECT_EQ(bits & 0x8000u, (nan >> 16) & 0x8000u) << nan;
    }
  }
}

TEST(StoreFloats, WritesTheGivenElementsAndNoOther) {
  const std::vector<float> values{1, -2, 4};
  std::vector<std::uint16_t> halves(5, 0xFFFF);
  store_floats(DataType::f16, values.data(), 3, halves.data(), 1);
  EXPECT_EQ(halves, (std::vector<std::uint16_t>{0xFFFF, 0x3C00, 0xC000, 0x4400, 0xFFFF}));
  std::vector<float> floats(5, 9);
  store_floats(DataType::f32, values.data(), 3, floats.data(), 1);
  EXPECT_EQ(floats, (std::vector<float>{9, 1, -2, 4, 9}));
}

}  // namespace
}  // namespace vnjit::cpu
