#pragma once

#include <algorithm>
#include <cstdint>

#include "noise/noise.cuh"
#include "vnjit/runtime/cpu/vector_clones.hpp"

// Noise in element order, several Philox calls side by side. Each `...Blocks` type has
//   kElements   elements of one block: the least run of elements that whole calls make
//   kTogether   blocks that the main loop makes at once, so that calls fill a vector register
//   fill<kBlocks>(seed, block, values)   values of blocks block, block + 1, ...
// The values are those of the contract's value(); only the order of the work differs.

namespace vnjit::cpu {

using noise::u32;
using noise::u64;

/// words[n][c] = word n of call first + c.
template <int kRounds, int kCalls>
VNJIT_INLINE void philox_calls(u64 seed, u64 first, u32 (&words)[4][kCalls]) {
  for (int call = 0; call < kCalls; ++call) {
    const noise::PhiloxWords made =
        noise::philox4x32<kRounds>(first + static_cast<u64>(call), seed);
    words[0][call] = made.w[0];
    words[1][call] = made.w[1];
    words[2][call] = made.w[2];
    words[3][call] = made.w[3];
  }
}

template <int kRounds>
struct Uniform8Blocks {
  static constexpr int kElements = 64;
  static constexpr int kTogether = 4;

  template <int kBlocks>
  VNJIT_INLINE static void fill(u64 seed, u64 block, float* values) {
    u32 words[4][4 * kBlocks];
    philox_calls<kRounds>(seed, block * 4, words);
    for (int sixteenth = 0; sixteenth < 4; ++sixteenth) {
      for (int b = 0; b < kBlocks; ++b) {
        float* out = values + 64 * b + 16 * sixteenth;
        for (int n = 0; n < 16; ++n) {
          const u32 word = words[sixteenth][4 * b + ((n >> 1) & 3)];
          const int shift = 16 * (n >> 3) + 8 * (n & 1);
          out[n] = noise::PhiloxUniform8<kRounds>::from_byte((word >> shift) & 255u);
        }
      }
    }
  }
};

template <int kRounds>
struct UniformBlocks {
  static constexpr int kElements = 16;
  static constexpr int kTogether = 4;

  template <int kBlocks>
  VNJIT_INLINE static void fill(u64 seed, u64 block, float* values) {
    constexpr int kCalls = 4 * kBlocks;
    u32 words[4][kCalls];
    philox_calls<kRounds>(seed, block * 4, words);
    for (int half = 0; half < 2; ++half) {
      float pairs[2 * kCalls];
      for (int call = 0; call < kCalls; ++call) {
        pairs[2 * call] = noise::PhiloxUniform<kRounds>::from_word(words[2 * half][call]);
        pairs[2 * call + 1] = noise::PhiloxUniform<kRounds>::from_word(words[2 * half + 1][call]);
      }
      for (int b = 0; b < kBlocks; ++b) {
        std::copy_n(pairs + 8 * b, 8, values + 16 * b + 8 * half);
      }
    }
  }
};

template <int kRounds>
struct RademacherBlocks {
  static constexpr int kElements = 512;
  static constexpr int kTogether = 1;

  template <int kBlocks>
  VNJIT_INLINE static void fill(u64 seed, u64 block, float* values) {
    u32 words[4][4 * kBlocks];
    philox_calls<kRounds>(seed, block * 4, words);
    for (int b = 0; b < kBlocks; ++b) {
      for (int w = 0; w < 4; ++w) {
        u32 bits[16];
        for (int n = 0; n < 16; ++n) {
          bits[n] = words[w][4 * b + ((n >> 1) & 3)] >> (2 * (n >> 3) + (n & 1));
        }
        for (int nibble = 0; nibble < 8; ++nibble) {
          float* out = values + 512 * b + 128 * w + 16 * nibble;
          for (int n = 0; n < 16; ++n) {
            out[n] = noise::PhiloxRademacher<kRounds>::from_bit((bits[n] >> (4 * nibble)) & 1u);
          }
        }
      }
    }
  }
};

/// fill_noise for generators that make whole blocks.
template <typename Blocks>
VNJIT_INLINE void fill_by_blocks(u64 seed, u64 offset, std::int64_t count, float* values) {
  constexpr int kElements = Blocks::kElements;
  constexpr int kTogether = Blocks::kTogether;
  u64 block = offset / kElements;
  const auto skipped = static_cast<std::int64_t>(offset % kElements);
  std::int64_t done = 0;
  float part[kElements];
  if (skipped != 0) {
    Blocks::template fill<1>(seed, block++, part);
    done = std::min(count, kElements - skipped);
    std::copy_n(part + skipped, done, values);
  }
  for (; done + kTogether * kElements <= count; done += kTogether * kElements) {
    Blocks::template fill<kTogether>(seed, block, values + done);
    block += kTogether;
  }
  for (; done + kElements <= count; done += kElements) {
    Blocks::template fill<1>(seed, block++, values + done);
  }
  if (done < count) {
    Blocks::template fill<1>(seed, block, part);
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
