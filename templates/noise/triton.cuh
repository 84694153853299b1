#pragma once

#include "noise/philox.cuh"

namespace vnjit::noise {

/// The seed module's GPU generator, `tl.rand(seed, element) - 0.5` of Triton: Philox4x32-10 with
/// one word of four kept, and the seed narrowed to 32 bits. Values in [-0.5, 0.5].
struct Triton {
  using Keys = u64;  ///< a seed narrowed
  VNJIT_FUNCTION static Keys keys(u64 seed) {
    return static_cast<u64>(static_cast<long long>(static_cast<int>(seed)));
  }

  VNJIT_FUNCTION static float from_word(u32 bits) {
    const int word = static_cast<int>(bits);
    const int magnitude = word < 0 ? -word - 1 : word;
    return fused_multiply_add(static_cast<float>(magnitude), 4.6566127342e-10f, -0.5f);
  }

  VNJIT_FUNCTION static float value(u64 seed, u64 element) {
    return from_word(philox4x32<10>(element, keys(seed)).w[0]);
  }

  /// The value of an element below 2^32 whose product with kPhiloxFirst is known: elements at fixed
  /// distances share one multiplication.
  VNJIT_FUNCTION static float value_of_product(Keys key, u64 product) {
    const WideProduct words = {static_cast<u32>(product), static_cast<u32>(product >> 32)};
    return from_word(philox4x32_of_product<10>(words, 0, key).w[0]);
  }
};

}  // namespace vnjit::noise
