#pragma once

#include "simt/perturbed_linear_shared.cuh"

namespace vnjit {

/// Makes the tile of W + sigma*N from the weight tile of a stage. `element` is the noise element
/// of the tile's first weight. The generator makes one element at a time.
__device__ __forceinline__ void perturb_tile(SharedMemory& shared, const Stage& stage,
                                             unsigned long long seed, unsigned long long element,
                                             unsigned long long noise_row_stride, float sigma) {
#pragma unroll 4  // more in flight at once would not fit the registers
  for (int item = static_cast<int>(threadIdx.x); item < kBlockOut * kBlockIn; item += kThreads) {
    const int row = item % kBlockOut;
    const int k = item / kBlockOut;
    const float value = Noise::value(seed, element + row * noise_row_stride + k);
    shared.perturbed[k * kPerturbedStride + row] =
        fmaf(sigma, value, to_float(stage.weight[row * kWeightStride + k]));
  }
}

}  // namespace vnjit
