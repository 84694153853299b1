#include "gradient/fixed_point.cuh"

#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <limits>

namespace vnjit {
namespace {

constexpr u64 kMany = u64{1} << kFixedPointCountBits;

int shift_of(float largest, u64 count) {
  return fixed_point_shift(std::bit_cast<u32>(largest), count);
}

TEST(FixedPoint, GivesTheLargestFitness30Bits) {
  for (const float largest :
       {0x1p-126f, 1e-20f, 0.75f, 1.0f, 1.5f, 1e20f, std::numeric_limits<float>::max()}) {
    const int fixed = fixed_point(largest, shift_of(largest, 1));
    EXPECT_GE(fixed, 1 << 29) << largest;
    EXPECT_LE(fixed, 1 << 30) << largest;
    EXPECT_EQ(fixed, std::ldexp(largest, shift_of(largest, 1))) << largest;
    EXPECT_EQ(fixed_point(-largest, shift_of(largest, 1)), -fixed) << largest;
  }
}

TEST(FixedPoint, KeepsDenormalFitness) {
  const float least = std::numeric_limits<float>::denorm_min();
  const int shift = shift_of(least, 1);
  EXPECT_EQ(shift, 155);
  EXPECT_EQ(fixed_point(least, shift), 1 << 6);
  EXPECT_EQ(fixed_point(5 * least, shift), 5 << 6);
  EXPECT_EQ(fixed_point(0.0f, shift_of(0.0f, 1)), 0);
}

TEST(FixedPoint, RoundsHalvesToTheEvenInteger) {
  EXPECT_EQ(fixed_point(2.5f, 0), 2);
  EXPECT_EQ(fixed_point(3.5f, 0), 4);
  EXPECT_EQ(fixed_point(-2.5f, 0), -2);
  EXPECT_EQ(fixed_point(0x1p100f, -99), 2);
}

TEST(FixedPoint, LeavesRoomForTheSumOfTheWholePopulation) {
  EXPECT_EQ(shift_of(1.0f, kMany - 1), 29);
  for (const u64 count : {kMany, 2 * kMany - 1, 2 * kMany, 1000 * kMany, u64{1} << 50}) {
    const int shift = shift_of(1.0f, count);
    EXPECT_LT(shift, 29) << count;
    const double sum = 255.0 * static_cast<double>(count) * fixed_point(1.0f, shift);
    EXPECT_LT(sum, 0x1p63) << count;
    EXPECT_GT(sum, 0x1p59) << count;
  }
}

TEST(FixedPoint, KnowsItsUnit) {
  for (const int shift : {-98, -1, 0, 30, 155}) {
    EXPECT_EQ(fixed_point_unit(shift), std::ldexp(1.0, -shift)) << shift;
  }
}

}  // namespace
}  // namespace vnjit
