#pragma once

#include "specialization.cuh"

namespace vnjit {

/// How the 32 lanes of a warp share an aligned segment of 512 noise elements, 16 each: every lane
/// owns a call of the generator, whose bytes are uniform values.
struct LaneNoise {
  using Keys = Noise::Keys;
  static constexpr float kUnit = 2.0f;  ///< noise is kUnit * value + kOffset
  static constexpr float kOffset = 0.0f;

  __device__ __forceinline__ static Keys keys(unsigned long long seed) { return Noise::keys(seed); }

  /// What of a lane's 16 elements does not depend on the seed.
  struct Place {
    noise::WideProduct product;  ///< of its call's counter
    unsigned high;               ///< of the counter
  };
  __device__ __forceinline__ static Place place(unsigned long long segment, int lane) {
    const unsigned long long call = segment * 32 + lane;
    return {noise::multiply_wide(static_cast<unsigned>(call), noise::kPhiloxFirst),
            static_cast<unsigned>(call >> 32)};
  }

  /// Where lane `lane`'s n-th value lies in the segment.
  __device__ __forceinline__ static int position(int lane, int n) {
    return lane / 4 * 64 + noise::block_position(lane % 4, n);
  }

  /// A byte in the low bits of a 16-bit float is the denormal number byte * 2^-24: one fused
  /// multiply-add makes two of them (byte - 127.5) * 2^-9, without rounding.
  __device__ __forceinline__ static void make(const Keys& keys, const Place& place,
                                              float (&values)[16]) {
    const noise::PhiloxWords words =
        noise::philox4x32_of_product<Noise::kPhiloxRounds>(place.product, place.high, keys);
#pragma unroll
    for (int n = 0; n < 16; n += 2) {
      const unsigned bytes = __byte_perm(words.w[n / 4], 0u, n % 4 == 0 ? 0x4140u : 0x4342u);
      asm("{ .reg .b32 t; .reg .b16 low, high; fma.rn.f16x2 t, %2, %3, %4; "
          "mov.b32 {low, high}, t; cvt.f32.f16 %0, low; cvt.f32.f16 %1, high; }"
          : "=f"(values[n]), "=f"(values[n + 1])
          : "r"(bytes), "r"(0x78007800u), "r"(0xB3F8B3F8u));
    }
  }
};

}  // namespace vnjit
