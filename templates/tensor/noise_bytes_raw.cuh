#pragma once

#include "specialization.cuh"

namespace vnjit {

/// A lane's share of the noise of rows r and r + 8 of an 8-bit fragment, in steps of 128 elements:
/// two calls of the generator each, whose words are the fragments. Every row starts at a multiple
/// of 64 elements. The columns of X lie in the order of the calls' bytes (quantize.cuh).
class NoiseRows {
 public:
  /// A byte n is noise (2n - 255) / 512.
  static constexpr float kScale = 1.0f / 512.0f;

  __device__ __forceinline__ void start(unsigned long long first, unsigned long long second,
                                        unsigned lane) {
    calls_[0] = static_cast<Counter>((first >> 6) * 4 + lane);
    calls_[1] = static_cast<Counter>((second >> 6) * 4 + lane);
  }

  __device__ __forceinline__ void begin(const Noise::Keys&, int) {}

  /// Four m16k32 fragments, four registers each: (r, k), (r + 8, k), (r, k + 16), (r + 8, k + 16).
  __device__ __forceinline__ void make(unsigned (&fragments)[16], const Noise::Keys& keys, int,
                                       unsigned step) const {
#pragma unroll
    for (int n = 0; n < 4; ++n) {
      const int row = n % 2;
      const int half = n / 2;
      const noise::PhiloxWords words = Noise::words(calls_[row] + step * 8 + half * 4, keys);
#pragma unroll
      for (int q = 0; q < 4; ++q) fragments[8 * half + 2 * q + row] = words.w[q];
    }
  }

 private:
  Counter calls_[2];
};

}  // namespace vnjit
