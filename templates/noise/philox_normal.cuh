#pragma once

#include "noise/philox.cuh"

namespace vnjit::noise {

struct NormalPair {
  float even;
  float odd;
};

/// -2 ln(u) for u in [2^-33, 1], and 2^-60 in the place of 0: with u = 2^k (1 + t), 1 + t in
/// [sqrt(1/2), sqrt(2)), it is -2 ln(2) k + t Q(t), where Q is the minimax polynomial of
/// -2 ln(1 + t) / t (relative error 2.6e-8; 1.7e-7 with all rounding).
VNJIT_FUNCTION float minus_two_log(float u) {
  constexpr u32 kRootHalf = 0x3F3504F3u;  // the bits of sqrt(1/2)
  constexpr u32 kExponent = 0xFF800000u;
  constexpr float kLeast = 0x1p-60f;     // no other value is so small that it feels it
  constexpr u32 kInteger = 0x4B400000u;  // a float of these bits plus n is 1.5 * 2^23 + n
  const u32 bits = bits_of(u);
  const u32 above = bits - kRootHalf;
  const int exponent = static_cast<int>(above) >> 23;
  const float k = float_of_bits(kInteger + static_cast<u32>(exponent)) - 0x1.8p23f;
  const float t = float_of_bits(bits - (above & kExponent)) - 1.0f;
  float q = -0x1.654492p-3f;
  q = fused_multiply_add(q, t, 0x1.263ba6p-2f);
  q = fused_multiply_add(q, t, -0x1.3238fp-2f);
  q = fused_multiply_add(q, t, 0x1.5332a4p-2f);
  q = fused_multiply_add(q, t, -0x1.98b748p-2f);
  q = fused_multiply_add(q, t, 0x1.00057p-1f);
  q = fused_multiply_add(q, t, -0x1.555792p-1f);
  q = fused_multiply_add(q, t, 0x1.fffff8p-1f);
  q = fused_multiply_add(q, t, -2.0f);
  return fused_multiply_add(q, t, fused_multiply_add(k, -0x1.62e43p0f, kLeast));
}

/// Cosine and sine of a turn's fraction word / 2^32, by its 25 highest bits, times `radius`. The
/// two highest of word + 2^29 say which quarter turn is the nearest; what is left is x quarter
/// turns, |x| <= 1/2, and minimax polynomials of cos(x pi/2) and sin(x pi/2) / x (relative errors
/// 6e-11 and 3.3e-9 before rounding).
VNJIT_FUNCTION NormalPair on_circle(u32 word, float radius) {
  constexpr u32 kSign = 0x80000000u;
  const u32 turned = word + 0x20000000u;
  const float x = float_of_bits((turned >> 7 & 0x007FFFFFu) | 0x3F800000u) - 1.5f;
  const float y = multiply(x, x);
  float sine = -0x1.2d9302p-8f;
  sine = fused_multiply_add(sine, y, 0x1.465e92p-4f);
  sine = fused_multiply_add(sine, y, -0x1.4abbbap-1f);
  sine = fused_multiply_add(sine, y, 0x1.921fb6p0f);
  sine = multiply(sine, x);
  float cosine = 0x1.d99f54p-11f;
  cosine = fused_multiply_add(cosine, y, -0x1.55c4eap-6f);
  cosine = fused_multiply_add(cosine, y, 0x1.03c1dap-2f);
  cosine = fused_multiply_add(cosine, y, -0x1.3bd3ccp0f);
  cosine = fused_multiply_add(cosine, y, 1.0f);
  // Quarter turn q, bits 31 and 30, makes (c, s) to (c, s), (-s, c), (-c, -s) or (s, -c).
  const u32 low = turned << 1;
  const bool odd = (low & kSign) != 0;
  const u32 first = bits_of(odd ? sine : cosine) ^ ((turned ^ low) & kSign);
  const u32 second = bits_of(odd ? cosine : sine) ^ (turned & kSign);
  return {multiply(radius, float_of_bits(first)), multiply(radius, float_of_bits(second))};
}

/// Two independent standard normal values of two words (Box and Muller, "A note on the generation
/// of random normal deviates", 1958). The radius is that of u = (word + 1/2) / 2^32, rounded: at
/// most sqrt(66 ln 2) = 6.76.
VNJIT_FUNCTION NormalPair normal_pair(u32 radius_word, u32 angle_word) {
  const float u = fused_multiply_add(static_cast<float>(radius_word), 0x1p-32f, 0x1p-33f);
  return on_circle(angle_word, square_root_in_range(minus_two_log(u)));
}

/// Standard normal values, four a call: words 0 and 1 make values 0 and 1, words 2 and 3 values 2
/// and 3; variance 1. Every operation rounds to nearest by itself, fused multiply-adds once, so
/// host and device agree to the bit.
template <int kRounds>
struct PhiloxNormal {
  using Keys = PhiloxKeys<kRounds>;  ///< a seed with its round keys made: where one says `seed`
  VNJIT_FUNCTION static Keys keys(u64 seed) { return philox_keys<kRounds>(seed); }

  VNJIT_FUNCTION static float value(u64 seed, u64 element) {
    const u64 call = (element >> 4) * 4 + fragment_lane(element);
    const PhiloxWords words = philox4x32<kRounds>(call, seed);
    const u32 n = fragment_value(element);
    const NormalPair pair = normal_pair(words.word(n & 2u), words.word(n | 1u));
    return n & 1u ? pair.odd : pair.even;
  }

  /// The 4 values of lane `lane` in the 16 elements of `sixteenth`, in the order of block_position.
  template <typename Seed>
  VNJIT_FUNCTION static void sixteenth(const Seed& seed, u64 sixteenth, u32 lane,
                                       float (&values)[4]) {
    const PhiloxWords words = philox4x32<kRounds>(sixteenth * 4 + lane, seed);
    VNJIT_UNROLL
    for (int n = 0; n < 4; n += 2) {
      const NormalPair pair = normal_pair(words.w[n], words.w[n + 1]);
      values[n] = pair.even;
      values[n + 1] = pair.odd;
    }
  }

  /// The 16 values of lane `lane` in the 64 elements of `block`, in the order of block_position.
  template <typename Seed>
  VNJIT_FUNCTION static void block(const Seed& seed, u64 block, u32 lane, float (&values)[16]) {
    block_of_sixteenths<PhiloxNormal>(seed, block, lane, values);
  }
};

}  // namespace vnjit::noise
