#pragma once

// The generator puts the wrappers of the one matrix instruction that a kernel uses here. These are
// samples: with them an editor and a compiler take every template as it is.

namespace vnjit {

__device__ __forceinline__ void mma(float*, const unsigned*, const unsigned*) {}
__device__ __forceinline__ void wgmma_registers(float*, const unsigned*, unsigned long long) {}
__device__ __forceinline__ void wgmma_shared(float*, unsigned long long, unsigned long long) {}

}  // namespace vnjit
