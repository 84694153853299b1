#pragma once

#include <algorithm>
#include <cstdint>

#include "noise/noise.cuh"
#include "vnjit/runtime/cpu/vector_clones.hpp"

// Noise in element order, many Philox calls side by side. Each `...Group` type has
//   kAlignment  elements that start where a group may: a group begins at a multiple of it
//   kElements   elements of a group
//   fill(seed, first, values)  the elements first * kAlignment + n, for n < kElements
// The values are those of the contract's value(); only the order of the work differs.
//
// Inner loops run over more than 16 contiguous elements: shorter ones are unrolled before the
// compiler vectorizes, and what it then makes of them is several times slower.

namespace vnjit::cpu {

using noise::u32;
using noise::u64;

constexpr u64 kLow = 0xFFFFFFFFu;

/// Word n of philox4x32(first + call, seed) becomes words[n * kCalls + call]. Words are kept in
/// 64-bit lanes, in which a product needs no packing: twice as fast as 32-bit lanes.
template <int kRounds, int kCalls>
VNJIT_INLINE void philox_calls(u64 seed, u64 first, u32 (&words)[4 * kCalls]) {
  for (int call = 0; call < kCalls; ++call) {
    const u64 counter = first + static_cast<u64>(call);
    u64 x0 = counter & kLow;
    u64 x1 = counter >> 32;
    u64 x2 = 0;
    u64 x3 = 0;
    u64 key0 = seed & kLow;
    u64 key1 = seed >> 32;
#pragma GCC unroll 10
    for (int round = 0; round < kRounds; ++round) {
      const u64 first_product = x0 * 0xD2511F53u;
      const u64 second_product = x2 * 0xCD9E8D57u;
      x0 = (second_product >> 32) ^ x1 ^ key0;
      x1 = second_product & kLow;
      x2 = (first_product >> 32) ^ x3 ^ key1;
      x3 = first_product & kLow;
      key0 = (key0 + 0x9E3779B9u) & kLow;
      key1 = (key1 + 0xBB67AE85u) & kLow;
    }
    words[call] = static_cast<u32>(x0);
    words[kCalls + call] = static_cast<u32>(x1);
    words[2 * kCalls + call] = static_cast<u32>(x2);
    words[3 * kCalls + call] = static_cast<u32>(x3);
  }
}

template <int kRounds>
struct Uniform8Group {
  static constexpr int kAlignment = 64;
  static constexpr int kElements = 256;

  VNJIT_INLINE static void fill(u64 seed, u64 first, float* values) {
    u32 words[64];
    philox_calls<kRounds, 16>(seed, first * 4, words);
    for (int half = 0; half < 2; ++half) {
      float pairs[128];
      for (int n = 0; n < 64; ++n) {
        const u32 bytes = words[n] >> (16 * half);
        pairs[2 * n] = noise::PhiloxUniform8<kRounds>::from_byte(bytes & 255u);
        pairs[2 * n + 1] = noise::PhiloxUniform8<kRounds>::from_byte((bytes >> 8) & 255u);
      }
      for (int sixteenth = 0; sixteenth < 4; ++sixteenth) {
        for (int block = 0; block < 4; ++block) {
          std::copy_n(pairs + 32 * sixteenth + 8 * block, 8,
                      values + 64 * block + 16 * sixteenth + 8 * half);
        }
      }
    }
  }
};

/// Noise of four values a call, of which `Pair` makes two of two words.
template <int kRounds, typename Pair>
struct WordGroup {
  static constexpr int kAlignment = 16;
  static constexpr int kElements = 128;

  VNJIT_INLINE static void fill(u64 seed, u64 first, float* values) {
    u32 words[128];
    philox_calls<kRounds, 32>(seed, first * 4, words);
    for (int half = 0; half < 2; ++half) {
      float pairs[64];
      for (int n = 0; n < 32; ++n) {
        Pair::make(words[64 * half + n], words[64 * half + 32 + n], pairs[2 * n], pairs[2 * n + 1]);
      }
      for (int sixteenth = 0; sixteenth < 8; ++sixteenth) {
        std::copy_n(pairs + 8 * sixteenth, 8, values + 16 * sixteenth + 8 * half);
      }
    }
  }
};

template <int kRounds>
struct UniformPair {
  VNJIT_INLINE static void make(u32 first, u32 second, float& even, float& odd) {
    even = noise::PhiloxUniform<kRounds>::from_word(first);
    odd = noise::PhiloxUniform<kRounds>::from_word(second);
  }
};

struct NormalPair {
  VNJIT_INLINE static void make(u32 first, u32 second, float& even, float& odd) {
    const noise::NormalPair pair = noise::normal_pair(first, second);
    even = pair.even;
    odd = pair.odd;
  }
};

template <int kRounds>
using UniformGroup = WordGroup<kRounds, UniformPair<kRounds>>;
template <int kRounds>
using NormalGroup = WordGroup<kRounds, NormalPair>;

template <int kRounds>
struct RademacherGroup {
  static constexpr int kAlignment = 512;
  static constexpr int kElements = 512;

  VNJIT_INLINE static void fill(u64 seed, u64 first, float* values) {
    u32 words[16];
    philox_calls<kRounds, 4>(seed, first * 4, words);
    for (int word = 0; word < 4; ++word) {
      u32 bits[32];
      for (int n = 0; n < 32; ++n) {
        bits[n] = words[4 * word + ((n >> 1) & 3)] >> (4 * (n >> 4) + 2 * ((n >> 3) & 1) + (n & 1));
      }
      for (int byte = 0; byte < 4; ++byte) {
        for (int n = 0; n < 32; ++n) {
          values[128 * word + 32 * byte + n] =
              noise::PhiloxRademacher<kRounds>::from_bit((bits[n] >> (8 * byte)) & 1u);
        }
      }
    }
  }
};

/// fill_noise for generators that make groups.
template <typename Group>
VNJIT_INLINE void fill_by_groups(u64 seed, u64 offset, std::int64_t count, float* values) {
  constexpr int kElements = Group::kElements;
  constexpr u64 kStep = kElements / Group::kAlignment;
  u64 first = offset / Group::kAlignment;
  const auto skipped = static_cast<std::int64_t>(offset % Group::kAlignment);
  std::int64_t done = 0;
  float part[kElements];
  if (skipped != 0) {
    Group::fill(seed, first, part);
    done = std::min(count, kElements - skipped);
    std::copy_n(part + skipped, done, values);
    first += kStep;
  }
  for (; done + kElements <= count; done += kElements) {
    Group::fill(seed, first, values + done);
    first += kStep;
  }
  if (done < count) {
    Group::fill(seed, first, part);
    std::copy_n(part, count - done, values + done);
  }
}

/// fill_noise for generators whose elements are made one by one.
template <typename Generator>
VNJIT_INLINE void fill_by_elements(u64 seed, u64 offset, std::int64_t count, float* values) {
  for (std::int64_t n = 0; n < count; ++n) {
    values[n] = Generator::value(seed, offset + static_cast<u64>(n));
  }
}

}  // namespace vnjit::cpu
