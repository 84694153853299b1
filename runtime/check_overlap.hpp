#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "vnjit/runtime/arguments.hpp"

namespace vnjit {

/// An argument's name; its text is made only when there is something to say.
struct ArgumentName {
  std::string_view field;
  std::int64_t block = -1;  ///< index of the gradient block it is in

  std::string text() const;
};

/// Memory of one argument: `slices` of `rows` of `columns` elements.
struct MemoryRegion {
  ArgumentName name;
  const void* data = nullptr;
  std::int64_t element_bytes = 1;
  std::int64_t columns = 0;
  std::int64_t rows = 1;
  std::int64_t row_stride = 0;  ///< in elements, as the next
  std::int64_t slices = 1;
  std::int64_t slice_stride = 0;
  bool written = false;
};

/// Throws InvalidArgument naming two arguments that share an element, at least one of which is
/// written. Rows that lie between each other's without sharing one are apart. Null and empty
/// regions share nothing. Extents have to be addressable.
void check_overlap(std::span<const MemoryRegion> regions);

/// The same for a gradient's blocks and what else its run is given. Blocks whose buffers lie in
/// ascending order, block by block or each kind by itself, cost a few nanoseconds each; others are
/// sorted.
void check_overlap(std::span<const GradientBlock> blocks, std::span<const MemoryRegion> others);

}  // namespace vnjit
