#pragma once

#include "noise/philox.cuh"

namespace vnjit::noise {

/// Signs, +1 or -1, 128 a call: variance 1.
template <int kRounds>
struct PhiloxRademacher {
  using Keys = PhiloxKeys<kRounds>;  ///< a seed with its round keys made: where one says `seed`
  VNJIT_FUNCTION static Keys keys(u64 seed) { return philox_keys<kRounds>(seed); }

  // A value is (2 * bits - kCentre) * kUnit, where `bits` are one bit of a call's words.
  static constexpr int kPhiloxRounds = kRounds;
  static constexpr int kValueBits = 1;
  static constexpr int kCentre = 1;
  static constexpr float kUnit = 1.0f;

  VNJIT_FUNCTION static float from_bit(u32 bit) { return static_cast<float>(bit) * 2.0f - 1.0f; }

  VNJIT_FUNCTION static float value(u64 seed, u64 element) {
    const u64 call = (element >> 9) * 4 + fragment_lane(element);
    const u32 bit = (static_cast<u32>(element >> 4) & 31u) * 4u + fragment_value(element);
    const u32 word = philox4x32<kRounds>(call, seed).word(bit >> 5);
    return from_bit((word >> (bit & 31u)) & 1u);
  }

  /// The 4 values of lane `lane` in the 16 elements of `sixteenth`, in the order of block_position.
  template <typename Seed>
  VNJIT_FUNCTION static void sixteenth(const Seed& seed, u64 sixteenth, u32 lane,
                                       float (&values)[4]) {
    const PhiloxWords words = philox4x32<kRounds>((sixteenth >> 5) * 4 + lane, seed);
    const u32 nibble = static_cast<u32>(sixteenth) & 31u;
    const u32 bits = words.word(nibble >> 3) >> (4u * (nibble & 7u));
    VNJIT_UNROLL
    for (int n = 0; n < 4; ++n) {
      values[n] = from_bit((bits >> n) & 1u);
    }
  }

  /// The 16 values of lane `lane` in the 64 elements of `block`, in the order of block_position.
  template <typename Seed>
  VNJIT_FUNCTION static void block(const Seed& seed, u64 block, u32 lane, float (&values)[16]) {
    const PhiloxWords words = philox4x32<kRounds>((block >> 3) * 4 + lane, seed);
    const u32 eighth = static_cast<u32>(block) & 7u;
    const u32 bits = words.word(eighth >> 1) >> (16u * (eighth & 1u));
    VNJIT_UNROLL
    for (int n = 0; n < 16; ++n) {
      values[n] = from_bit((bits >> n) & 1u);
    }
  }
};

}  // namespace vnjit::noise
