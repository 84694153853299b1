#pragma once

#include "tensor/shared_memory.cuh"

namespace vnjit {

// Which output is which row of a fragment. A group of four warps has 64 outputs, a warp 16 of
// them, and lane l of a warp has rows l / 4 and l / 4 + 8 of its fragments.

__device__ __forceinline__ int group_of_thread() { return static_cast<int>(threadIdx.x) / 128; }
__device__ __forceinline__ int warp_of_group() { return static_cast<int>(threadIdx.x) / 32 % 4; }

/// First output, of the block's, of this thread's group.
__device__ __forceinline__ int group_first_row() { return group_of_thread() * kGroupOut; }

/// Output, of the group's, of row `row` of this warp's fragments.
__device__ __forceinline__ int fragment_row(int row) {
  int result = warp_of_group() * 16 + row;
  //@if interleaved_rows
  result = row * 4 + warp_of_group();  // rows 4 apart start alike inside their 64 noise elements
  //@endif
  return result;
}

}  // namespace vnjit
