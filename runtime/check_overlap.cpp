#include "vnjit/runtime/check_overlap.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <vector>

#include "vnjit/codegen/error.hpp"

namespace vnjit {
namespace {

using Address = std::uintptr_t;

constexpr Address kFloatBytes = 4;

/// Pieces of memory, all of one size, one every `period` bytes; a single one has period 0.
struct Pieces {
  Address bytes = 0;
  Address period = 0;
};

struct Range {
  Address begin = 0;
  Address end = 0;

  bool meets(const Range& other) const { return begin < other.end && other.begin < end; }
};

Address bytes_of(std::int64_t elements, std::int64_t element_bytes) {
  return static_cast<Address>(elements) * static_cast<Address>(element_bytes);
}

bool is_empty(const MemoryRegion& region) {
  return region.data == nullptr || region.columns == 0 || region.rows == 0 || region.slices == 0;
}

/// From the first to the last byte of one slice.
Address slice_bytes(const MemoryRegion& region) {
  return bytes_of((region.rows - 1) * region.row_stride + region.columns, region.element_bytes);
}

/// From the first to the last byte. An empty one ends where it begins.
Range hull(const MemoryRegion& region) {
  const auto begin = reinterpret_cast<Address>(region.data);
  if (is_empty(region)) return {begin, begin};
  return {begin, begin + bytes_of((region.slices - 1) * region.slice_stride, region.element_bytes) +
                     slice_bytes(region)};
}

Pieces slices_of(const MemoryRegion& region) {
  return {slice_bytes(region),
          region.slices > 1 ? bytes_of(region.slice_stride, region.element_bytes) : 0};
}

/// None where the rows of slices are not one sequence.
Pieces rows_of(const MemoryRegion& region) {
  if (region.slices > 1 && region.slice_stride != region.rows * region.row_stride) {
    return slices_of(region);
  }
  const bool several = region.rows * region.slices > 1;
  return {bytes_of(region.columns, region.element_bytes),
          several ? bytes_of(region.row_stride, region.element_bytes) : 0};
}

/// Whether pieces from two addresses on, however many, never meet. A single piece is taken for one
/// that repeats.
bool interleave(Address a, const Pieces& as, Address b, const Pieces& bs) {
  const Address period = std::max(as.period, bs.period);
  if (period == 0) return false;
  for (const Pieces& pieces : {as, bs}) {
    if (pieces.period != period && (pieces.period != 0 || pieces.bytes > period)) return false;
  }
  const Address distance = b >= a ? (b - a) % period : (period - (a - b) % period) % period;
  return as.bytes <= distance && distance + bs.bytes <= period;
}

bool apart(const MemoryRegion& a, const MemoryRegion& b) {
  const Range first = hull(a);
  const Range second = hull(b);
  if (!first.meets(second)) return true;
  return interleave(first.begin, rows_of(a), second.begin, rows_of(b)) ||
         interleave(first.begin, slices_of(a), second.begin, slices_of(b));
}

[[noreturn, gnu::cold, gnu::noinline]] void refuse(const MemoryRegion& a, const MemoryRegion& b) {
  const Range first = hull(a);
  const Range second = hull(b);
  throw InvalidArgument(fmt::format(
      "{} and {} overlap: {:#x} to {:#x} and {:#x} to {:#x}; what a run writes needs memory of its "
      "own",
      a.name.text(), b.name.text(), first.begin, first.end, second.begin, second.end));
}

void require_apart(const MemoryRegion& a, const MemoryRegion& b) {
  if ((a.written || b.written) && !is_empty(a) && !is_empty(b) && !apart(a, b)) refuse(a, b);
}

MemoryRegion region_of(std::string_view field, std::size_t index, const GradientBlock& block,
                       const float* data, std::int64_t row_stride) {
  return {.name = {field, static_cast<std::int64_t>(index)},
          .data = data,
          .element_bytes = kFloatBytes,
          .columns = block.columns,
          .rows = block.rows,
          .row_stride = row_stride != 0 ? row_stride : block.columns,
          .written = true};
}

/// Each pair that meets, by a sweep over the regions in order of their addresses.
[[gnu::cold, gnu::noinline]] void check_sorted(std::span<const GradientBlock> blocks,
                                               std::span<const MemoryRegion> others) {
  std::vector<MemoryRegion> all(others.begin(), others.end());
  for (std::size_t index = 0; index < blocks.size(); ++index) {
    const GradientBlock& block = blocks[index];
    all.push_back(region_of("output", index, block, block.output, block.output_row_stride));
    all.push_back(region_of("weight", index, block, block.weight, block.weight_row_stride));
    all.push_back(
        region_of("first_moment", index, block, block.first_moment, block.weight_row_stride));
    all.push_back(
        region_of("second_moment", index, block, block.second_moment, block.weight_row_stride));
  }
  std::erase_if(all, is_empty);
  std::ranges::sort(all, {}, &MemoryRegion::data);
  for (std::size_t first = 0; first < all.size(); ++first) {
    const Address end = hull(all[first]).end;
    for (std::size_t second = first + 1; second < all.size(); ++second) {
      if (reinterpret_cast<Address>(all[second].data) >= end) break;
      require_apart(all[first], all[second]);
    }
  }
}

/// The hull of buffers that are looked at one after the other, as long as they ascend.
struct Ascending {
  Range range{};
  bool holds = true;

  void add(Address begin, Address bytes) {
    holds &= begin >= range.end;
    range.begin = range.end == 0 ? begin : range.begin;
    range.end = begin + bytes;
  }
};

Address floats_in(std::int64_t rows, std::int64_t columns, std::int64_t row_stride) {
  return bytes_of((rows - 1) * (row_stride != 0 ? row_stride : columns) + columns, kFloatBytes);
}

}  // namespace

std::string ArgumentName::text() const {
  return block < 0 ? std::string(field) : fmt::format("blocks[{}].{}", block, field);
}

void check_overlap(std::span<const MemoryRegion> regions) {
  constexpr std::size_t kMost = 8;
  Range hulls[kMost];
  const std::size_t count = std::min(regions.size(), kMost);
  bool clear = regions.size() <= kMost;
  for (std::size_t n = 0; n < count; ++n) hulls[n] = hull(regions[n]);
  for (std::size_t first = 0; first < count; ++first) {
    if (!regions[first].written) continue;
    for (std::size_t second = 0; second < count; ++second) {
      clear &= first == second || !hulls[first].meets(hulls[second]);
    }
  }
  if (clear) [[likely]] {
    return;
  }
  for (std::size_t first = 0; first < regions.size(); ++first) {
    for (std::size_t second = first + 1; second < regions.size(); ++second) {
      require_apart(regions[first], regions[second]);
    }
  }
}

bool are_apart_in_order(std::span<const GradientBlock> blocks,
                        std::span<const MemoryRegion> others) {
  std::array<Ascending, 4> kinds;
  Ascending all;
  for (const GradientBlock& block : blocks) {
    if (block.rows == 0 || block.columns == 0) continue;
    const auto add = [&](std::size_t kind, const float* data, Address bytes) {
      if (data == nullptr) return;
      kinds[kind].add(reinterpret_cast<Address>(data), bytes);
      all.add(reinterpret_cast<Address>(data), bytes);
    };
    add(0, block.output, floats_in(block.rows, block.columns, block.output_row_stride));
    if (block.weight == nullptr) continue;
    const Address bytes = floats_in(block.rows, block.columns, block.weight_row_stride);
    add(1, block.weight, bytes);
    add(2, block.first_moment, bytes);
    add(3, block.second_moment, bytes);
  }
  bool clear = true;
  for (std::size_t first = 0; first < kinds.size(); ++first) {
    clear &= kinds[first].holds;
    for (std::size_t second = first + 1; second < kinds.size(); ++second) {
      clear &= !kinds[first].range.meets(kinds[second].range);
    }
  }
  clear |= all.holds;
  for (const MemoryRegion& other : others) {
    for (const Ascending& kind : kinds) clear &= !kind.range.meets(hull(other));
  }
  return clear;
}

void check_overlap(std::span<const GradientBlock> blocks, std::span<const MemoryRegion> others) {
  if (are_apart_in_order(blocks, others)) return check_overlap(others);
  check_sorted(blocks, others);
}

}  // namespace vnjit
