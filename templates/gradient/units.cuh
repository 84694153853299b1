#pragma once

#include "params/gradient.cuh"
#include "specialization.cuh"

namespace vnjit {

/// A warp's work: the part of one run of a block's noise elements that lies in one segment of
/// kBlockIn.
struct Unit {
  bool exists;
  unsigned number;
  unsigned block;              ///< of the launch's list
  unsigned long long segment;  ///< its noise elements are segment * kBlockIn + n
  long long first;             ///< element n is number first + n of the run; below 0: before it
  long long row;               ///< of the run's first element
};

__device__ __forceinline__ Unit unit_of(const GradientList& params, unsigned number) {
  unsigned block = 0;
  for (unsigned above = params.block_count; above - block > 1;) {
    const unsigned middle = (block + above) / 2;
    if (params.blocks[middle].first_unit <= number) {
      block = middle;
    } else {
      above = middle;
    }
  }
  const GradientBlock& found = params.blocks[block];
  const unsigned local = number - found.first_unit;
  Unit unit;
  unit.number = number;
  unit.block = block;
  unit.row = local / found.run_units;
  const unsigned long long run =
      found.offset + static_cast<unsigned long long>(unit.row) * found.noise_row_stride;
  unit.segment = run / kBlockIn + local % found.run_units;
  unit.first = static_cast<long long>(unit.segment * kBlockIn - run);
  unit.exists = number < params.units && unit.first < found.run_elements;
  return unit;
}

}  // namespace vnjit
