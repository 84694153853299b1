#pragma once

#include "params/perturbed_linear.cuh"
#include "vnjit/codegen/problem.hpp"
#include "vnjit/runtime/arguments.hpp"

namespace vnjit {

/// What a perturbed-linear kernel is given for checked() arguments, without a base product.
PerturbedLinearParams params_of(const PerturbedLinear& problem,
                                const PerturbedLinearArguments& arguments);

}  // namespace vnjit
