#pragma once

#include "specialization.cuh"

namespace vnjit {

/// How the 32 lanes of a warp share a segment of 512 noise elements, 16 each: every lane owns
/// whole calls of the generator.
struct LaneNoise {
  /// Where lane `lane`'s n-th value lies in the segment.
  __device__ __forceinline__ static int position(int lane, int n) {
    return (lane >> 2) * 64 + noise::block_position(lane & 3, n);
  }

  /// The lane's values; `segment` is the first element, a multiple of 64.
  __device__ __forceinline__ static void make(unsigned long long seed, unsigned long long segment,
                                              int lane, float (&values)[16]) {
    Noise::block(seed, (segment >> 6) + (lane >> 2), lane & 3, values);
  }
};

}  // namespace vnjit
