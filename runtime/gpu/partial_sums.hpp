#pragma once

#include <cstddef>
#include <cstdint>

#include "vnjit/runtime/gpu/device.hpp"

namespace vnjit {

/// Workspace of a kernel whose thread blocks leave sums for the last of their group to add up:
/// a counter a group, and the sums.
struct PartialSums {
  std::size_t counters = 0;  ///< bytes of the counters
  std::size_t bytes = 0;     ///< of all; beyond 2^62 where the sizes are beyond any memory

  /// None, where there is one part only.
  PartialSums() = default;
  PartialSums(std::int64_t groups, std::int64_t sums, std::int64_t sum_bytes);

  /// Sets the counters at the start of `workspace` to zero, in the order of the stream.
  void clear(const GpuDevice& device, void* workspace, StreamHandle stream) const;
};

}  // namespace vnjit
