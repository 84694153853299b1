#pragma once

#include "specialization.cuh"

namespace vnjit {

/// A lane's share of the noise of rows r and r + 8 of a fragment, in steps of 64 elements, made 16
/// elements at a time and rounded to the operand's type. Every row starts at a multiple of 16.
class NoiseRows {
 public:
  static constexpr float kScale = 1.0f;

  __device__ __forceinline__ void start(unsigned long long first, unsigned long long second,
                                        unsigned lane) {
    lane_ = lane;
    sixteenths_[0] = static_cast<Counter>(first >> 4);
    sixteenths_[1] = static_cast<Counter>(second >> 4);
  }

  __device__ __forceinline__ void begin(const Noise::Keys&, int) {}

  __device__ __forceinline__ void make(unsigned (&fragments)[16], const Noise::Keys& keys, int,
                                       unsigned step) const {
#pragma unroll
    for (int row = 0; row < 2; ++row) {
#pragma unroll
      for (int q = 0; q < 4; ++q) {
        float values[4];
        Noise::sixteenth(keys, sixteenths_[row] + step * 4 + q, lane_, values);
        fragments[4 * q + row] = Operand::from_floats(values[0], values[1]);
        fragments[4 * q + row + 2] = Operand::from_floats(values[2], values[3]);
      }
    }
  }

 private:
  unsigned lane_;
  Counter sixteenths_[2];
};

}  // namespace vnjit
