#pragma once

#include "fragments.cuh"
#include "params/gradient.cuh"
#include "specialization.cuh"

namespace vnjit {

static_assert(kBlockIn == 512, "a warp's lanes own 16 elements each");
constexpr int kSharedBytes = kWarps * kBlockIn * static_cast<int>(sizeof(float));

/// One thread block sums fitness*noise of a segment of kBlockIn parameters of one row. The warps
/// share the population, each a contiguous part, and their sums are added in the order of the
/// warps: the same bits in every run.
__device__ __forceinline__ void gradient(const GradientParams& params) {
  extern __shared__ __align__(16) float partial_sums[];

  const long long block = params.first_block + static_cast<long long>(blockIdx.x);
  const long long row = block / params.row_segments;
  const unsigned long long row_element =
      params.offset + static_cast<unsigned long long>(row) * params.noise_row_stride;
  // Segments start at multiples of 64 elements, so the first may begin before the row does.
  const long long first_column =
      block % params.row_segments * kBlockIn - static_cast<long long>(row_element & 63);
  const unsigned long long segment = row_element + static_cast<unsigned long long>(first_column);

  const int warp = static_cast<int>(threadIdx.x) / 32;
  const int lane = static_cast<int>(threadIdx.x) % 32;
  const long long share = (params.seed_count + kWarps - 1) / kWarps;
  const long long last = min((warp + 1) * share, params.seed_count);
  float sums[16] = {};
  for (long long i = warp * share; i < last; ++i) {
    float fitness;
    //@if !antithetic
    fitness = params.fitness[i];
    //@endif
    //@if antithetic
    fitness = params.fitness[2 * i] - params.fitness[2 * i + 1];
    //@endif
    float values[16];
    LaneNoise::make(static_cast<unsigned long long>(params.seeds[i]), segment, lane, values);
#pragma unroll
    for (int n = 0; n < 16; ++n) sums[n] = fmaf(fitness, values[n], sums[n]);
  }
#pragma unroll
  for (int n = 0; n < 16; ++n) {
    partial_sums[warp * kBlockIn + LaneNoise::position(lane, n)] = sums[n];
  }
  __syncthreads();

  const float sigma = params.sigma_pointer ? *params.sigma_pointer : params.sigma;
  float* output = params.output + row * params.output_row_stride;
  for (int n = static_cast<int>(threadIdx.x); n < kBlockIn; n += kThreads) {
    const long long column = first_column + n;
    if (column >= 0 && column < params.columns) {
      float sum = 0.0f;
#pragma unroll
      for (int part = 0; part < kWarps; ++part) sum += partial_sums[part * kBlockIn + n];
      output[column] = sum * (params.scale / sigma);
    }
  }
}

}  // namespace vnjit
