#pragma once

#include "noise/philox.cuh"

namespace vnjit::noise {

/// 23-bit symmetric uniform values in (-0.5, 0.5), four a call: variance (1 - 2^-46) / 12.
template <int kRounds>
struct PhiloxUniform {
  using Keys = PhiloxKeys<kRounds>;  ///< a seed with its round keys made: where one says `seed`
  VNJIT_FUNCTION static Keys keys(u64 seed) { return philox_keys<kRounds>(seed); }

  static constexpr int kPhiloxRounds = kRounds;

  /// (float(word >> 9) + 0.5) * 2^-23 - 0.5 without the last bit, 2^-24.
  VNJIT_FUNCTION static float truncated(u32 word) {
    return float_of_bits(word >> 9 | 0x3F800000u) - 1.5f;
  }

  VNJIT_FUNCTION static float from_word(u32 word) { return truncated(word) + kLastBit; }
  static constexpr float kLastBit = 0x1p-24f;

  VNJIT_FUNCTION static float value(u64 seed, u64 element) {
    const u64 call = (element >> 4) * 4 + fragment_lane(element);
    return from_word(philox4x32<kRounds>(call, seed).word(fragment_value(element)));
  }

  /// The 4 values of lane `lane` in the 16 elements of `sixteenth`, in the order of block_position.
  template <typename Seed>
  VNJIT_FUNCTION static void sixteenth(const Seed& seed, u64 sixteenth, u32 lane,
                                       float (&values)[4]) {
    const PhiloxWords words = philox4x32<kRounds>(sixteenth * 4 + lane, seed);
    VNJIT_UNROLL
    for (int n = 0; n < 4; ++n) {
      values[n] = from_word(words.w[n]);
    }
  }

  /// The 16 values of lane `lane` in the 64 elements of `block`, in the order of block_position.
  template <typename Seed>
  VNJIT_FUNCTION static void block(const Seed& seed, u64 block, u32 lane, float (&values)[16]) {
    block_of_sixteenths<PhiloxUniform>(seed, block, lane, values);
  }
};

}  // namespace vnjit::noise
