#pragma once

#include "noise/shim.cuh"

namespace vnjit::noise {

/// The seed module's CPU generator. Its multiplier is the golden ratio in both steps: this is not
/// the canonical splitmix64 finalizer. Values in [-0.5, 0.5], variance close to 1/12.
struct SplitMix64 {
  using Keys = u64;
  VNJIT_FUNCTION static Keys keys(u64 seed) { return seed; }

  static constexpr u64 kGamma = 0x9E3779B97F4A7C15ull;

  VNJIT_FUNCTION static float value(u64 seed, u64 element) {
    u64 z = seed ^ (element * kGamma);
    z ^= z >> 30;
    z *= kGamma;
    z ^= z >> 27;
    z *= kGamma;
    z ^= z >> 31;
    return static_cast<float>(static_cast<u32>(z)) * 0x1p-32f - 0.5f;
  }
};

}  // namespace vnjit::noise
