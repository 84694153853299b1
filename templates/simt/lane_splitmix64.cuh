#pragma once

#include "noise/splitmix64.cuh"

namespace vnjit {

/// How the 32 lanes of a warp share an aligned segment of 512 noise elements, 16 each: the
/// generator makes one element at a time, so neighbours lie in neighbouring lanes.
struct LaneNoise {
  using Keys = noise::SplitMix64::Keys;
  static constexpr float kUnit = 1.0f;  ///< noise is kUnit * value + kOffset
  static constexpr float kOffset = 0.0f;

  __device__ __forceinline__ static Keys keys(unsigned long long seed) {
    return noise::SplitMix64::keys(seed);
  }

  using Place = unsigned long long;  ///< the lane's first element
  __device__ __forceinline__ static Place place(unsigned long long segment, int lane) {
    return segment * 512 + lane;
  }

  /// Where lane `lane`'s n-th value lies in the segment.
  __device__ __forceinline__ static int position(int lane, int n) { return n * 32 + lane; }

  __device__ __forceinline__ static void make(const Keys& keys, const Place& place,
                                              float (&values)[16]) {
#pragma unroll
    for (int n = 0; n < 16; ++n) values[n] = noise::SplitMix64::value(keys, place + 32 * n);
  }
};

}  // namespace vnjit
