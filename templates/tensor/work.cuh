#pragma once

#include "params/perturbed_linear.cuh"
#include "specialization.cuh"

namespace vnjit {

/// The tile of Y that a block computes at a time: kBlockOut outputs, kBlockBatch batch rows,
/// kIndividuals individuals.
struct Unit {
  Index first_out;
  Index first_batch;
  Index individual;  ///< the first; with antithetic pairs of a shared X the first pair
};

/// The units of a problem, divided evenly over the blocks of the grid: each takes its share one
/// after another, through one pipeline.
class Work {
 public:
  __device__ __forceinline__ explicit Work(const PerturbedLinearParams& params) : params_(params) {
    const unsigned long long units =
        static_cast<unsigned long long>(out_tiles() * batch_tiles()) * groups();
    // The first blocks take one more where it does not come out even: the last ones may have to
    // wait for their multiprocessor.
    const unsigned long long share = units / gridDim.x;
    const unsigned more = static_cast<unsigned>(units % gridDim.x);
    begin_ = static_cast<Index>(share * blockIdx.x + min(blockIdx.x, more));
    end_ = begin_ + static_cast<Index>(share) + (blockIdx.x < more ? 1 : 0);
  }

  __device__ __forceinline__ Index begin() const { return begin_; }
  __device__ __forceinline__ Index end() const { return end_; }

  /// X is shared: individuals follow each other on one tile. X is per individual: the tiles of
  /// one individual follow each other, so that its rows are still in the cache. Worked out anew
  /// each time: registers are dearer.
  __device__ __forceinline__ Unit operator[](Index unit) const {
    Index individual = unit % groups();
    Index tile = unit / groups();
    //@if individual_x
    individual = unit / (out_tiles() * batch_tiles());
    tile = unit % (out_tiles() * batch_tiles());
    //@endif
    return {tile % out_tiles() * kBlockOut, tile / out_tiles() * kBlockBatch,
            individual * kIndividuals};
  }

 private:
  __device__ __forceinline__ Index out_tiles() const {
    return (static_cast<Index>(params_.out) + kBlockOut - 1) / kBlockOut;
  }
  __device__ __forceinline__ Index batch_tiles() const {
    return (static_cast<Index>(params_.batch) + kBlockBatch - 1) / kBlockBatch;
  }
  __device__ __forceinline__ Index groups() const {
    Index individuals = static_cast<Index>(params_.pop);
    //@if antithetic_pairs
    individuals /= 2;
    //@endif
    return (individuals + kIndividuals - 1) / kIndividuals;
  }

  const PerturbedLinearParams& params_;
  Index begin_;
  Index end_;
};

}  // namespace vnjit
