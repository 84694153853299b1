#pragma once

#include "params/tensor_map.cuh"
#include "tensor/shared_memory.cuh"
#include "tensor/work.cuh"

namespace vnjit {

__device__ __forceinline__ unsigned shared_address(const void* data) {
  return static_cast<unsigned>(__cvta_generic_to_shared(data));
}

__device__ __forceinline__ void init_barrier(unsigned barrier, int arrivals) {
  asm volatile("mbarrier.init.shared::cta.b64 [%0], %1;" ::"r"(barrier), "r"(arrivals));
}

__device__ __forceinline__ void wait_barrier(unsigned barrier, unsigned parity) {
  asm volatile(
      "{\n"
      ".reg .pred done;\n"
      "wait: mbarrier.try_wait.parity.shared::cta.b64 done, [%0], %1;\n"
      "@!done bra wait;\n"
      "}" ::"r"(barrier),
      "r"(parity)
      : "memory");
}

/// Tiles in shared memory, kStages deep, filled by the copy engine at the word of the block's
/// first thread: those of all units of the block, in order.
class Pipeline {
 public:
  __device__ __forceinline__ Pipeline(SharedMemory& shared, const PerturbedLinearParams&,
                                      const TensorMap* x_map, const TensorMap* weight_map,
                                      const Work& work, int in)
      : shared_(shared), x_map_(x_map), weight_map_(weight_map), work_(work), in_(in) {
    if (threadIdx.x == 0) {
#pragma unroll
      for (int stage = 0; stage < kStages; ++stage) {
        init_barrier(shared_address(&shared.full[stage]), 1);
        init_barrier(shared_address(&shared.empty[stage]), kGroups);
      }
      asm volatile("fence.mbarrier_init.release.cluster;");
      begin_unit(in > 0 ? work.begin() : work.end());
      shared.cursor.stage = 0;
      shared.cursor.phase = 1;  // every stage is free at first
    }
    __syncthreads();
#pragma unroll 1
    for (int ahead = 0; ahead < kAhead; ++ahead) refill();
  }

  /// Waits for the next stage.
  __device__ __forceinline__ const Stage& wait() {
    wait_barrier(shared_address(&shared_.full[stage_]), phase_);
    refill();
    __syncwarp();  // a matrix instruction takes whole warps
    return shared_.stages[stage_];
  }

  /// The group has read the stage that wait() gave it.
  __device__ __forceinline__ void release() {
    if (threadIdx.x % 128 == 0) {
      asm volatile(
          "mbarrier.arrive.shared::cta.b64 _, [%0];" ::"r"(shared_address(&shared_.empty[stage_]))
          : "memory");
    }
    if (++stage_ == kStages) {
      stage_ = 0;
      phase_ ^= 1;
    }
  }

 private:
  /// Starts the loads of the next stage that has none, once it is free.
  __device__ __forceinline__ void refill() {
    if (threadIdx.x != 0) return;
    LoadCursor& cursor = shared_.cursor;
    if (cursor.unit >= work_.end()) return;
    const unsigned full = shared_address(&shared_.full[cursor.stage]);
    wait_barrier(shared_address(&shared_.empty[cursor.stage]), cursor.phase);
    asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(full),
                 "r"(static_cast<int>(sizeof(Stage)))
                 : "memory");
    Stage& stage = shared_.stages[cursor.stage];
#pragma unroll
    for (int s = 0; s < kStageSteps; ++s) {
      const int k = cursor.k + s * kStepIn;
#pragma unroll
      for (int i = 0; i < kIndividuals; ++i) {
        asm volatile(
            "cp.async.bulk.tensor.3d.shared::cluster.global.tile.mbarrier::complete_tx::bytes"
            " [%0], [%1, {%2, %3, %4}], [%5];" ::"r"(shared_address(stage.x[s] + i * kXBytes)),
            "l"(x_map_), "r"(k), "r"(cursor.first_batch), "r"(cursor.individual + i), "r"(full)
            : "memory");
      }
      //@if weight_tile
      asm volatile(
          "cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes"
          " [%0], [%1, {%2, %3}], [%4];" ::"r"(shared_address(stage.weight[s])),
          "l"(weight_map_), "r"(k), "r"(cursor.first_out), "r"(full)
          : "memory");
      //@endif
    }
    if (++cursor.stage == kStages) {
      cursor.stage = 0;
      cursor.phase ^= 1;
    }
    cursor.k += kBlockIn;
    if (cursor.k >= in_) begin_unit(static_cast<Index>(cursor.unit) + 1);
  }

  /// Loads on their way. One stage is still read, and one more gives the slower groups time.
  static constexpr int kAhead = kStages > 2 ? kStages - 2 : 1;

  __device__ __forceinline__ void begin_unit(Index n) {
    LoadCursor& cursor = shared_.cursor;
    cursor.unit = n;
    cursor.k = 0;
    if (n >= work_.end()) return;
    const Unit unit = work_[n];
    cursor.first_out = static_cast<int>(unit.first_out);
    cursor.first_batch = static_cast<int>(unit.first_batch);
    cursor.individual = 0;
    //@if individual_x
    cursor.individual = static_cast<int>(unit.individual);
    //@endif
  }

  SharedMemory& shared_;
  const TensorMap* x_map_;
  const TensorMap* weight_map_;
  const Work& work_;
  int in_;
  int stage_ = 0;
  unsigned phase_ = 0;
};

}  // namespace vnjit
