#pragma once

#include "specialization.cuh"

namespace vnjit {

/// How the 32 lanes of a warp share an aligned segment of 512 noise elements, 16 each: every lane
/// owns whole calls of the generator. Here the values are the noise itself.
struct LaneNoise {
  using Keys = Noise::Keys;
  static constexpr float kUnit = 1.0f;  ///< noise is kUnit * value + kOffset
  static constexpr float kOffset = 0.0f;

  __device__ __forceinline__ static Keys keys(unsigned long long seed) { return Noise::keys(seed); }

  /// What of a lane's 16 elements does not depend on the seed.
  struct Place {
    unsigned long long block;  ///< of 64 elements
    int lane;                  ///< of the four that share it
  };
  __device__ __forceinline__ static Place place(unsigned long long segment, int lane) {
    return {segment * 8 + lane / 4, lane % 4};
  }

  /// Where lane `lane`'s n-th value lies in the segment.
  __device__ __forceinline__ static int position(int lane, int n) {
    return lane / 4 * 64 + noise::block_position(lane % 4, n);
  }

  __device__ __forceinline__ static void make(const Keys& keys, const Place& place,
                                              float (&values)[16]) {
    Noise::block(keys, place.block, static_cast<unsigned>(place.lane), values);
  }
};

}  // namespace vnjit
