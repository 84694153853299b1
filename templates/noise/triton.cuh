#pragma once

#include "noise/philox.cuh"

namespace vnjit::noise {

/// The seed module's GPU generator, `tl.rand(seed, element) - 0.5` of Triton: Philox4x32-10 with
/// one word of four kept, and the seed narrowed to 32 bits. Values in [-0.5, 0.5].
struct Triton {
  VNJIT_FUNCTION static float value(u64 seed, u64 element) {
    const u64 key = static_cast<u64>(static_cast<long long>(static_cast<int>(seed)));
    const int word = static_cast<int>(philox4x32<10>(element, key).w[0]);
    const int magnitude = word < 0 ? -word - 1 : word;
    return fused_multiply_add(static_cast<float>(magnitude), 4.6566127342e-10f, -0.5f);
  }
};

}  // namespace vnjit::noise
