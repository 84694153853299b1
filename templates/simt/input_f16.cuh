#pragma once

namespace vnjit {

using Input = unsigned short;  // the bits of an IEEE binary16

__device__ __forceinline__ float to_float(Input value) {
  float result;
  asm("cvt.f32.f16 %0, %1;" : "=f"(result) : "h"(value));
  return result;
}

}  // namespace vnjit

#include "simt/input_16bit.cuh"
