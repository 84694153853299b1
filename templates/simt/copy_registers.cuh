#pragma once

#include "specialization.cuh"

namespace vnjit {

/// Copies of one operand's tile, kRows rows of kBlockIn elements, into rows of kStride elements in
/// shared memory, through registers in pieces of 16 bytes: the loads are on their way between
/// begin and finish. What lies outside the matrix becomes 0.
template <int kRows, int kStride>
struct TileCopy {
  static constexpr int kPiece = kCopyBytes / static_cast<int>(sizeof(Input));
  static constexpr int kRowPieces = kBlockIn / kPiece;
  static constexpr int kPieces = (kRows * kRowPieces + kThreads - 1) / kThreads;

  uint4 pieces[kPieces];

  __device__ __forceinline__ void begin(Input*, const Input* source, Index row_stride, Index rows,
                                        Index columns) {
#pragma unroll
    for (int n = 0; n < kPieces; ++n) {
      const int piece = static_cast<int>(threadIdx.x) + n * kThreads;
      const int row = piece / kRowPieces;
      const int column = piece % kRowPieces * kPiece;
      pieces[n] = uint4{};
      if (row < rows && column < columns) {
        pieces[n] = *reinterpret_cast<const uint4*>(source + row * row_stride + column);
      }
    }
  }

  __device__ __forceinline__ void finish(Input* tile) const {
#pragma unroll
    for (int n = 0; n < kPieces; ++n) {
      const int piece = static_cast<int>(threadIdx.x) + n * kThreads;
      const int row = piece / kRowPieces;
      const int column = piece % kRowPieces * kPiece;
      if (row < kRows) *reinterpret_cast<uint4*>(tile + row * kStride + column) = pieces[n];
    }
  }
};

}  // namespace vnjit
