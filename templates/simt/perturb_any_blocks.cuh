#pragma once

#include "simt/perturbed_linear_shared.cuh"

namespace vnjit {

/// Makes the tile of W + sigma*N from the weight tile of a stage. `element` is the noise element
/// of the tile's first weight. Rows start anywhere in the noise stream, so a row of the tile
/// touches one block of 64 more than it is wide, and keeps what falls inside.
__device__ __forceinline__ void perturb_tile(SharedMemory& shared, const Stage& stage,
                                             unsigned long long seed, unsigned long long element,
                                             unsigned long long noise_row_stride, float sigma) {
  constexpr int kRowBlocks = kBlockIn / 64 + 1;
#pragma unroll 1  // the 16 values of an item are enough to overlap
  for (int item = static_cast<int>(threadIdx.x); item < kBlockOut * kRowBlocks * 4;
       item += kThreads) {
    const int lane = item & 3;
    const int row = (item >> 2) % kBlockOut;
    const int nth = (item >> 2) / kBlockOut;
    const unsigned long long first = element + row * noise_row_stride;
    const int start = nth * 64 - static_cast<int>(first & 63);
    float values[16];
    Noise::block(seed, (first >> 6) + nth, lane, values);
#pragma unroll
    for (int n = 0; n < 16; ++n) {
      const int k = start + noise::block_position(lane, n);
      if (k >= 0 && k < kBlockIn) {
        shared.perturbed[k * kPerturbedStride + row] =
            fmaf(sigma, values[n], to_float(stage.weight[row * kWeightStride + k]));
      }
    }
  }
}

}  // namespace vnjit
