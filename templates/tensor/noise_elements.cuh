#pragma once

#include "specialization.cuh"
#include "tensor/uniform.cuh"

namespace vnjit {

/// A lane's share of the noise of rows r and r + 8 of a fragment, in steps of 64 elements, made
/// element by element and rounded to the operand's type. Rows start anywhere.
template <typename Noise, typename Operand>
class NoiseRowsOf {
 public:
  static constexpr float kScale = 1.0f;

  __device__ __forceinline__ void start(unsigned long long first, unsigned long long second,
                                        unsigned lane) {
    elements_[0] = static_cast<Counter>(first) + 2 * lane;
    elements_[1] = static_cast<Counter>(second) + 2 * lane;
  }

  __device__ __forceinline__ void begin(const typename Noise::Keys&, int) {}

  __device__ __forceinline__ void make(unsigned (&fragments)[16], const typename Noise::Keys& keys,
                                       int, unsigned step) const {
    const typename Noise::Keys key = uniform(keys);
#pragma unroll
    for (int n = 0; n < 16; ++n) {
      const Counter element = elements_[n & 1] + step * 64 + n / 4 * 16 + (n & 2) * 4;
      fragments[n] =
          Operand::from_floats(Noise::value(key, element), Noise::value(key, element + 1));
    }
  }

 private:
  Counter elements_[2];  // of the lane's first value in each row
};

using NoiseRows = NoiseRowsOf<Noise, Operand>;

}  // namespace vnjit
