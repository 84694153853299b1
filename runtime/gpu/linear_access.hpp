#pragma once

#include <cstdint>

#include "vnjit/codegen/access.hpp"
#include "vnjit/codegen/config.hpp"
#include "vnjit/runtime/arguments.hpp"

namespace vnjit {

inline std::int64_t ceil_div(std::int64_t value, std::int64_t by) { return (value + by - 1) / by; }

/// `value` rounded up to a multiple of `multiple`.
inline std::int64_t round_up(std::int64_t value, std::int64_t multiple) {
  return ceil_div(value, multiple) * multiple;
}

inline bool is_multiple(const void* data, std::int64_t bytes) {
  return reinterpret_cast<std::uintptr_t>(data) % static_cast<std::uintptr_t>(bytes) == 0;
}

// All arguments below are checked(): no stride is 0 but that of a shared X from individual to
// individual.

/// Tiles of block_out x block_batch that cover one individual's Y.
std::int64_t tiles_of(const Config& config, const PerturbedLinearArguments& arguments);

/// The access class of the arguments. X and W have elements of `operand_bytes`; a null one counts
/// as aligned. `units` thread blocks, or shares of one, are counted through.
Access access_of(const PerturbedLinear& problem, const PerturbedLinearArguments& arguments,
                 std::int64_t operand_bytes, std::int64_t units);

/// Whether rows of Y can be written four elements at a time.
bool has_vector_y(const PerturbedLinear& problem, const PerturbedLinearArguments& arguments);

/// `access` without what a simt kernel makes no use of, and would only turn runs away from it.
Access used_by_simt(Access access);

}  // namespace vnjit
