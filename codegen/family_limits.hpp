#pragma once

#include <algorithm>
#include <cstdint>

#include "vnjit/codegen/device_limits.hpp"

// What the templates of the simt family are built for.

namespace vnjit {

constexpr int kThreadOut = 4;        ///< outputs of one batch row a thread accumulates
constexpr int kMaxThreadBatch = 16;  ///< batch rows a thread accumulates, at most
constexpr int kSegment = 512;        ///< noise elements a warp makes at once: 16 a lane

/// Deeper than four stages gains nothing measurable; copies through registers have one tile on
/// its way, so a third stage would stay empty.
inline int max_stages(const DeviceLimits& limits) { return limits.has_async_copy() ? 4 : 2; }

/// Thread blocks one multiprocessor holds, by warps, shared memory and block slots.
inline int resident_blocks(int warps, std::int64_t shared_bytes, const DeviceLimits& limits) {
  const std::int64_t by_shared =
      limits.shared_per_sm / (shared_bytes + limits.shared_reserved_per_block);
  const int by_warps = limits.max_warps_per_sm / warps;
  return static_cast<int>(std::min<std::int64_t>({by_shared, by_warps, limits.max_blocks_per_sm}));
}

}  // namespace vnjit
