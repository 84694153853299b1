#pragma once

#include "specialization.cuh"

namespace vnjit {

/// A lane's share of the noise of rows r and r + 8 of a fragment, in steps of 64 elements: one
/// call of the generator each. Every row starts at a multiple of 64 elements.
class NoiseRows {
 public:
  static constexpr float kScale = Operand::kByteScale;

  /// `first` and `second`: noise elements of the rows' first weights.
  __device__ __forceinline__ void start(unsigned long long first, unsigned long long second,
                                        unsigned lane) {
    calls_[0] = static_cast<Counter>((first >> 6) * 4 + lane);
    calls_[1] = static_cast<Counter>((second >> 6) * 4 + lane);
  }

  /// Before the first step of an individual.
  __device__ __forceinline__ void begin(const Noise::Keys&, int) {}

  /// Noise of one step: four m16k16 fragments, four registers each: (r, k), (r + 8, k), (r, k + 8),
  /// (r + 8, k + 8).
  __device__ __forceinline__ void make(unsigned (&fragments)[16], const Noise::Keys& keys, int,
                                       unsigned step) const {
#pragma unroll
    for (int row = 0; row < 2; ++row) {
      const noise::PhiloxWords words = Noise::words(calls_[row] + step * 4, keys);
#pragma unroll
      for (int q = 0; q < 4; ++q) {
        fragments[4 * q + row] = Operand::from_bytes<0>(words.w[q]);
        fragments[4 * q + row + 2] = Operand::from_bytes<1>(words.w[q]);
      }
    }
  }

 private:
  Counter calls_[2];
};

}  // namespace vnjit
