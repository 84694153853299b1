#include "vnjit/runtime/gpu/tensor_maps.hpp"

#include <algorithm>
#include <bit>
#include <span>

#include "vnjit/codegen/family_limits.hpp"
#include "vnjit/codegen/tensor_config.hpp"

namespace vnjit {
namespace {

static_assert(sizeof(TensorMap) == sizeof(CUtensorMap));

constexpr std::size_t kMaxRank = 3;

/// A matrix and the tile that is copied of it, innermost dimension first.
struct Tiled {
  const void* data;
  std::span<const cuuint64_t> sizes;
  std::span<const cuuint64_t> strides;  // bytes, of all dimensions but the first
  std::span<const cuuint32_t> box;
};

CUtensorMapDataType data_type(Precision precision) {
  if (precision == Precision::f16) return CU_TENSOR_MAP_DATA_TYPE_FLOAT16;
  if (precision == Precision::bf16) return CU_TENSOR_MAP_DATA_TYPE_BFLOAT16;
  if (precision == Precision::int8) return CU_TENSOR_MAP_DATA_TYPE_UINT8;
  return CU_TENSOR_MAP_DATA_TYPE_TFLOAT32;
}

void encode(const Driver& driver, TensorMap& map, CUtensorMapDataType type, const Tiled& tiled) {
  constexpr cuuint32_t kElementStrides[kMaxRank] = {1, 1, 1};
  CUtensorMap encoded;
  driver.check(
      driver.cuTensorMapEncodeTiled(
          &encoded, type, static_cast<cuuint32_t>(tiled.sizes.size()),
          const_cast<void*>(tiled.data), tiled.sizes.data(), tiled.strides.data(), tiled.box.data(),
          kElementStrides, CU_TENSOR_MAP_INTERLEAVE_NONE, CU_TENSOR_MAP_SWIZZLE_128B,
          CU_TENSOR_MAP_L2_PROMOTION_L2_256B, CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE),
      "cuTensorMapEncodeTiled");
  map = std::bit_cast<TensorMap>(encoded);
}

/// Of one X for all, what would be its second individual is never read.
std::int64_t x_slice_stride(const PerturbedLinearParams& params) {
  return params.x_individual_stride != 0 ? params.x_individual_stride
                                         : params.batch * params.x_row_stride;
}

}  // namespace

bool has_tensor_maps(const PerturbedLinearArguments& operands, std::int64_t operand_bytes) {
  constexpr double kStrideEnd = 0x1p40;  // bytes
  const double rows =
      static_cast<double>(operands.batch) * static_cast<double>(operands.x_row_stride);
  const double widest = std::max({rows, static_cast<double>(operands.x_individual_stride),
                                  static_cast<double>(operands.weight_row_stride)});
  return widest * static_cast<double>(operand_bytes) < kStrideEnd;
}

TensorMaps encode_tensor_maps(const Driver& driver, const Config& config,
                              const PerturbedLinear& problem, const PerturbedLinearParams& params) {
  const Precision precision = operand_precision(problem);
  const std::int64_t step = step_in(problem);
  const std::int64_t bytes = kRowBytes / step;
  const auto size = [](long long value) { return static_cast<cuuint64_t>(value); };
  const auto box = [](std::int64_t value) { return static_cast<cuuint32_t>(value); };
  TensorMaps maps = {};
  const cuuint64_t x_sizes[] = {size(params.in), size(params.batch),
                                size(problem.layout == InputLayout::individual ? params.pop : 1)};
  const cuuint64_t x_strides[] = {size(params.x_row_stride * bytes),
                                  size(x_slice_stride(params) * bytes)};
  const cuuint32_t x_box[] = {box(step), box(config.block_batch), 1};
  encode(driver, maps.x, data_type(precision), {params.x, x_sizes, x_strides, x_box});
  if (uses_base_product(config, problem)) return maps;
  const cuuint64_t weight_sizes[] = {size(params.in), size(params.out)};
  const cuuint64_t weight_strides[] = {size(params.weight_row_stride * bytes)};
  const cuuint32_t weight_box[] = {box(step), box(config.block_out)};
  encode(driver, maps.weight, data_type(precision),
         {params.weight, weight_sizes, weight_strides, weight_box});
  return maps;
}

}  // namespace vnjit
