#pragma once

namespace vnjit {

/// `value`, the same in all lanes of the warp, in a form in which the compiler can tell: round keys
/// that follow from it then take less of the registers and of the integer units.
__device__ __forceinline__ unsigned long long uniform(unsigned long long value) {
  const unsigned low = __reduce_or_sync(~0u, static_cast<unsigned>(value));
  const unsigned high = __reduce_or_sync(~0u, static_cast<unsigned>(value >> 32));
  return static_cast<unsigned long long>(high) << 32 | low;
}

}  // namespace vnjit
