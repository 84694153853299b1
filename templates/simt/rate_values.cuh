#pragma once

#include "simt/lane_noise.cuh"
#include "specialization.cuh"

namespace vnjit {

/// What a thread makes for a seed: a lane's 16 values of a segment, in floats.
struct RateNoise {
  using Keys = LaneNoise::Keys;
  __device__ __forceinline__ static Keys keys(unsigned long long seed) {
    return LaneNoise::keys(seed);
  }

  using Place = LaneNoise::Place;
  __device__ __forceinline__ static Place place(unsigned thread) {
    return LaneNoise::place(thread / 32, static_cast<int>(thread % 32));
  }

  /// The exclusive or of the bits of all values.
  __device__ __forceinline__ static unsigned fold(const Keys& keys, const Place& place) {
    float values[16];
    LaneNoise::make(keys, place, values);
    unsigned fold = 0;
#pragma unroll
    for (int n = 0; n < 16; ++n) fold ^= noise::bits_of(values[n]);
    return fold;
  }
};

}  // namespace vnjit
