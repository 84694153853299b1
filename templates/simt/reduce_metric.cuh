#pragma once

#include "fragments.cuh"
#include "params/reduce_metric.cuh"
#include "specialization.cuh"

namespace vnjit {

static_assert(kBlockIn == 512, "a warp's lanes own 16 elements each");
constexpr int kSharedBytes = kWarps * static_cast<int>(sizeof(float));

/// A running sum with the rounding error of its last addition (Kahan), so that the error does not
/// grow with the number of parameters.
struct CompensatedSum {
  float sum = 0.0f;
  float error = 0.0f;

  __device__ __forceinline__ void add(float value) {
    const float corrected = value - error;
    const float next = sum + corrected;
    error = (next - sum) - corrected;
    sum = next;
  }
};

/// One thread block computes the mean of one individual; its warps take segments of kBlockIn
/// parameters in turn.
__device__ __forceinline__ void reduce_metric(const ReduceMetricParams& params) {
  extern __shared__ __align__(16) float warp_sums[];

  const long long individual = params.first_block + static_cast<long long>(blockIdx.x);
  float sigma = params.sigma_pointer ? *params.sigma_pointer : params.sigma;
  long long seed_index = individual;
  //@if antithetic
  seed_index = individual / 2;
  if (individual % 2 == 1) sigma = -sigma;
  //@endif
  const auto seed = static_cast<unsigned long long>(params.seeds[seed_index]);
  const Input* center = static_cast<const Input*>(params.center);

  const int warp = static_cast<int>(threadIdx.x) / 32;
  const int lane = static_cast<int>(threadIdx.x) % 32;
  // Segments start at multiples of 64 elements, so the first may begin before the parameters do.
  const long long before = static_cast<long long>(params.offset & 63);
  CompensatedSum total;
  for (long long first = warp * static_cast<long long>(kBlockIn) - before; first < params.params;
       first += kWarps * kBlockIn) {
    float values[16];
    LaneNoise::make(seed, params.offset + static_cast<unsigned long long>(first), lane, values);
    float sum = 0.0f;
#pragma unroll
    for (int n = 0; n < 16; ++n) {
      const long long k = first + LaneNoise::position(lane, n);
      if (k >= 0 && k < params.params) {
        sum += fabsf(fmaf(sigma, values[n], to_float(center[k])));
      }
    }
    total.add(sum);
  }

  float sum = total.sum;
#pragma unroll
  for (int distance = 16; distance > 0; distance /= 2) {
    sum += __shfl_xor_sync(0xffffffffu, sum, distance);
  }
  if (lane == 0) warp_sums[warp] = sum;
  __syncthreads();
  if (threadIdx.x == 0) {
    float all = 0.0f;
    for (int part = 0; part < kWarps; ++part) all += warp_sums[part];
    params.metric[individual] = all / static_cast<float>(params.params);
  }
}

}  // namespace vnjit
