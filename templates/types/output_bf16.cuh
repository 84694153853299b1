#pragma once

namespace vnjit {

using Output = unsigned short;  // the bits of a bfloat16

__device__ __forceinline__ void store1(Output* y, float value) {
  asm("cvt.rn.bf16.f32 %0, %1;" : "=h"(*y) : "f"(value));
}

/// Past the cache: what is written here is not read again here.
__device__ __forceinline__ void store4(Output* y, float4 values) {
  uint2 packed;
  asm("cvt.rn.bf16x2.f32 %0, %1, %2;" : "=r"(packed.x) : "f"(values.y), "f"(values.x));
  asm("cvt.rn.bf16x2.f32 %0, %1, %2;" : "=r"(packed.y) : "f"(values.w), "f"(values.z));
  __stcs(reinterpret_cast<uint2*>(y), packed);
}

}  // namespace vnjit
