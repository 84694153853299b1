#pragma once

#include "noise/philox.cuh"

namespace vnjit::noise {

/// 8-bit symmetric uniform values (byte - 127.5) / 256, sixteen a call: variance (1 - 2^-16) / 12.
template <int kRounds>
struct PhiloxUniform8 {
  using Keys = PhiloxKeys<kRounds>;  ///< a seed with its round keys made: where one says `seed`
  VNJIT_FUNCTION static Keys keys(u64 seed) { return philox_keys<kRounds>(seed); }

  // A value is (2 * bits - kCentre) * kUnit, where `bits` are a byte of a call's words.
  static constexpr int kPhiloxRounds = kRounds;
  static constexpr int kValueBits = 8;
  static constexpr int kCentre = 255;
  static constexpr float kUnit = 0x1p-9f;

  VNJIT_FUNCTION static float from_byte(u32 byte) {
    return (static_cast<float>(byte) - 127.5f) * 0x1p-8f;
  }

  VNJIT_FUNCTION static float value(u64 seed, u64 element) {
    const u64 call = (element >> 6) * 4 + fragment_lane(element);
    const u32 word = philox4x32<kRounds>(call, seed).word(static_cast<u32>(element >> 4) & 3u);
    return from_byte((word >> (8 * fragment_value(element))) & 255u);
  }

  /// The 16 bytes, in the order of block_position, that call `call` makes.
  template <typename Seed>
  VNJIT_FUNCTION static PhiloxWords words(u64 call, const Seed& seed) {
    return philox4x32<kRounds>(call, seed);
  }

  /// The 4 values of lane `lane` in the 16 elements of `sixteenth`, in the order of block_position.
  template <typename Seed>
  VNJIT_FUNCTION static void sixteenth(const Seed& seed, u64 sixteenth, u32 lane,
                                       float (&values)[4]) {
    const u32 word =
        words((sixteenth >> 2) * 4 + lane, seed).word(static_cast<u32>(sixteenth) & 3u);
    VNJIT_UNROLL
    for (int n = 0; n < 4; ++n) {
      values[n] = from_byte((word >> (8 * n)) & 255u);
    }
  }

  /// The 16 values of lane `lane` in the 64 elements of `block`, in the order of block_position.
  template <typename Seed>
  VNJIT_FUNCTION static void block(const Seed& seed, u64 block, u32 lane, float (&values)[16]) {
    const PhiloxWords made = words(block * 4 + lane, seed);
    VNJIT_UNROLL
    for (int n = 0; n < 16; ++n) {
      values[n] = from_byte((made.w[n >> 2] >> (8 * (n & 3))) & 255u);
    }
  }
};

}  // namespace vnjit::noise
