#pragma once

#include "noise/triton.cuh"

namespace vnjit {

/// How the 32 lanes of a warp share an aligned segment of 512 noise elements, 16 each: the
/// generator makes one element a call, so neighbours lie in neighbouring lanes.
struct LaneNoise {
  using Keys = noise::PhiloxKeys<10>;
  static constexpr float kUnit = 1.0f;  ///< noise is kUnit * value + kOffset
  static constexpr float kOffset = 0.0f;

  __device__ __forceinline__ static Keys keys(unsigned long long seed) {
    return noise::philox_keys<10>(noise::Triton::keys(seed));
  }

  /// What of a lane's 16 elements does not depend on the seed.
  struct Place {
    unsigned first;  ///< low word of the first element
    unsigned high;   ///< of all of them
  };
  __device__ __forceinline__ static Place place(unsigned long long segment, int lane) {
    const unsigned long long first = segment * 512 + lane;
    return {static_cast<unsigned>(first), static_cast<unsigned>(first >> 32)};
  }

  /// Where lane `lane`'s n-th value lies in the segment.
  __device__ __forceinline__ static int position(int lane, int n) { return n * 32 + lane; }

  __device__ __forceinline__ static void make(const Keys& keys, const Place& place,
                                              float (&values)[16]) {
#pragma unroll
    for (int n = 0; n < 16; ++n) {
      const noise::WideProduct product =
          noise::multiply_wide(place.first + 32 * n, noise::kPhiloxFirst);
      values[n] = noise::Triton::from_word(
          noise::philox4x32_of_product<10>(product, place.high, keys).w[0]);
    }
  }
};

}  // namespace vnjit
