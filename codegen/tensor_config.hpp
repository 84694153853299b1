#pragma once

#include <cstdint>
#include <string>

#include "vnjit/codegen/access.hpp"
#include "vnjit/codegen/config.hpp"

// What follows from a config of a tensor family for perturbed linear.

namespace vnjit {

/// Elements along `in` of one step of a tensor family: a row of 128 bytes.
int step_in(const PerturbedLinear& problem);

/// Whether X·W^T + b is made once, by a kernel of its own, for all individuals.
bool uses_base_product(const Config& config, const PerturbedLinear& problem);

/// Whether fp32 X and W are first rounded to the operands' 16-bit type, by a kernel of its own.
bool converts_inputs(const Config& config, const PerturbedLinear& problem);

/// What a tensor family's kernel needs of its buffers and `access` does not promise, in words;
/// empty where nothing is missing.
std::string missing_access(const Config& config, const PerturbedLinear& problem,
                           const Access& access);

/// Whether X is first rounded to 8 bits a row, by a kernel of its own.
bool quantizes_inputs(const Config& config, const PerturbedLinear& problem);

/// Whether both individuals of an antithetic pair come from one product.
bool stores_pairs(const Config& config, const PerturbedLinear& problem);

/// stage_bytes() and fixed_shared_bytes() of a tensor family.
std::int64_t tensor_stage_bytes(const Config& config, const PerturbedLinear& problem);
std::int64_t tensor_fixed_bytes(const Config& config, const PerturbedLinear& problem);

/// validate() of a tensor family.
void validate_tensor(const Config& config, const PerturbedLinear& problem,
                     const DeviceLimits& limits);

}  // namespace vnjit
