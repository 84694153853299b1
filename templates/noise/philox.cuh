#pragma once

#include "noise/shim.cuh"

namespace vnjit::noise {

struct PhiloxWords {
  u32 w[4];

  /// Word n, 0..3, selected: on a GPU an index known only at run time moves an array to memory.
  VNJIT_FUNCTION u32 word(u32 n) const {
    const u32 low = (n & 1u) ? w[1] : w[0];
    const u32 high = (n & 1u) ? w[3] : w[2];
    return (n & 2u) ? high : low;
  }
};

/// A key with what it contributes to each round made: two words a round.
template <int kRounds>
struct alignas(16) PhiloxKeys {
  u32 words[2 * kRounds];
};

struct PhiloxRoundKey {
  u32 low;
  u32 high;
};

VNJIT_FUNCTION PhiloxRoundKey philox_round_key(u64 key, int round) {
  return {static_cast<u32>(key) + static_cast<u32>(round) * 0x9E3779B9u,
          static_cast<u32>(key >> 32) + static_cast<u32>(round) * 0xBB67AE85u};
}

template <int kRounds>
VNJIT_FUNCTION PhiloxRoundKey philox_round_key(const PhiloxKeys<kRounds>& keys, int round) {
  return {keys.words[2 * round], keys.words[2 * round + 1]};
}

template <int kRounds>
VNJIT_FUNCTION PhiloxKeys<kRounds> philox_keys(u64 key) {
  PhiloxKeys<kRounds> keys;
  VNJIT_UNROLL
  for (int round = 0; round < kRounds; ++round) {
    keys.words[2 * round] = philox_round_key(key, round).low;
    keys.words[2 * round + 1] = philox_round_key(key, round).high;
  }
  return keys;
}

constexpr u32 kPhiloxFirst = 0xD2511F53u;
constexpr u32 kPhiloxSecond = 0xCD9E8D57u;

/// philox4x32 of a counter of which the product of the low word and kPhiloxFirst is known, and the
/// high word.
template <int kRounds, typename Key>
VNJIT_FUNCTION PhiloxWords philox4x32_of_product(WideProduct product, u32 high, const Key& key) {
  PhiloxRoundKey round_key = philox_round_key(key, 0);
  u32 x0 = high ^ round_key.low;
  u32 x1 = 0;
  u32 x2 = product.high ^ round_key.high;
  u32 x3 = product.low;
  VNJIT_UNROLL
  for (int round = 1; round < kRounds; ++round) {
    const WideProduct first = multiply_wide(x0, kPhiloxFirst);
    const WideProduct second = multiply_wide(x2, kPhiloxSecond);
    round_key = philox_round_key(key, round);
    x0 = second.high ^ x1 ^ round_key.low;
    x1 = second.low;
    x2 = first.high ^ x3 ^ round_key.high;
    x3 = first.low;
  }
  return {{x0, x1, x2, x3}};
}

/// Philox4x32 (Salmon et al., "Parallel random numbers: as easy as 1, 2, 3", 2011) of the counter
/// (low32(counter), high32(counter), 0, 0) under the key (low32(key), high32(key)), given as 64
/// bits or as PhiloxKeys.
template <int kRounds, typename Key>
VNJIT_FUNCTION PhiloxWords philox4x32(u64 counter, const Key& key) {
  return philox4x32_of_product<kRounds>(multiply_wide(static_cast<u32>(counter), kPhiloxFirst),
                                        static_cast<u32>(counter >> 32), key);
}

// One call is one lane's share of a 16-bit m16k16 matrix fragment: lane c of the four that share
// a row holds k = 2c, 2c+1, 2c+8, 2c+9 of each 16 elements. Its four values of a 16 are numbered
// 0..3 in that order.

/// The lane, 0..3, whose call makes `element`.
VNJIT_FUNCTION u32 fragment_lane(u64 element) { return static_cast<u32>(element >> 1) & 3u; }

/// The number, 0..3, of `element` among its lane's four values of its 16.
VNJIT_FUNCTION u32 fragment_value(u64 element) {
  return (static_cast<u32>(element >> 3) & 1u) * 2u + (static_cast<u32>(element) & 1u);
}

/// Where lane `lane`'s n-th value (n = 4*sixteenth + value) lies in its block of 64 elements.
VNJIT_FUNCTION constexpr int block_position(int lane, int n) {
  return (n >> 2) * 16 + 2 * lane + (n & 1) + 8 * ((n >> 1) & 1);
}

/// The 16 values of lane `lane` in the 64 elements of `block`, in the order of block_position, of
/// noise that makes 4 a call.
template <typename Noise, typename Seed>
VNJIT_FUNCTION void block_of_sixteenths(const Seed& seed, u64 block, u32 lane,
                                        float (&values)[16]) {
  VNJIT_UNROLL
  for (int q = 0; q < 4; ++q) {
    float quarter[4];
    Noise::sixteenth(seed, block * 4 + static_cast<u64>(q), lane, quarter);
    VNJIT_UNROLL
    for (int n = 0; n < 4; ++n) {
      values[4 * q + n] = quarter[n];
    }
  }
}

}  // namespace vnjit::noise
