#pragma once

#include <cstddef>

#include "vnjit/codegen/config.hpp"
#include "vnjit/runtime/arguments.hpp"

namespace vnjit {

/// Where the parts of a tensor-core run's workspace lie: bytes from its start, multiples of 256.
/// A part that the config has no use for is empty.
struct LinearWorkspace {
  std::size_t x = 0;       ///< X as operands: pop or 1 times batch rows of converted_row_stride()
  std::size_t weight = 0;  ///< W as operands: out rows of converted_row_stride()
  std::size_t quantized = 0;   ///< X in 8 bits: batch rows of quantized_row_stride()
  std::size_t row_scales = 0;  ///< a RowScale a batch row
  std::size_t base = 0;        ///< X·W^T + b in fp32: batch rows of base_row_stride()
  std::size_t bytes = 0;       ///< all of it; beyond 2^62 where the sizes are beyond any memory

  friend bool operator==(const LinearWorkspace&, const LinearWorkspace&) = default;
};

/// Elements from row to row: whole pieces of 16 bytes.
std::int64_t converted_row_stride(std::int64_t in);
std::int64_t quantized_row_stride(std::int64_t in);
std::int64_t base_row_stride(std::int64_t out);

/// For sizes of at least 1. Strides and pointers are not read.
LinearWorkspace linear_workspace(const Config& config, const PerturbedLinear& problem,
                                 const PerturbedLinearArguments& sizes);

/// Throws InvalidArgument unless `workspace`, which is given, has `bytes` and is aligned.
void check_workspace(const Workspace& workspace, std::size_t bytes);

}  // namespace vnjit
