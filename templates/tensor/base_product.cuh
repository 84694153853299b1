#pragma once

#include "mma_sync/pipeline.cuh"
#include "mma_sync/product.cuh"
#include "params/perturbed_linear.cuh"
#include "specialization.cuh"
#include "tensor/store_tile.cuh"
#include "tensor/work.cuh"

namespace vnjit {

/// y = x · weight^T + bias, once for all individuals that share X. `pop` is 1.
__device__ __forceinline__ void base_product(const PerturbedLinearParams& params) {
  //@if dependent_launch
  asm volatile("griddepcontrol.launch_dependents;");  // they wait before they read y
  //@endif
  extern __shared__ __align__(1024) unsigned char shared_bytes[];
  SharedMemory& shared = *reinterpret_cast<SharedMemory*>(shared_bytes);
  const int in = static_cast<int>(params.in);
  const Work work(params);
  Pipeline pipeline(shared, params, work, in);
  const int group = group_of_thread();
  for (Index n = work.begin(); n < work.end(); ++n) {
    const Unit unit = work[n];
    Product::Sums sums = {};
#pragma unroll 1
    for (int k = 0; k < in; k += kBlockIn) {
      const Stage& stage = pipeline.wait();
#pragma unroll
      for (int s = 0; s < kStageSteps; ++s) {
        Product::multiply_weight(sums, stage.weight[s], stage.x[s]);
      }
    }
    const Index first_out = unit.first_out + group * kGroupOut;
    TileTarget target = {};
    target.y = static_cast<Output*>(params.y) +
               unit.first_batch * static_cast<Index>(params.y_row_stride) + first_out;
    target.y_row_stride = static_cast<Index>(params.y_row_stride);
    target.rows = static_cast<Index>(params.batch) - unit.first_batch;
    target.columns = static_cast<Index>(params.out) - first_out;
    target.vector = params.vector_y;
    const float* shift = nullptr;
    //@if has_bias
    shift = shared.shift[group];
    sync_group();  // the tile before has read it
    const int column = static_cast<int>(threadIdx.x) % 128;
    if (column < kGroupOut && column < target.columns) {
      shared.shift[group][column] =
          to_float(static_cast<const Input*>(params.bias)[first_out + column]);
    }
    //@endif
    store_tile(sums, 1.0f, nullptr, shared.staging[group], shift, target);
  }
}

}  // namespace vnjit
