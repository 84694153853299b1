#pragma once

namespace vnjit {

/// The sum over the lanes of a warp, to all of them.
template <typename T>
__device__ __forceinline__ T sum_over_warp(T value) {
#pragma unroll
  for (int distance = 16; distance > 0; distance /= 2) {
    value += __shfl_xor_sync(0xffffffffu, value, distance);
  }
  return value;
}

}  // namespace vnjit
