#pragma once

#include "simt/perturbed_linear_shared.cuh"

namespace vnjit {

/// Makes the tile of W + sigma*N from the weight tile of a stage. `element` is the noise element
/// of the tile's first weight; every row starts at a multiple of 64.
__device__ __forceinline__ void perturb_tile(SharedMemory& shared, const Stage& stage,
                                             unsigned long long seed, unsigned long long element,
                                             unsigned long long noise_row_stride, float sigma) {
  constexpr int kRowBlocks = kBlockIn / 64;
#pragma unroll 1  // the 16 values of an item are enough to overlap
  for (int item = static_cast<int>(threadIdx.x); item < kBlockOut * kRowBlocks * 4;
       item += kThreads) {
    const int lane = item & 3;
    const int row = (item >> 2) % kBlockOut;
    const int nth = (item >> 2) / kBlockOut;
    const unsigned long long block = ((element + row * noise_row_stride) >> 6) + nth;
    float values[16];
    Noise::block(seed, block, lane, values);
#pragma unroll
    for (int n = 0; n < 16; n += 2) {
      const int k = nth * 64 + noise::block_position(lane, n);
      const float2 weight = load2(&stage.weight[row * kWeightStride + k]);
      float* perturbed = &shared.perturbed[k * kPerturbedStride + row];
      perturbed[0] = fmaf(sigma, values[n], weight.x);
      perturbed[kPerturbedStride] = fmaf(sigma, values[n + 1], weight.y);
    }
  }
}

}  // namespace vnjit
