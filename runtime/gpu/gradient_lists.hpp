#pragma once

#include <cstdint>
#include <functional>
#include <span>

#include "vnjit/runtime/arguments.hpp"

namespace vnjit {

/// How a gradient's block is cut: runs of noise elements without large gaps, and each into units,
/// the pieces of it that lie in aligned segments.
struct BlockRuns {
  std::int64_t count = 0;     ///< 0: nothing to do
  std::int64_t elements = 0;  ///< of a run, those between its rows included
  std::int64_t units = 0;     ///< that cover a run, however it lies
};

/// A block of a launch's list.
struct ListedBlock {
  GradientBlock block;
  BlockRuns runs;
  std::int64_t first_unit = 0;
};

/// Deals the blocks, strides filled in or not, to lists of at most `capacity` blocks and 2^30
/// units, each of which one launch takes. Segments have `segment` elements. Calls `launch` with
/// each list and its units. Throws InvalidArgument for a run of more units.
void for_each_list(std::span<const GradientBlock> blocks, std::size_t capacity,
                   std::int64_t segment,
                   const std::function<void(std::span<const ListedBlock>, std::int64_t)>& launch);

}  // namespace vnjit
