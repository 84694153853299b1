#pragma once

#include "tensor/shared_memory.cuh"
#include "tensor/work.cuh"

namespace vnjit {

/// Tiles in shared memory, kStages deep, filled by background copies of 16 bytes (cp.async):
/// those of all units of the block, in order. What lies outside the matrices becomes 0.
class Pipeline {
 public:
  __device__ __forceinline__ Pipeline(SharedMemory& shared, const PerturbedLinearParams& params,
                                      const Work& work, int in)
      : shared_(shared), params_(params), work_(work), in_(in), load_unit_(work.begin()) {
    if (in == 0) load_unit_ = work.end();
#pragma unroll 1
    for (int ahead = 1; ahead < kStages; ++ahead) load_next();
  }

  /// Waits for the next stage. All warps have read the one before then: it is filled again.
  __device__ __forceinline__ const Stage& wait() {
    //@if single_stage
    __syncthreads();
    load_next();
    //@endif
    asm volatile("cp.async.wait_group %0;" ::"n"(kStages > 1 ? kStages - 2 : 0) : "memory");
    __syncthreads();
    //@if !single_stage
    load_next();
    //@endif
    const Stage& stage = shared_.stages[stage_];
    if (++stage_ == kStages) stage_ = 0;
    return stage;
  }

  __device__ __forceinline__ void release() const {}  // wait() is for all warps

 private:
  /// Starts the copies of the next stage that has none.
  __device__ __forceinline__ void load_next() {
    if (load_unit_ < work_.end()) {
      const Unit unit = work_[load_unit_];
      Stage& stage = shared_.stages[load_stage_];
#pragma unroll
      for (int s = 0; s < kStageSteps; ++s) {
        const Index k = load_k_ + s * kStepIn;
        copy_x(stage.x[s], unit, k);
        //@if weight_tile
        copy_rows<kBlockOut>(stage.weight[s], params_.weight,
                             unit.first_out * static_cast<Index>(params_.weight_row_stride) + k,
                             static_cast<Index>(params_.weight_row_stride),
                             static_cast<Index>(params_.out) - unit.first_out, in_ - k);
        //@endif
      }
      if (++load_stage_ == kStages) load_stage_ = 0;
      load_k_ += kBlockIn;
      if (load_k_ >= in_) {
        load_k_ = 0;
        ++load_unit_;
      }
    }
    asm volatile("cp.async.commit_group;" ::: "memory");  // an empty group too: groups are counted
  }

  __device__ __forceinline__ void copy_x(unsigned char* tile, const Unit& unit, Index k) {
    Index first = unit.first_batch * static_cast<Index>(params_.x_row_stride) + k;
    const Index rows = static_cast<Index>(params_.batch) - unit.first_batch;
#pragma unroll
    for (int i = 0; i < kIndividuals; ++i) {
      Index count = rows;
      //@if individual_x
      const Index individual = unit.individual + i;
      if (individual >= static_cast<Index>(params_.pop)) count = 0;
      first = individual * static_cast<Index>(params_.x_individual_stride) +
              unit.first_batch * static_cast<Index>(params_.x_row_stride) + k;
      //@endif
      copy_rows<kBlockBatch>(tile + i * kXBytes, params_.x, first,
                             static_cast<Index>(params_.x_row_stride), count, in_ - k);
    }
  }

  template <int kRows>
  __device__ __forceinline__ static void copy_rows(unsigned char* tile, const void* matrix,
                                                   Index first, Index row_stride, Index rows,
                                                   Index columns) {
    constexpr int kPieces = kRowBytes / 16;
    constexpr int kPieceElements = 16 / Operand::kBytes;
    const unsigned char* source = static_cast<const unsigned char*>(matrix);
#pragma unroll
    for (int start = 0; start < kRows * kPieces; start += kThreads) {
      const int n = start + static_cast<int>(threadIdx.x);
      if (kRows * kPieces % kThreads != 0 && n >= kRows * kPieces) break;
      const int row = n / kPieces;
      const int piece = n % kPieces;
      const bool inside = row < rows && piece * kPieceElements < columns;
      // Outside, a valid address that is not read: with 0 source bytes the copy writes zeros.
      const unsigned char* from =
          inside ? source + (first + row * row_stride + piece * kPieceElements) * Operand::kBytes
                 : source;
      const auto to = static_cast<unsigned>(
          __cvta_generic_to_shared(tile + row * kRowBytes + ((piece ^ (row & 7)) << 4)));
      asm volatile("cp.async.cg.shared.global [%0], [%1], 16, %2;" ::"r"(to), "l"(from),
                   "r"(inside ? 16 : 0)
                   : "memory");
    }
  }

  SharedMemory& shared_;
  const PerturbedLinearParams& params_;
  const Work& work_;
  Index in_;
  Index load_unit_;
  Index load_k_ = 0;
  int load_stage_ = 0;
  int stage_ = 0;
};

}  // namespace vnjit
