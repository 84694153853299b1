#pragma once

#include "noise/shim.cuh"

// Adam's steps of parameters along their gradient, on host and device alike and to the same bits.

namespace vnjit {

/// What of Adam's step is the same for all parameters.
struct AdamStep {
  float learning_rate;  ///< over 1 - beta1^step
  float beta1;
  float beta2;
  float root_correction;  ///< 1 / sqrt(1 - beta2^step)
  float epsilon;
};

/// Updates the moments, and returns the weight.
VNJIT_FUNCTION float adam_step(const AdamStep& step, float weight, float gradient,
                               float& first_moment, float& second_moment) {
  first_moment = noise::fused_multiply_add(step.beta1, first_moment - gradient, gradient);
  const float square = noise::multiply(gradient, gradient);
  second_moment = noise::fused_multiply_add(step.beta2, second_moment - square, square);
  const float root = noise::fused_multiply_add(noise::square_root(second_moment),
                                               step.root_correction, step.epsilon);
  return weight + noise::divide(noise::multiply(step.learning_rate, first_moment), root);
}

}  // namespace vnjit
