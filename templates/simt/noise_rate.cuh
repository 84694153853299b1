#pragma once

#include "params/noise_rate.cuh"
#include "simt/rate_noise.cuh"
#include "specialization.cuh"

namespace vnjit {

constexpr int kSharedBytes = 0;

/// How fast the generator is by itself: each thread makes the noise of its own elements for all
/// seeds, and leaves the exclusive or of all bits, without which none would be made.
__device__ __forceinline__ void noise_rate(const NoiseRateParams& params) {
  const unsigned thread = blockIdx.x * kThreads + threadIdx.x;
  const RateNoise::Place place = RateNoise::place(thread);
  unsigned fold = 0;
#pragma unroll 1
  for (unsigned n = 0; n < params.seeds; ++n) {
    fold ^= RateNoise::fold(RateNoise::keys(params.first_seed + n), place);
  }
  params.folds[thread] = fold;
}

}  // namespace vnjit
