#pragma once

#include "noise/philox_uniform.cuh"
#include "specialization.cuh"

namespace vnjit {

/// How the 32 lanes of a warp share an aligned segment of 512 noise elements, 16 each: every lane
/// owns 4 calls of the generator, whose words are 23-bit uniform values.
struct LaneNoise {
  using Words = noise::PhiloxUniform<Noise::kPhiloxRounds>;
  using Keys = Words::Keys;
  static constexpr float kUnit = 1.0f;  ///< noise is kUnit * value + kOffset
  static constexpr float kOffset = Words::kLastBit;

  __device__ __forceinline__ static Keys keys(unsigned long long seed) { return Words::keys(seed); }

  /// What of a lane's 16 elements does not depend on the seed.
  struct Place {
    noise::WideProduct products[4];  ///< of its calls' counters
    unsigned high;                   ///< of all four counters
  };
  __device__ __forceinline__ static Place place(unsigned long long segment, int lane) {
    const unsigned long long call = (segment * 32 + lane / 4 * 4) * 4 + lane % 4;
    Place place;
    place.high = static_cast<unsigned>(call >> 32);
#pragma unroll
    for (int n = 0; n < 4; ++n) {
      place.products[n] =
          noise::multiply_wide(static_cast<unsigned>(call) + 4 * n, noise::kPhiloxFirst);
    }
    return place;
  }

  /// Where lane `lane`'s n-th value lies in the segment.
  __device__ __forceinline__ static int position(int lane, int n) {
    return lane / 4 * 64 + noise::block_position(lane % 4, n);
  }

  __device__ __forceinline__ static void make(const Keys& keys, const Place& place,
                                              float (&values)[16]) {
#pragma unroll
    for (int call = 0; call < 4; ++call) {
      const noise::PhiloxWords words = noise::philox4x32_of_product<Noise::kPhiloxRounds>(
          place.products[call], place.high, keys);
#pragma unroll
      for (int n = 0; n < 4; ++n) values[4 * call + n] = Words::truncated(words.w[n]);
    }
  }
};

}  // namespace vnjit
