#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "vnjit/codegen/problem.hpp"

namespace vnjit {

/// What a kernel may take for granted of the pointers, strides, offset and sizes it is launched
/// with. The defaults are the general case and always right. Only perturbed-linear kernels make
/// use of it.
struct Access {
  bool vector_rows = false;  ///< every row of X and W starts and ends on a 16-byte boundary
  int noise_alignment = 1;   ///< every weight row starts at a multiple of 1, 16 or 64 elements
  bool wide_index = true;    ///< an index into X, W or Y can pass kMaxNarrowIndex
  bool wide_counter = true;  ///< a weight's noise element can pass narrow_noise_elements

  /// Whether a kernel made for this class may be given buffers of class `given`.
  bool allows(const Access& given) const {
    return (given.vector_rows || !vector_rows) && given.noise_alignment >= noise_alignment &&
           (wide_index || !given.wide_index) && (wide_counter || !given.wide_counter);
  }

  friend bool operator==(const Access&, const Access&) = default;
};

/// `any`, or the names of what is taken for granted: `rows16+noise64+index32+counter32`.
std::string to_string(const Access& access);

/// Inverse of to_string; throws InvalidArgument naming the parts there are.
Access parse_access(std::string_view text);

/// The largest noise_alignment that divides `elements`, 0 or more.
int noise_alignment_of(std::int64_t elements);

/// The widest index that needs no 64-bit arithmetic. It leaves room for the edge of a tile that
/// hangs over the end of a matrix.
constexpr std::int64_t kMaxNarrowIndex = (std::int64_t{1} << 31) - (std::int64_t{1} << 16);

/// One past the last noise element that a kernel may make for weights of (out, in): those of the
/// tiles' edges, which hang over, count too. In double, for it may pass 64 bits.
double noise_end(std::int64_t offset, std::int64_t out, std::int64_t noise_row_stride,
                 std::int64_t in);

/// Elements, from 0, whose generator counters fit 32 bits.
std::int64_t narrow_noise_elements(const NoiseSpec& noise);

/// The access class of contiguous, 16-byte-aligned buffers of the problem's sizes at offset 0.
Access contiguous_access(const Problem& problem);

}  // namespace vnjit
