#pragma once

namespace vnjit {

/// Matrix operands in IEEE binary16, two in a register, the lower half first.
struct Operand {
  using Sum = float;
  static constexpr int kBytes = 2;

  /// Noise is kByteScale times the operand that from_bytes makes of it.
  static constexpr float kByteScale = 2.0f;

  /// Bytes kPair*2 and kPair*2 + 1 of a word as (byte - 127.5) * 2^-9, exact: a byte is a
  /// denormal half, and one fused multiply-add scales and centres two of them.
  template <int kPair>
  __device__ __forceinline__ static unsigned from_bytes(unsigned word) {
    const unsigned denormal = __byte_perm(word, 0, kPair == 0 ? 0x4140 : 0x4342);
    unsigned result;
    asm("fma.rn.f16x2 %0, %1, %2, %3;"
        : "=r"(result)
        : "r"(denormal), "r"(0x78007800u), "r"(0xB3F8B3F8u));  // 2^15, -127.5 * 2^-9
    return result;
  }

  __device__ __forceinline__ static unsigned from_floats(float first, float second) {
    unsigned result;
    asm("cvt.rn.f16x2.f32 %0, %1, %2;" : "=r"(result) : "f"(second), "f"(first));
    return result;
  }

  __device__ __forceinline__ static float2 to_floats(unsigned pair) {
    float2 result;
    asm("{ .reg .b16 l, h; mov.b32 {l, h}, %2; cvt.f32.f16 %0, l; cvt.f32.f16 %1, h; }"
        : "=f"(result.x), "=f"(result.y)
        : "r"(pair));
    return result;
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
