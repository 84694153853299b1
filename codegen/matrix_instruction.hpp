#pragma once

#include <string>

#include "vnjit/codegen/data_type.hpp"

namespace vnjit {

/// Device code with the wrapper of mma.sync (m16n8) for one operand type: f16, bf16 or tf32 with
/// fp32 sums, or int8: unsigned bytes times signed ones, with integer sums.
std::string mma_instruction(Precision operands);

/// Device code with the wrappers of wgmma (m64) for one operand type and number of batch rows, a
/// multiple of 8 up to 256: A from registers, and A from shared memory.
std::string wgmma_instructions(Precision operands, int batch);

}  // namespace vnjit
