#pragma once

#include "gradient/fragments.cuh"
#include "params/gradient.cuh"
#include "simt/warp_sum.cuh"
#include "specialization.cuh"

namespace vnjit {

/// An individual in shared memory: round keys of its seed, and its fitness as the sums take it.
struct Individual {
  Sums::Keys keys;
  unsigned weight;
};

__device__ __forceinline__ float fitness_of(const GradientParams& params, long long seed) {
  float fitness;
  //@if !antithetic
  fitness = params.fitness[seed];
  //@endif
  //@if antithetic
  fitness = params.fitness[2 * seed] - params.fitness[2 * seed + 1];
  //@endif
  return fitness;
}

//@if fixed_point
/// The bits of the largest magnitude of the whole population's fitness, to all threads of the
/// block; not below kInfinityBits where not all are finite.
__device__ __forceinline__ unsigned largest_fitness(const GradientParams& params,
                                                    unsigned (&warp_bits)[kWarps]) {
  unsigned largest = 0;
  for (long long seed = threadIdx.x; seed < params.seed_count; seed += kThreads) {
    largest = max(largest, __float_as_uint(fitness_of(params, seed)) & kMagnitudeBits);
  }
#pragma unroll
  for (int distance = 16; distance > 0; distance /= 2) {
    largest = max(largest, __shfl_xor_sync(0xffffffffu, largest, distance));
  }
  if (threadIdx.x % 32 == 0) warp_bits[threadIdx.x / 32] = largest;
  __syncthreads();
#pragma unroll
  for (int warp = 0; warp < kWarps; ++warp) largest = max(largest, warp_bits[warp]);
  return largest;
}
//@endif

/// What a seed's individual is made of. A seed that is missing has no fitness.
struct SeedAndFitness {
  unsigned long long seed;
  float fitness;
};

__device__ __forceinline__ SeedAndFitness fetch(const GradientParams& params, long long seed,
                                                long long end) {
  if (seed >= end) return {0, 0.0f};
  return {static_cast<unsigned long long>(params.seeds[seed]), fitness_of(params, seed)};
}

/// Returns the fitness as the sums take it.
__device__ __forceinline__ Sums::Fitness stage(const SeedAndFitness& fetched, int shift,
                                               Individual& individual) {
  const Sums::Fitness fitness = Sums::fitness(fetched.fitness, shift);
  individual.keys = Sums::keys(fetched.seed);
  individual.weight = Sums::weight(fitness);
  return fitness;
}

/// The sum of the threads' values, to all of them.
__device__ __forceinline__ Sums::Fitness sum_over_block(Sums::Fitness value,
                                                        Sums::Fitness (&warp_values)[kWarps]) {
  value = sum_over_warp(value);
  if (threadIdx.x % 32 == 0) warp_values[threadIdx.x / 32] = value;
  __syncthreads();
  Sums::Fitness sum = 0;
#pragma unroll
  for (int warp = 0; warp < kWarps; ++warp) sum += warp_values[warp];
  return sum;
}

}  // namespace vnjit
