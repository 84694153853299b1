#pragma once

namespace vnjit {

using Input = unsigned short;  // the bits of a bfloat16: the upper half of a binary32

__device__ __forceinline__ float to_float(Input value) {
  return __uint_as_float(static_cast<unsigned>(value) << 16);
}

}  // namespace vnjit

#include "simt/input_16bit.cuh"
