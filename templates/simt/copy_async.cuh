#pragma once

#include "specialization.cuh"

namespace vnjit {

/// Copies of one operand's tile, kRows rows of kBlockIn elements, into rows of kStride elements in
/// shared memory, in the background (cp.async, sm_80). What lies outside the matrix becomes 0.
template <int kRows, int kStride>
struct TileCopy {
  __device__ __forceinline__ void begin(Input* tile, const Input* source, Index row_stride,
                                        Index rows, Index columns) {
    constexpr int kPiece = kCopyBytes / static_cast<int>(sizeof(Input));
    constexpr int kRowPieces = kBlockIn / kPiece;
#pragma unroll 2  // more makes the kernel no faster, but slower to compile
    for (int piece = static_cast<int>(threadIdx.x); piece < kRows * kRowPieces; piece += kThreads) {
      const int row = piece / kRowPieces;
      const int column = piece % kRowPieces * kPiece;
      const bool inside = row < rows && column < columns;
      // Outside, a valid address that is not read: with 0 source bytes the copy writes zeros.
      const Input* from = inside ? source + row * row_stride + column : source;
      const unsigned to =
          static_cast<unsigned>(__cvta_generic_to_shared(tile + row * kStride + column));
      asm volatile("cp.async.ca.shared.global [%0], [%1], %2, %3;" ::"r"(to), "l"(from),
                   "n"(kCopyBytes), "r"(inside ? kCopyBytes : 0)
                   : "memory");
    }
  }

  __device__ __forceinline__ void finish(Input*) const {}  // nothing passes through this thread
};

/// Closes a group of copies: those begun since the last one.
__device__ __forceinline__ void commit_copies() {
  asm volatile("cp.async.commit_group;" ::: "memory");
}

/// Waits until at most kPending groups are still on their way.
template <int kPending>
__device__ __forceinline__ void wait_for_copies() {
  asm volatile("cp.async.wait_group %0;" ::"n"(kPending) : "memory");
}

}  // namespace vnjit
