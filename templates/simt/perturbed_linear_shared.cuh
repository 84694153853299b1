#pragma once

#include "specialization.cuh"

namespace vnjit {

// Padding keeps the accesses of a warp in different banks: weight rows are read by four lanes in
// pieces of two elements, columns of the perturbed tile are written eight rows at a time.
constexpr int kWeightStride = kBlockIn + 8;
constexpr int kPerturbedStride = kBlockOut + 4;

struct alignas(16) Stage {
  Input x[kBlockBatch * kBlockIn];
  Input weight[kBlockOut * kWeightStride];
};

struct SharedMemory {
  Stage stages[kStages];
  float perturbed[kBlockIn * kPerturbedStride];  // W + sigma*N of one step, [in][out]
  //@if has_bias
  float bias[kBlockOut];  // b + sigma*nb
  //@endif
};

}  // namespace vnjit
