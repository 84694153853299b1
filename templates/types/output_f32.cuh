#pragma once

namespace vnjit {

using Output = float;

__device__ __forceinline__ void store1(Output* y, float value) { *y = value; }

/// Past the cache: what is written here is not read again here.
__device__ __forceinline__ void store4(Output* y, float4 values) {
  __stcs(reinterpret_cast<float4*>(y), values);
}

}  // namespace vnjit
