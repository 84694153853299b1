#pragma once

namespace vnjit {

/// Matrix operands in TF32: fp32 with a mantissa of 10 bits, one in a register.
struct Operand {
  using Sum = float;
  static constexpr int kBytes = 4;

  /// Rounded to nearest: the matrix unit ignores the 13 bits below the mantissa.
  __device__ __forceinline__ static unsigned from_float(float value) {
    return __float_as_uint(value) + 0x1000u;
  }

  /// weight + scale * noise.
  __device__ __forceinline__ static unsigned perturbed(unsigned weight, unsigned noise,
                                                       float scale) {
    return from_float(fmaf(scale, __uint_as_float(noise), __uint_as_float(weight)));
  }
};

}  // namespace vnjit
