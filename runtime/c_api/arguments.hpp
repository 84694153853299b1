#pragma once

#include <vector>

#include "vnjit/runtime/arguments.hpp"
#include "vnjit/runtime/c_api/error.hpp"
#include "vnjit/runtime/c_api/problem.hpp"
#include "vnjit/runtime/c_api/structs.hpp"

// Arguments of the C API in the words of the C++ API.

namespace vnjit::c_api {

PerturbedLinearArguments to_cpp(const vnjit_perturbed_linear_arguments& given);
ReduceMetricArguments to_cpp(const vnjit_reduce_metric_arguments& given);

/// The result points to `blocks`.
GradientArguments to_cpp(const vnjit_gradient_arguments& given,
                         const std::vector<GradientBlock>& blocks);

/// Throws InvalidArgument for blocks that are missing or were not initialized.
std::vector<GradientBlock> blocks_of(const vnjit_gradient_arguments& given);

/// Calls `use` with the C++ arguments of the operation whose base is given. Throws
/// InvalidArgument, and what `use` throws.
template <typename Use>
void with_arguments(const vnjit_arguments* given, const Use& use) {
  switch (required(given, "arguments").operation) {
    case VNJIT_OPERATION_PERTURBED_LINEAR:
      return use(to_cpp(adopted<vnjit_perturbed_linear_arguments>(given)));
    case VNJIT_OPERATION_GRADIENT: {
      const auto arguments = adopted<vnjit_gradient_arguments>(given);
      const std::vector<GradientBlock> blocks = blocks_of(arguments);
      return use(to_cpp(arguments, blocks));
    }
    case VNJIT_OPERATION_REDUCE_METRIC:
      return use(to_cpp(adopted<vnjit_reduce_metric_arguments>(given)));
    default:
      refuse_operation("arguments", given->operation);
  }
}

}  // namespace vnjit::c_api
