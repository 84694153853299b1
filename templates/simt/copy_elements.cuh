#pragma once

#include "specialization.cuh"

namespace vnjit {

/// Copies of one operand's tile, kRows rows of kBlockIn elements, into rows of kStride elements in
/// shared memory, an element at a time: for rows of any alignment that cannot be copied in the
/// background. What lies outside the matrix becomes 0.
template <int kRows, int kStride>
struct TileCopy {
  __device__ __forceinline__ void begin(Input* tile, const Input* source, Index row_stride,
                                        Index rows, Index columns) {
#pragma unroll 16  // loads on their way at a time
    for (int n = static_cast<int>(threadIdx.x); n < kRows * kBlockIn; n += kThreads) {
      const int row = n / kBlockIn;
      const int column = n % kBlockIn;
      const bool inside = row < rows && column < columns;
      tile[row * kStride + column] = inside ? source[row * row_stride + column] : Input{};
    }
  }

  __device__ __forceinline__ void finish(Input*) const {}  // begin has written the tile
};

}  // namespace vnjit
