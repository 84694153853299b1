#pragma once

namespace vnjit {

using Input = unsigned short;  // the bits of an IEEE binary16

__device__ __forceinline__ float to_float(Input value) {
  float result;
  asm("cvt.f32.f16 %0, %1;" : "=f"(result) : "h"(value));
  return result;
}

__device__ __forceinline__ float2 load2(const Input* values) {
  const ushort2 bits = *reinterpret_cast<const ushort2*>(values);
  return make_float2(to_float(bits.x), to_float(bits.y));
}

__device__ __forceinline__ float4 load4(const Input* values) {
  const ushort4 bits = *reinterpret_cast<const ushort4*>(values);
  return make_float4(to_float(bits.x), to_float(bits.y), to_float(bits.z), to_float(bits.w));
}

}  // namespace vnjit
