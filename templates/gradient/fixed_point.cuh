#pragma once

#include "noise/shim.cuh"

// Fitness in fixed point, on host and device alike: its products with integer noise have exact
// sums, whatever the order.

namespace vnjit {

using noise::u32;
using noise::u64;

constexpr u32 kMagnitudeBits = 0x7FFFFFFFu;
constexpr u32 kInfinityBits = 0x7F800000u;

/// Largest magnitude of a fitness in fixed point: four signed digits of 8 bits hold it.
constexpr int kFixedPointBits = 30;
/// log2 of the individuals whose sum of products with 9-bit noise stays below 2^63.
constexpr int kFixedPointCountBits = 24;

/// Fitness f becomes the integer round(f * 2^shift) where `largest` are the bits of the largest
/// |f|, finite, of `count` individuals.
VNJIT_FUNCTION int fixed_point_shift(u32 largest, u64 count) {
  const int exponent = static_cast<int>(largest >> 23);
  int bits = kFixedPointBits;
  while (bits > 0 && (count >> kFixedPointCountBits) >> (kFixedPointBits - bits) > 0) --bits;
  // |f| < 2^(exponent - 126); denormal numbers have the exponent of the least normal ones.
  return bits - ((exponent > 0 ? exponent : 1) - 126);
}

VNJIT_FUNCTION float power_of_two(int exponent) {
  return noise::float_of_bits(static_cast<u32>(exponent + 127) << 23);
}

/// Rounds to the nearest integer, halves to the even one.
VNJIT_FUNCTION int fixed_point(float fitness, int shift) {
  // One factor can be beyond a float. Where the first makes a denormal number, the result is 0.
  const int half = shift / 2;
  return noise::nearest_integer(fitness * power_of_two(half) * power_of_two(shift - half));
}

/// 2^-shift.
VNJIT_FUNCTION double fixed_point_unit(int shift) {
  return noise::double_of_bits(static_cast<u64>(1023 - shift) << 52);
}

}  // namespace vnjit
