#pragma once

// What host and device spell differently. No standard headers: run-time compilers have none.

#ifdef __CUDACC__
#define VNJIT_FUNCTION __device__ __forceinline__
#define VNJIT_UNROLL _Pragma("unroll")
#else
#define VNJIT_FUNCTION [[gnu::always_inline]] inline
#define VNJIT_UNROLL _Pragma("GCC unroll 16")
#endif

namespace vnjit::noise {

using u32 = unsigned;
using u64 = unsigned long long;

struct WideProduct {
  u32 low;
  u32 high;
};

/// The 64-bit product of two 32-bit words. On the device as one mul.wide: `(u64)a * b` followed
/// by `>> 32` costs two dead instructions a Philox round.
VNJIT_FUNCTION WideProduct multiply_wide(u32 a, u32 b) {
#ifdef __CUDACC__
  WideProduct product;
  asm("{ .reg .b64 t; mul.wide.u32 t, %2, %3; mov.b64 {%0, %1}, t; }"
      : "=r"(product.low), "=r"(product.high)
      : "r"(a), "r"(b));
  return product;
#else
  const u64 product = static_cast<u64>(a) * b;
  return {static_cast<u32>(product), static_cast<u32>(product >> 32)};
#endif
}

/// a * b + c rounded once.
VNJIT_FUNCTION float fused_multiply_add(float a, float b, float c) {
#ifdef __CUDACC__
  return __fmaf_rn(a, b, c);
#else
  return __builtin_fmaf(a, b, c);
#endif
}

}  // namespace vnjit::noise
