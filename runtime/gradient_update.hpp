#pragma once

#include "gradient/adam.cuh"
#include "gradient/sgd.cuh"
#include "vnjit/runtime/arguments.hpp"

namespace vnjit {

/// What the kernels and the CPU backend take of a checked step of Adam: made in double, rounded
/// once.
AdamStep adam_step_of(const UpdateStep& step);

}  // namespace vnjit
