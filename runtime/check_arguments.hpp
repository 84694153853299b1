#pragma once

#include "vnjit/codegen/problem.hpp"
#include "vnjit/runtime/arguments.hpp"

namespace vnjit {

// Checks a run's arguments against its problem and returns them with every 0 stride and pop_size
// replaced by its contiguous value. Both backends start here, so both refuse the same calls with
// the same words. Throws InvalidArgument naming the argument, its value and what is allowed.

PerturbedLinearArguments checked(const PerturbedLinear& problem,
                                 PerturbedLinearArguments arguments);
GradientArguments checked(const Gradient& problem, GradientArguments arguments);
GradientBlock checked(const GradientBlock& block, std::size_t index);
ReduceMetricArguments checked(const ReduceMetric& problem, ReduceMetricArguments arguments);

}  // namespace vnjit
