#include "vnjit/runtime/gpu/linear_params.hpp"

#include "vnjit/runtime/gpu/linear_access.hpp"

namespace vnjit {

PerturbedLinearParams params_of(const PerturbedLinear& problem,
                                const PerturbedLinearArguments& arguments) {
  PerturbedLinearParams params = {};
  params.x = arguments.x;
  params.weight = arguments.weight;
  params.bias = arguments.bias;
  params.y = arguments.y;
  params.seeds = reinterpret_cast<const long long*>(arguments.seeds);
  params.sigma_pointer = arguments.sigma.pointer;
  params.offset = static_cast<unsigned long long>(arguments.offset);
  params.noise_row_stride = static_cast<unsigned long long>(arguments.noise_row_stride);
  params.pop = arguments.pop;
  params.batch = arguments.batch;
  params.in = arguments.in;
  params.out = arguments.out;
  params.x_individual_stride = arguments.x_individual_stride;
  params.x_row_stride = arguments.x_row_stride;
  params.weight_row_stride = arguments.weight_row_stride;
  params.y_individual_stride = arguments.y_individual_stride;
  params.y_row_stride = arguments.y_row_stride;
  params.sigma = arguments.sigma.value;
  params.vector_y = has_vector_y(problem, arguments) ? 1 : 0;
  return params;
}

}  // namespace vnjit
