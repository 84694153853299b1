#pragma once

#include <string>
#include <string_view>

#include "vnjit/codegen/problem.hpp"

namespace vnjit {

/// What a kernel may take for granted of the pointers, strides, offset and sizes it is launched
/// with. Each `false` is the general case and always right; wide_index is the other way round.
/// Only perturbed-linear kernels make use of it.
struct Access {
  bool vector_rows = false;    ///< every row of X and W starts and ends on a 16-byte boundary
  bool aligned_noise = false;  ///< every weight row starts at a multiple of 64 noise elements
  bool wide_index = true;      ///< an index into X, W or Y can pass 2^31 - 1

  friend bool operator==(const Access&, const Access&) = default;
};

/// `any`, or the names of what is taken for granted: `rows16+noise64+index32`.
std::string to_string(const Access& access);

/// Inverse of to_string; throws InvalidArgument naming the parts there are.
Access parse_access(std::string_view text);

/// The access class of contiguous, 16-byte-aligned buffers of the problem's sizes at offset 0.
Access contiguous_access(const Problem& problem);

}  // namespace vnjit
