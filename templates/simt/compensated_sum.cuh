#pragma once

namespace vnjit {

/// A running sum with the rounding error of its last addition (Kahan), so that the error does not
/// grow with the number of terms.
struct CompensatedSum {
  float sum = 0.0f;
  float error = 0.0f;

  __device__ __forceinline__ void add(float value) {
    const float corrected = value - error;
    const float next = sum + corrected;
    error = (next - sum) - corrected;
    sum = next;
  }

  __device__ __forceinline__ float value() const { return sum - error; }
};

}  // namespace vnjit
