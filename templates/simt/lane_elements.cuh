#pragma once

#include "specialization.cuh"

namespace vnjit {

/// How the 32 lanes of a warp share a segment of 512 noise elements, 16 each: the generator makes
/// one element at a time, so neighbours lie in neighbouring lanes.
struct LaneNoise {
  /// Where lane `lane`'s n-th value lies in the segment.
  __device__ __forceinline__ static int position(int lane, int n) { return n * 32 + lane; }

  /// The lane's values; `segment` is the first element.
  __device__ __forceinline__ static void make(unsigned long long seed, unsigned long long segment,
                                              int lane, float (&values)[16]) {
#pragma unroll
    for (int n = 0; n < 16; ++n) {
      values[n] = Noise::value(seed, segment + position(lane, n));
    }
  }
};

}  // namespace vnjit
