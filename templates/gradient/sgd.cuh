#pragma once

#include "noise/shim.cuh"

// Plain steps of parameters along their gradient, on host and device alike and to the same bits.

namespace vnjit {

VNJIT_FUNCTION float sgd_step(float weight, float gradient, float learning_rate) {
  return noise::fused_multiply_add(learning_rate, gradient, weight);
}

}  // namespace vnjit
