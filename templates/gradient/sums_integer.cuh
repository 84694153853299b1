#pragma once

#include "gradient/fixed_point.cuh"
#include "simt/lane_noise.cuh"
#include "specialization.cuh"

namespace vnjit {

static_assert(kBlockIn == 512, "a lane owns 16 elements");

/// A warp's sums of fitness * noise over a segment of 512 elements, in integers: whole numbers of
/// Noise::kUnit, the same as a matrix product makes.
struct Sums {
  using Total = long long;
  using Fitness = long long;
  using Keys = LaneNoise::Keys;
  static constexpr int kStep = 1;            ///< individuals at a time
  static constexpr int kFlush = 0x7FFFFFFF;  ///< individuals, after which store() is due: never

  static __device__ __forceinline__ Keys keys(unsigned long long seed) {
    return LaneNoise::keys(seed);
  }
  static __device__ __forceinline__ Fitness fitness(float fitness, int shift) {
    return fixed_point(fitness, shift);
  }
  static __device__ __forceinline__ unsigned weight(Fitness fitness) {
    return static_cast<unsigned>(fitness);
  }

  __device__ __forceinline__ Sums(unsigned long long segment, int lane)
      : place(LaneNoise::place(segment, lane)) {}

  template <typename Individual>
  __device__ __forceinline__ void add(const Individual* individuals, int count, int) {
#pragma unroll 1
    for (int i = 0; i < count; ++i) {
      const Keys keys = individuals[i].keys;
      const int fitness = static_cast<int>(individuals[i].weight);
      float values[16];
      LaneNoise::make(keys, place, values);
#pragma unroll
      for (int n = 0; n < 16; ++n) {
        const float value = fmaf(LaneNoise::kUnit, values[n], LaneNoise::kOffset);
        totals[n] += static_cast<long long>(fitness) * __float2int_rn(value / Noise::kUnit);
      }
    }
  }

  /// Adds the sums to `all`, in the order of the elements.
  __device__ __forceinline__ void store(int lane, Total* all) const {
#pragma unroll
    for (int n = 0; n < 16; ++n) all[LaneNoise::position(lane, n)] += totals[n];
  }

  /// store() left nothing out.
  static __device__ __forceinline__ Total centred(Total total, Fitness) { return total; }

  /// What makes the gradient of a total in fixed point.
  static __device__ __forceinline__ double unit(int shift) {
    return fixed_point_unit(shift) * static_cast<double>(Noise::kUnit);
  }

  LaneNoise::Place place;
  Total totals[16] = {};
};

}  // namespace vnjit
