#include "vnjit/runtime/gpu/gradient_lists.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "vnjit/codegen/error.hpp"

namespace vnjit {
namespace {

constexpr std::int64_t kMaxUnits = std::int64_t{1} << 30;
constexpr std::size_t kMaxCapacity = 128;

using Wide = __int128;

std::int64_t or_contiguous(std::int64_t stride, std::int64_t columns) {
  return stride != 0 ? stride : columns;
}

/// A block whose rows follow each other without gaps is one long row.
GradientBlock joined(GradientBlock block) {
  block.noise_row_stride = or_contiguous(block.noise_row_stride, block.columns);
  block.output_row_stride = or_contiguous(block.output_row_stride, block.columns);
  block.weight_row_stride = or_contiguous(block.weight_row_stride, block.columns);
  if (block.noise_row_stride == block.columns && block.output_row_stride == block.columns &&
      block.weight_row_stride == block.columns) {
    block.columns *= block.rows;
    block.rows = 1;
    block.noise_row_stride = block.columns;
  }
  return block;
}

/// Units of a run of `elements` whose first is `offset`, or of runs that start anywhere.
std::int64_t units_of(std::int64_t elements, std::int64_t segment, std::int64_t offset) {
  const Wide end = Wide{offset % segment} + elements;
  return static_cast<std::int64_t>((end + segment - 1) / segment);
}

BlockRuns runs_of(const GradientBlock& block, std::int64_t segment) {
  if (block.rows == 0 || block.columns == 0) return {};
  const std::int64_t stride = block.noise_row_stride;
  if (block.rows == 1 || stride - block.columns < segment) {
    const std::int64_t elements = (block.rows - 1) * stride + block.columns;
    return {1, elements, units_of(elements, segment, block.offset)};
  }
  const bool aligned = block.offset % segment == 0 && stride % segment == 0;
  return {block.rows, block.columns, units_of(block.columns, segment, aligned ? 0 : segment - 1)};
}

/// The rows of a block from `first`, a run each.
GradientBlock rows_from(const GradientBlock& block, std::int64_t first) {
  const auto moved = [&](float* data, std::int64_t stride) {
    return data ? data + first * stride : nullptr;
  };
  GradientBlock rest = block;
  rest.offset += first * block.noise_row_stride;
  rest.rows -= first;
  rest.output = moved(block.output, block.output_row_stride);
  rest.weight = moved(block.weight, block.weight_row_stride);
  rest.first_moment = moved(block.first_moment, block.weight_row_stride);
  rest.second_moment = moved(block.second_moment, block.weight_row_stride);
  return rest;
}

}  // namespace

void for_each_list(std::span<const GradientBlock> blocks, std::size_t capacity,
                   std::int64_t segment,
                   const std::function<void(std::span<const ListedBlock>, std::int64_t)>& launch) {
  std::array<ListedBlock, kMaxCapacity> list;
  std::size_t count = 0;
  std::int64_t units = 0;
  const auto flush = [&] {
    if (count > 0) launch({list.data(), count}, units);
    count = 0;
    units = 0;
  };
  for (const GradientBlock& given : blocks) {
    GradientBlock rest = joined(given);
    BlockRuns runs = runs_of(rest, segment);
    if (runs.units > kMaxUnits) {
      throw InvalidArgument(
          fmt::format("a block has {} x {} parameters; a gradient takes blocks of up to {}",
                      given.rows, given.columns, kMaxUnits * segment));
    }
    while (runs.count > 0) {
      if (count == std::min(capacity, kMaxCapacity) || units + runs.units > kMaxUnits) flush();
      const std::int64_t taken = std::min(runs.count, (kMaxUnits - units) / runs.units);
      list[count++] = {rest, {taken, runs.elements, runs.units}, units};
      units += taken * runs.units;
      runs.count -= taken;
      if (runs.count > 0) rest = rows_from(rest, taken);
    }
  }
  flush();
}

}  // namespace vnjit
