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

VNJIT_FUNCTION float float_of_bits(u32 bits) {
#ifdef __CUDACC__
  return __uint_as_float(bits);
#else
  return __builtin_bit_cast(float, bits);
#endif
}

VNJIT_FUNCTION u32 bits_of(float value) {
#ifdef __CUDACC__
  return __float_as_uint(value);
#else
  return __builtin_bit_cast(u32, value);
#endif
}

VNJIT_FUNCTION double double_of_bits(u64 bits) {
#ifdef __CUDACC__
  return __longlong_as_double(static_cast<long long>(bits));
#else
  return __builtin_bit_cast(double, bits);
#endif
}

/// `value`, of a magnitude below 2^31, rounded to an integer, halves to the even one.
VNJIT_FUNCTION int nearest_integer(float value) {
#ifdef __CUDACC__
  return __float2int_rn(value);
#else
  return static_cast<int>(__builtin_rintf(value));
#endif
}

/// The square root, rounded to nearest.
VNJIT_FUNCTION float square_root(float value) {
#ifdef __CUDACC__
  return __fsqrt_rn(value);
#else
  return __builtin_sqrtf(value);
#endif
}

/// The square root, rounded to nearest, of a number between 2^-100 and 2^100: there one step of
/// Newton's method from the device's approximation is all it takes.
VNJIT_FUNCTION float square_root_in_range(float value) {
#ifdef __CUDACC__
  float reciprocal;
  asm("rsqrt.approx.ftz.f32 %0, %1;" : "=f"(reciprocal) : "f"(value));
  const float root = __fmul_rn(value, reciprocal);
  const float rest = __fmaf_rn(-root, root, value);
  return __fmaf_rn(rest, __fmul_rn(reciprocal, 0.5f), root);
#else
  return __builtin_sqrtf(value);
#endif
}

/// a * b rounded by itself: a compiler may not make it part of a fused multiply-add.
VNJIT_FUNCTION float multiply(float a, float b) {
#ifdef __CUDACC__
  return __fmul_rn(a, b);
#else
  return a * b;
#endif
}

/// a / b rounded to nearest.
VNJIT_FUNCTION float divide(float a, float b) {
#ifdef __CUDACC__
  return __fdiv_rn(a, b);
#else
  return a / b;
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
