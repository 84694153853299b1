#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "params/gradient.cuh"
#include "vnjit/runtime/gpu/gradient_lists.hpp"

namespace vnjit::tests {

struct List {
  std::vector<ListedBlock> blocks;
  std::int64_t units;
};

inline std::vector<List> lists_of(const std::vector<GradientBlock>& blocks,
                                  std::size_t capacity = 64, std::int64_t segment = 512) {
  std::vector<List> lists;
  for_each_list(blocks, capacity, segment,
                [&](std::span<const ListedBlock> list, std::int64_t units) {
                  lists.push_back({{list.begin(), list.end()}, units});
                });
  return lists;
}

// What a kernel makes of its parameters, as templates/gradient/units.cuh and output.cuh do.

inline std::vector<GradientBlockParams> params_of(const List& list) {
  std::vector<GradientBlockParams> all;
  for (const ListedBlock& listed : list.blocks) {
    all.push_back(
        {.offset = static_cast<unsigned long long>(listed.block.offset),
         .noise_row_stride = static_cast<unsigned long long>(listed.block.noise_row_stride),
         .columns = listed.block.columns,
         .run_elements = listed.runs.elements,
         .output = listed.block.output,
         .output_row_stride = listed.block.output_row_stride,
         .first_unit = static_cast<unsigned>(listed.first_unit),
         .run_units = static_cast<unsigned>(listed.runs.units)});
  }
  return all;
}

struct Unit {
  bool exists;
  const GradientBlockParams* block;
  unsigned long long segment;
  long long first;
  long long row;
};

inline Unit unit_of(const std::vector<GradientBlockParams>& blocks, std::int64_t units,
                    unsigned number, std::int64_t segment) {
  unsigned block = 0;
  for (unsigned above = static_cast<unsigned>(blocks.size()); above - block > 1;) {
    const unsigned middle = (block + above) / 2;
    if (blocks[middle].first_unit <= number) {
      block = middle;
    } else {
      above = middle;
    }
  }
  const GradientBlockParams& found = blocks[block];
  const auto elements = static_cast<unsigned long long>(segment);
  const unsigned local = number - found.first_unit;
  Unit unit = {};
  unit.block = &found;
  unit.row = local / found.run_units;
  const unsigned long long run =
      found.offset + static_cast<unsigned long long>(unit.row) * found.noise_row_stride;
  unit.segment = run / elements + local % found.run_units;
  unit.first = static_cast<long long>(unit.segment * elements - run);
  unit.exists = number < units && unit.first < found.run_elements;
  return unit;
}

/// Where the kernel writes noise element n of a unit; null: nowhere.
inline float* written_by(const Unit& unit, std::int64_t n) {
  const long long index = unit.first + n;
  if (index < 0 || index >= unit.block->run_elements) return nullptr;
  long long row = unit.row;
  long long column = index;
  const auto stride = static_cast<long long>(unit.block->noise_row_stride);
  if (index >= stride) {
    row += index / stride;
    column -= index / stride * stride;
  }
  if (column >= unit.block->columns) return nullptr;
  return unit.block->output + row * unit.block->output_row_stride + column;
}

}  // namespace vnjit::tests
