#pragma once

#include "noise/philox.cuh"

namespace vnjit::noise {

/// 23-bit symmetric uniform values in (-0.5, 0.5), four a call: variance (1 - 2^-46) / 12.
template <int kRounds>
struct PhiloxUniform {
  VNJIT_FUNCTION static float from_word(u32 word) {
    return (static_cast<float>(word >> 9) + 0.5f) * 0x1p-23f - 0.5f;
  }

  VNJIT_FUNCTION static float value(u64 seed, u64 element) {
    const u64 call = (element >> 4) * 4 + fragment_lane(element);
    return from_word(philox4x32<kRounds>(call, seed).word(fragment_value(element)));
  }

  /// The 16 values of lane `lane` in the 64 elements of `block`, in the order of block_position.
  VNJIT_FUNCTION static void block(u64 seed, u64 block, u32 lane, float (&values)[16]) {
    VNJIT_UNROLL
    for (int sixteenth = 0; sixteenth < 4; ++sixteenth) {
      const u64 call = (block * 4 + static_cast<u64>(sixteenth)) * 4 + lane;
      const PhiloxWords words = philox4x32<kRounds>(call, seed);
      VNJIT_UNROLL
      for (int n = 0; n < 4; ++n) {
        values[4 * sixteenth + n] = from_word(words.w[n]);
      }
    }
  }
};

}  // namespace vnjit::noise
