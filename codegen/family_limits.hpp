#pragma once

#include <algorithm>
#include <cstdint>

#include "vnjit/codegen/config.hpp"
#include "vnjit/codegen/device_limits.hpp"

// What the templates of the kernel families are built for.

namespace vnjit {

// simt
constexpr int kThreadOut = 4;        ///< outputs of one batch row a thread accumulates
constexpr int kMaxThreadBatch = 16;  ///< batch rows a thread accumulates, at most
constexpr int kSegment = 512;        ///< noise elements a warp makes at once: 16 a lane

/// Batch rows a thread of simt accumulates.
inline int thread_batch(const Config& config) {
  return config.block_out * config.block_batch / (kThreadOut * config.threads());
}

// mma_sync and wgmma
constexpr int kWarpOut = 16;         ///< outputs of a warp
constexpr int kGroupOut = 64;        ///< outputs of the four warps that store a tile together
constexpr int kRowBytes = 128;       ///< of a tile's row: one step along `in`
constexpr int kMaxStageSteps = 4;    ///< steps of a pipeline stage
constexpr int kMaxIndividuals = 8;   ///< side by side
constexpr int kMaxStagingRows = 16;  ///< batch rows of Y that pass through shared memory at a time

/// Depth of a family's pipeline, at most. Of simt no deeper one is measurably faster; copies
/// through registers have one tile on its way, so a third stage would stay empty.
inline int max_stages(Family family, const DeviceLimits& limits) {
  if (family != Family::simt) return 6;
  return limits.has_async_copy() ? 4 : 2;
}

/// Depth, at least: a block of wgmma reads one stage while the copy engine fills another.
inline int min_stages(Family family) { return family == Family::wgmma ? 2 : 1; }

/// Thread blocks one multiprocessor holds, by warps, shared memory and block slots.
inline int resident_blocks(int warps, std::int64_t shared_bytes, const DeviceLimits& limits) {
  const std::int64_t by_shared =
      limits.shared_per_sm / (shared_bytes + limits.shared_reserved_per_block);
  const int by_warps = limits.max_warps_per_sm / warps;
  return static_cast<int>(std::min<std::int64_t>({by_shared, by_warps, limits.max_blocks_per_sm}));
}

}  // namespace vnjit
