#pragma once

#include "specialization.cuh"
#include "tensor/uniform.cuh"

namespace vnjit {

/// A lane's share of the noise of rows r and r + 8 of a TF32 fragment, in steps of 32 elements,
/// made element by element. Rows start anywhere.
template <typename Noise, typename Operand>
class NoiseRowsOf {
 public:
  static constexpr float kScale = 1.0f;

  __device__ __forceinline__ void start(unsigned long long first, unsigned long long second,
                                        unsigned lane) {
    elements_[0] = static_cast<Counter>(first) + lane;
    elements_[1] = static_cast<Counter>(second) + lane;
  }

  __device__ __forceinline__ void begin(const typename Noise::Keys&, int) {}

  /// Four m16k8 fragments, four registers each: (r, k), (r + 8, k), (r, k + 4), (r + 8, k + 4).
  __device__ __forceinline__ void make(unsigned (&fragments)[16], const typename Noise::Keys& keys,
                                       int, unsigned step) const {
    const typename Noise::Keys key = uniform(keys);
#pragma unroll
    for (int n = 0; n < 16; ++n) {
      const Counter element = elements_[n & 1] + step * 32 + n / 4 * 8 + (n & 2) * 2;
      fragments[n] = Operand::from_float(Noise::value(key, element));
    }
  }

 private:
  Counter elements_[2];  // of the lane's first value in each row
};

using NoiseRows = NoiseRowsOf<Noise, Operand>;

}  // namespace vnjit
