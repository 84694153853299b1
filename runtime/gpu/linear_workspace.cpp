#include "vnjit/runtime/gpu/linear_workspace.hpp"

#include <fmt/format.h>

#include <cstdint>

#include "params/row_scale.cuh"
#include "vnjit/codegen/error.hpp"
#include "vnjit/codegen/tensor_config.hpp"
#include "vnjit/runtime/gpu/linear_access.hpp"

namespace vnjit {
namespace {

constexpr std::int64_t kAlignment = 256;
constexpr std::int64_t kConvertedBytes = 2;  // of an element
constexpr std::int64_t kBaseBytes = 4;
constexpr std::int64_t kQuantizedBlock = 128;  // bytes: a step of the kernel

// Sizes that only a question for workspace_bytes can have end at 2^62, so that no sum overflows.
std::size_t part_bytes(std::int64_t slices, std::int64_t rows, std::int64_t row_bytes) {
  constexpr std::int64_t kMost = std::int64_t{1} << 62;
  const double bytes =
      static_cast<double>(slices) * static_cast<double>(rows) * static_cast<double>(row_bytes);
  if (bytes > static_cast<double>(kMost) / 2) return static_cast<std::size_t>(kMost);
  return static_cast<std::size_t>(round_up(slices * rows * row_bytes, kAlignment));
}

}  // namespace

std::int64_t converted_row_stride(std::int64_t in) { return round_up(in, 16 / kConvertedBytes); }

std::int64_t quantized_row_stride(std::int64_t in) { return round_up(in, kQuantizedBlock); }

std::int64_t base_row_stride(std::int64_t out) { return round_up(out, 16 / kBaseBytes); }

LinearWorkspace linear_workspace(const Config& config, const PerturbedLinear& problem,
                                 const PerturbedLinearArguments& sizes) {
  LinearWorkspace parts;
  if (converts_inputs(config, problem)) {
    const std::int64_t inputs = problem.layout == InputLayout::individual ? sizes.pop : 1;
    const std::int64_t row_bytes = converted_row_stride(sizes.in) * kConvertedBytes;
    parts.weight = parts.x + part_bytes(inputs, sizes.batch, row_bytes);
    parts.quantized = parts.weight + part_bytes(1, sizes.out, row_bytes);
  }
  parts.row_scales = parts.base = parts.quantized;
  if (quantizes_inputs(config, problem)) {
    parts.row_scales += part_bytes(1, sizes.batch, quantized_row_stride(sizes.in));
    parts.base = parts.row_scales + part_bytes(1, sizes.batch, sizeof(RowScale));
  }
  parts.bytes = parts.base;
  if (uses_base_product(config, problem)) {
    parts.bytes += part_bytes(1, sizes.batch, base_row_stride(sizes.out) * kBaseBytes);
  }
  return parts;
}

void check_workspace(const Workspace& workspace, std::size_t bytes) {
  if (workspace.bytes < bytes) {
    throw InvalidArgument(
        fmt::format("workspace is {} bytes; this run needs {}: give what workspace_bytes answers",
                    workspace.bytes, bytes));
  }
  if (reinterpret_cast<std::uintptr_t>(workspace.data) % kAlignment != 0) {
    throw InvalidArgument(fmt::format("workspace is {}; it must be a multiple of {}",
                                      fmt::ptr(workspace.data), kAlignment));
  }
}

}  // namespace vnjit
