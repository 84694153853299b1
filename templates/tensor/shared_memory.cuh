#pragma once

#include "params/row_scale.cuh"
#include "specialization.cuh"

namespace vnjit {

constexpr int kRowBytes = 128;  ///< of a tile's row: one step along `in`
constexpr int kStepIn = kRowBytes / Operand::kBytes;
constexpr int kStageSteps = kBlockIn / kStepIn;
constexpr int kXBytes = kBlockBatch * kRowBytes;  ///< one individual's tile of a step
constexpr int kGroupOut = 64;                     ///< outputs of a group of four warps
constexpr int kGroups = kBlockOut / kGroupOut;
constexpr int kMaxStages = 6;
constexpr int kMaxStagingRows = 16;            ///< more save barriers, but take registers
constexpr int kStagingStride = kGroupOut + 4;  ///< floats: fragments are written without conflicts
constexpr int kStagingRows = kBlockBatch < kMaxStagingRows ? kBlockBatch : kMaxStagingRows;

/// Tiles of kStageSteps steps. Rows of 128 bytes, their 16-byte pieces exchanged: piece p of row r
/// lies where p ^ (r % 8) would (the copy engine's 128-byte swizzle).
struct Stage {
  unsigned char x[kStageSteps][kIndividuals * kXBytes];
  //@if weight_tile
  unsigned char weight[kStageSteps][kBlockOut * kRowBytes];
  //@endif
};

/// Where the loads of a block are: kept here for the one thread that starts them.
struct LoadCursor {
  long long unit;
  int k;
  int stage;
  unsigned phase;
  int first_out;
  int first_batch;
  int individual;
};

struct alignas(1024) SharedMemory {
  Stage stages[kStages];
  float staging[kGroups][kStagingRows * kStagingStride];  ///< of Y, batch rows of outputs
  //@if has_bias
  float shift[kGroups][kGroupOut];  ///< added to each output
  //@endif
  //@if quantized
  RowScale row_scales[kGroups][kBlockBatch];
  //@endif
  //@if noise
  Noise::Keys keys[kThreads / 32][kIndividuals];  ///< of each warp, for each individual
  //@endif
  unsigned long long full[kMaxStages];  ///< barriers of the copy engine
  unsigned long long empty[kMaxStages];
  LoadCursor cursor;
};

constexpr int kSharedBytes = static_cast<int>(sizeof(SharedMemory));

}  // namespace vnjit
