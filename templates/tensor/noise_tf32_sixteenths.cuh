#pragma once

#include "specialization.cuh"

namespace vnjit {

/// A lane's share of the noise of rows r and r + 8 of a TF32 fragment, in steps of 32 elements,
/// made 16 elements at a time. The generator gives lane c the elements 2c, 2c + 1, 2c + 8 and
/// 2c + 9; a TF32 fragment wants c, c + 4, c + 8 and c + 12 there, so the four lanes of a row
/// exchange them. Every row starts at a multiple of 16.
template <typename Noise, typename Operand>
class NoiseRowsOf {
 public:
  static constexpr float kScale = 1.0f;

  __device__ __forceinline__ void start(unsigned long long first, unsigned long long second,
                                        unsigned lane) {
    lane_ = lane;
    sixteenths_[0] = static_cast<Counter>(first >> 4);
    sixteenths_[1] = static_cast<Counter>(second >> 4);
  }

  __device__ __forceinline__ void begin(const typename Noise::Keys&, int) {}

  __device__ __forceinline__ void make(unsigned (&fragments)[16], const typename Noise::Keys& keys,
                                       int, unsigned step) const {
    const bool odd = lane_ & 1;
#pragma unroll
    for (int row = 0; row < 2; ++row) {
#pragma unroll
      for (int q = 0; q < 2; ++q) {
        float values[4];
        Noise::sixteenth(keys, sixteenths_[row] + step * 2 + q, lane_, values);
#pragma unroll
        for (int n = 0; n < 4; ++n) {
          // Element c + 4n lies with lane c/2 + 2*(n%2), among its values 2*(n/2) and the next.
          const int owner = static_cast<int>(lane_ >> 1) + 2 * (n & 1);
          const float even_value = __shfl_sync(~0u, values[n & 2], owner, 4);
          const float odd_value = __shfl_sync(~0u, values[(n & 2) + 1], owner, 4);
          fragments[4 * (2 * q + n / 2) + row + 2 * (n & 1)] =
              Operand::from_float(odd ? odd_value : even_value);
        }
      }
    }
  }

 private:
  unsigned lane_;
  Counter sixteenths_[2];
};

using NoiseRows = NoiseRowsOf<Noise, Operand>;

}  // namespace vnjit
