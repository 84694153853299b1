#pragma once

namespace vnjit {

/// Matrix operands in bfloat16, two in a register, the lower half first.
struct Operand {
  using Sum = float;
  static constexpr int kBytes = 2;

  /// Noise is kByteScale times the operand that from_bytes makes of it.
  static constexpr float kByteScale = 0.25f;

  /// Bytes kPair*2 and kPair*2 + 1 of a word as (byte - 127.5) * 2^-6, exact: a byte is a
  /// denormal bfloat16, and one fused multiply-add scales and centres two of them.
  template <int kPair>
  __device__ __forceinline__ static unsigned from_bytes(unsigned word) {
    const unsigned denormal = __byte_perm(word, 0, kPair == 0 ? 0x4140 : 0x4342);
    unsigned result;
    asm("fma.rn.bf16x2 %0, %1, %2, %3;"
        : "=r"(result)
        : "r"(denormal), "r"(0x7F007F00u), "r"(0xBFFFBFFFu));  // 2^127, -127.5 * 2^-6
    return result;
  }

  __device__ __forceinline__ static unsigned from_floats(float first, float second) {
    unsigned result;
    asm("cvt.rn.bf16x2.f32 %0, %1, %2;" : "=r"(result) : "f"(second), "f"(first));
    return result;
  }

  __device__ __forceinline__ static float2 to_floats(unsigned pair) {
    return make_float2(__uint_as_float(pair << 16), __uint_as_float(pair & 0xFFFF0000u));
  }

  /// weight + scale * noise of a pair each.
  __device__ __forceinline__ static unsigned perturbed(unsigned weight, unsigned noise,
                                                       float scale) {
    const float2 w = to_floats(weight);
    const float2 n = to_floats(noise);
    return from_floats(fmaf(scale, n.x, w.x), fmaf(scale, n.y, w.y));
  }
};

}  // namespace vnjit
