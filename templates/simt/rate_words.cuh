#pragma once

#include "specialization.cuh"

namespace vnjit {

/// What a thread makes for a seed: kCalls calls of Philox, whose words are taken as they are. That
/// costs least: what does not depend on the seed is there before, and round keys are the same for
/// all threads.
struct RateNoise {
  using Keys = Noise::Keys;
  __device__ __forceinline__ static Keys keys(unsigned long long seed) { return Noise::keys(seed); }

  struct Place {
    noise::WideProduct products[kCalls];  ///< of the calls' counters
  };
  __device__ __forceinline__ static Place place(unsigned thread) {
    Place place;
#pragma unroll
    for (unsigned n = 0; n < kCalls; ++n) {
      place.products[n] = noise::multiply_wide(thread * kCalls + n, noise::kPhiloxFirst);
    }
    return place;
  }

  /// The exclusive or of all words.
  __device__ __forceinline__ static unsigned fold(const Keys& keys, const Place& place) {
    unsigned fold = 0;
#pragma unroll
    for (int n = 0; n < kCalls; ++n) {
      const noise::PhiloxWords words =
          noise::philox4x32_of_product<Noise::kPhiloxRounds>(place.products[n], 0, keys);
      fold ^= words.w[0] ^ words.w[1] ^ words.w[2] ^ words.w[3];
    }
    return fold;
  }
};

}  // namespace vnjit
