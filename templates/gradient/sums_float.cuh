#pragma once

#include "simt/lane_noise.cuh"
#include "specialization.cuh"

namespace vnjit {

static_assert(kBlockIn == 512, "a lane owns 16 elements");

/// A warp's sums of fitness * noise over a segment of 512 elements, in fp32. Sums of kPlain
/// individuals are added up with the rounding error of each addition carried along (Kahan), so that
/// the error does not grow with the population.
struct Sums {
  using Total = float;
  using Fitness = float;
  using Keys = LaneNoise::Keys;
  static constexpr int kStep = 1;            ///< individuals at a time
  static constexpr int kFlush = 0x7FFFFFFF;  ///< individuals, after which store() is due: never
  static constexpr int kPlain = 64;

  static __device__ __forceinline__ Keys keys(unsigned long long seed) {
    return LaneNoise::keys(seed);
  }
  static __device__ __forceinline__ Fitness fitness(float fitness, int) { return fitness; }
  static __device__ __forceinline__ unsigned weight(Fitness fitness) {
    return __float_as_uint(fitness);
  }

  __device__ __forceinline__ Sums(unsigned long long segment, int lane)
      : place(LaneNoise::place(segment, lane)) {}

  template <typename Individual>
  __device__ __forceinline__ void add(const Individual* individuals, int count, int) {
#pragma unroll 1
    for (int first = 0; first < count; first += kPlain) {
      float sums[16] = {};
#pragma unroll 1
      for (int i = first; i < min(first + kPlain, count); ++i) {
        const Keys keys = individuals[i].keys;
        const float fitness = __uint_as_float(individuals[i].weight);
        float values[16];
        LaneNoise::make(keys, place, values);
#pragma unroll
        for (int n = 0; n < 16; ++n) sums[n] = fmaf(fitness, values[n], sums[n]);
      }
#pragma unroll
      for (int n = 0; n < 16; ++n) {
        const float corrected = sums[n] - errors[n];
        const float next = totals[n] + corrected;
        errors[n] = (next - totals[n]) - corrected;
        totals[n] = next;
      }
    }
  }

  /// Adds the sums to `all`, in the order of the elements.
  __device__ __forceinline__ void store(int lane, Total* all) const {
#pragma unroll
    for (int n = 0; n < 16; ++n) all[LaneNoise::position(lane, n)] += totals[n];
  }

  /// What store() left out: the constant part of each value.
  static __device__ __forceinline__ Total centred(Total total, Fitness fitness_sum) {
    return fmaf(LaneNoise::kOffset, fitness_sum, LaneNoise::kUnit * total);
  }

  /// What makes the gradient of a total, but for the scale.
  static __device__ __forceinline__ double unit(int) { return 1.0; }

  LaneNoise::Place place;
  float totals[16] = {};
  float errors[16] = {};
};

}  // namespace vnjit
