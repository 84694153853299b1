#pragma once

#include "specialization.cuh"

namespace vnjit {

/// As noise_bytes_aligned.cuh for rows that start at a multiple of 16 elements: the words of a
/// step lie in two calls, of which the first is kept from the step before. Rows r and r + 8 of a
/// warp start at the same place inside their 64 elements, so that the whole warp shifts alike.
class NoiseRows {
 public:
  static constexpr float kScale = Operand::kByteScale;

  __device__ __forceinline__ void start(unsigned long long first, unsigned long long second,
                                        unsigned lane) {
    shift_ = static_cast<unsigned>(first >> 4) & 3u;
    calls_[0] = static_cast<Counter>((first >> 6) * 4 + lane);
    calls_[1] = static_cast<Counter>((second >> 6) * 4 + lane);
  }

  __device__ __forceinline__ void begin(const Noise::Keys& keys, int individual) {
    if (shift_ == 0) return;
    before_[individual][0] = Noise::words(calls_[0], keys);
    before_[individual][1] = Noise::words(calls_[1], keys);
  }

  __device__ __forceinline__ void make(unsigned (&fragments)[16], const Noise::Keys& keys,
                                       int individual, unsigned step) {
    const unsigned call = (step + (shift_ != 0)) * 4;
    const noise::PhiloxWords next[2] = {Noise::words(calls_[0] + call, keys),
                                        Noise::words(calls_[1] + call, keys)};
    noise::PhiloxWords(&before)[2] = before_[individual];
    switch (shift_) {
      case 0:
        pack<0>(fragments, before, next);
        break;
      case 1:
        pack<1>(fragments, before, next);
        break;
      case 2:
        pack<2>(fragments, before, next);
        break;
      default:
        pack<3>(fragments, before, next);
    }
    before[0] = next[0];
    before[1] = next[1];
  }

 private:
  /// Of the words from number kShift of `before` on, or all of `next` where nothing is shifted.
  template <int kShift>
  __device__ __forceinline__ static void pack(unsigned (&fragments)[16],
                                              const noise::PhiloxWords (&before)[2],
                                              const noise::PhiloxWords (&next)[2]) {
#pragma unroll
    for (int n = 0; n < 8; ++n) {
      const int row = n % 2;
      const int q = n / 2 + kShift;
      const unsigned word = kShift > 0 && q < 4 ? before[row].w[q % 4] : next[row].w[q % 4];
      fragments[n / 2 * 4 + row] = Operand::from_bytes<0>(word);
      fragments[n / 2 * 4 + row + 2] = Operand::from_bytes<1>(word);
    }
  }

  unsigned shift_;  // of the rows inside their 64 elements, in sixteenths of 16
  Counter calls_[2];
  noise::PhiloxWords before_[kIndividuals][2];
};

}  // namespace vnjit
