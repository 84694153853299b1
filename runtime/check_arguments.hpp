#pragma once

#include <string_view>
#include <variant>

#include "vnjit/codegen/problem.hpp"
#include "vnjit/runtime/arguments.hpp"

namespace vnjit {

// Checks a run's arguments against its problem and returns them with every 0 stride and pop_size
// replaced by its contiguous value. Both backends start here, so both refuse the same calls with
// the same words. Throws InvalidArgument naming the argument, its value and what is allowed.

[[noreturn]] void refuse_arguments(const Problem& problem, std::string_view arguments);

/// The operation of `problem`, if it is the one that `arguments` ("reduce-metric", …) are for.
template <typename Operation>
const Operation& operation_for(const Problem& problem, std::string_view arguments) {
  const auto* operation = std::get_if<Operation>(&problem);
  if (operation == nullptr) refuse_arguments(problem, arguments);
  return *operation;
}

/// What is written must share no memory with anything else, the workspace included.
PerturbedLinearArguments checked(const PerturbedLinear& problem, PerturbedLinearArguments arguments,
                                 const Workspace& workspace = {});
GradientArguments checked(const Gradient& problem, GradientArguments arguments,
                          const Workspace& workspace = {});
/// What of a block does not depend on the problem; above, all of every block is checked.
GradientBlock checked(const GradientBlock& block, std::size_t index);
ReduceMetricArguments checked(const ReduceMetric& problem, ReduceMetricArguments arguments,
                              const Workspace& workspace = {});

}  // namespace vnjit
