#pragma once

#include "gradient/fixed_point.cuh"
#include "specialization.cuh"

namespace vnjit {

// The words of 8 calls of the generator are a matrix of 8-bit rows, and the digits of 8
// individuals' fitness one of columns: the matrix product sums over individuals and bytes. A digit
// meets the byte it is for alone, for the other bytes of its word it is zero: column 4*byte +
// digit, two instructions of 8 columns. So words are operands as they are drawn, and sums are exact
// integers.

/// Values in a byte, one of all its bits or 8 of one bit each.
constexpr int kPlanes = 8 / Noise::kValueBits;
constexpr int kCallElements = 16 * kPlanes;
constexpr int kGroups = kBlockIn / (8 * kCallElements);  ///< of 8 calls each
static_assert(kBlockIn == kGroups * 8 * kCallElements, "a warp owns whole groups of calls");

__device__ __forceinline__ void multiply_add(int (&sums)[4], const unsigned (&words)[4],
                                             unsigned first, unsigned second) {
  asm volatile(
      "mma.sync.aligned.m16n8k32.row.col.s32.u8.s8.s32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, "
      "{%8, %9}, {%0, %1, %2, %3};"
      : "+r"(sums[0]), "+r"(sums[1]), "+r"(sums[2]), "+r"(sums[3])
      : "r"(words[0]), "r"(words[1]), "r"(words[2]), "r"(words[3]), "r"(first), "r"(second));
}

/// The digit of column `column`, 0..15, where its byte is and zero elsewhere.
__device__ __forceinline__ unsigned digit_column(unsigned digits, int column) {
  const unsigned place = 4 * (column / 4);
  const unsigned selector = (0x4444u & ~(0xFu << place)) | static_cast<unsigned>(column % 4)
                                                               << place;
  return __byte_perm(digits, 0u, selector);
}

/// A warp's sums of fitness * noise over kBlockIn elements, in integers: whole numbers of
/// Noise::kUnit. 32 bits hold those of kFlush individuals.
struct Sums {
  using Total = long long;
  using Fitness = long long;
  using Keys = Noise::Keys;
  static constexpr int kStep = 8;       ///< individuals at a time
  static constexpr int kFlush = 32768;  ///< individuals, after which store() is due

  static __device__ __forceinline__ Keys keys(unsigned long long seed) { return Noise::keys(seed); }
  static __device__ __forceinline__ Fitness fitness(float fitness, int shift) {
    return fixed_point(fitness, shift);
  }
  /// Four signed digits of 8 bits, the least first: bytes d with sum_n d[n] * 256^n = fitness.
  static __device__ __forceinline__ unsigned weight(Fitness fitness) {
    return (static_cast<unsigned>(fitness) + 0x80808080u) ^ 0x80808080u;
  }

  __device__ __forceinline__ Sums(unsigned long long segment, int lane) {
    const unsigned long long first = segment * (8 * kGroups) + lane / 4;
    high = static_cast<unsigned>(first >> 32);
#pragma unroll
    for (int group = 0; group < kGroups; ++group) {
      products[group] =
          noise::multiply_wide(static_cast<unsigned>(first) + 8 * group, noise::kPhiloxFirst);
    }
  }

  /// `count`, a multiple of kStep, individuals.
  template <typename Individual>
  __device__ __forceinline__ void add(const Individual* individuals, int count, int lane) {
#pragma unroll 1
    for (int i = 0; i < count; i += kStep) {
      unsigned digits[2][2];
      Keys keys[2];
#pragma unroll
      for (int half = 0; half < 2; ++half) {
        const Individual& individual = individuals[i + 4 * half + lane % 4];
        digits[half][0] = digit_column(individual.weight, lane / 4);
        digits[half][1] = digit_column(individual.weight, lane / 4 + 8);
        keys[half] = individual.keys;
      }
#pragma unroll
      for (int group = 0; group < kGroups; ++group) {
        noise::PhiloxWords words[2];
#pragma unroll
        for (int half = 0; half < 2; ++half) {
          words[half] =
              noise::philox4x32_of_product<Noise::kPhiloxRounds>(products[group], high, keys[half]);
        }
#pragma unroll
        for (int plane = 0; plane < kPlanes; ++plane) {
          const unsigned mask = kPlanes == 1 ? ~0u : 0x01010101u << plane;
#pragma unroll
          for (int pair = 0; pair < 2; ++pair) {
            const unsigned rows[4] = {words[0].w[2 * pair] & mask, words[0].w[2 * pair + 1] & mask,
                                      words[1].w[2 * pair] & mask, words[1].w[2 * pair + 1] & mask};
            multiply_add(sums[group][plane][pair][0], rows, digits[0][0], digits[1][0]);
            multiply_add(sums[group][plane][pair][1], rows, digits[0][1], digits[1][1]);
          }
        }
      }
    }
  }

  /// Adds the sums to `totals`, in the order of the elements, and starts again from zero.
  __device__ __forceinline__ void store(int lane, Total* totals) {
#pragma unroll
    for (int group = 0; group < kGroups; ++group) {
#pragma unroll
      for (int plane = 0; plane < kPlanes; ++plane) {
#pragma unroll
        for (int n = 0; n < 8; ++n) {
          int(&two)[4] = sums[group][plane][n >> 2][(n >> 1) & 1];
          // Two lanes hold two digits each.
          Total sum = two[2 * (n & 1)] + 256ll * two[2 * (n & 1) + 1];
          if (lane & 1) sum *= 65536;
          sum += __shfl_xor_sync(0xffffffffu, sum, 1);
          const int call = 8 * group + lane / 4;
          const int word = 2 * (n >> 2) + (n & 1);
          const int byte = 2 * ((n >> 1) & 1) + ((lane >> 1) & 1);
          const int value = (4 * word + byte) * kPlanes + plane;
          const int element =
              call / 4 * (4 * kCallElements) + noise::block_position(call % 4, value);
          if ((lane & 1) == 0) totals[element] += 2 * (sum >> plane);
          two[2 * (n & 1)] = two[2 * (n & 1) + 1] = 0;
        }
      }
    }
  }

  /// What store() left out: the constant part of each value.
  static __device__ __forceinline__ Total centred(Total total, Fitness fitness_sum) {
    return total - Noise::kCentre * fitness_sum;
  }

  /// What makes the gradient of a total in fixed point.
  static __device__ __forceinline__ double unit(int shift) {
    return fixed_point_unit(shift) * static_cast<double>(Noise::kUnit);
  }

  noise::WideProduct products[kGroups];  ///< of the counters of the lane's calls
  unsigned high;                         ///< of all of them
  int sums[kGroups][kPlanes][2][2][4] = {};
};

}  // namespace vnjit
