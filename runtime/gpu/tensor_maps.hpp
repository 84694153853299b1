#pragma once

#include "params/perturbed_linear.cuh"
#include "params/tensor_map.cuh"
#include "vnjit/codegen/config.hpp"
#include "vnjit/runtime/arguments.hpp"
#include "vnjit/runtime/driver.hpp"

namespace vnjit {

/// What a wgmma kernel takes beside its params: X and W for the copy engine.
struct TensorMaps {
  TensorMap x;
  TensorMap weight;  ///< zeros where the kernel does not read W
};

/// Whether the copy engine can address rows of X and W of these strides.
bool has_tensor_maps(const PerturbedLinearArguments& operands, std::int64_t operand_bytes);

/// Maps of the operands in `params`. Throws CudaError when the driver refuses.
TensorMaps encode_tensor_maps(const Driver& driver, const Config& config,
                              const PerturbedLinear& problem, const PerturbedLinearParams& params);

}  // namespace vnjit
