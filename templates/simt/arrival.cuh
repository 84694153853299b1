#pragma once

namespace vnjit {

/// Whether the other `count` - 1 thread blocks that count on `counter`, 0 at first, have called
/// this before: then what they wrote to memory is there. For all threads of a block together;
/// `arrived` is in shared memory.
__device__ __forceinline__ bool is_last_to_arrive(unsigned* counter, unsigned count,
                                                  unsigned& arrived) {
  __threadfence();
  __syncthreads();
  if (threadIdx.x == 0) arrived = atomicAdd(counter, 1u) + 1;
  __syncthreads();
  __threadfence();
  return arrived == count;
}

}  // namespace vnjit
