#pragma once

namespace vnjit {

using Input = float;

__device__ __forceinline__ float to_float(Input value) { return value; }

__device__ __forceinline__ float2 load2(const Input* values) {
  return *reinterpret_cast<const float2*>(values);
}

__device__ __forceinline__ float4 load4(const Input* values) {
  return *reinterpret_cast<const float4*>(values);
}

}  // namespace vnjit
