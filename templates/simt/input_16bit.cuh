#pragma once

namespace vnjit {

__device__ __forceinline__ float2 load2(const Input* values) {
  const ushort2 bits = *reinterpret_cast<const ushort2*>(values);
  return make_float2(to_float(bits.x), to_float(bits.y));
}

__device__ __forceinline__ float4 load4(const Input* values) {
  const ushort4 bits = *reinterpret_cast<const ushort4*>(values);
  return make_float4(to_float(bits.x), to_float(bits.y), to_float(bits.z), to_float(bits.w));
}

}  // namespace vnjit
