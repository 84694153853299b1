#pragma once

#include "fragments.cuh"
#include "params/perturbed_linear.cuh"
#include "simt/perturbed_linear_shared.cuh"
#include "specialization.cuh"

namespace vnjit {

constexpr int kThreadOut = 4;
constexpr int kOutThreads = kBlockOut / kThreadOut;
constexpr int kBatchThreads = kThreads / kOutThreads;
constexpr int kThreadBatch = kBlockBatch / kBatchThreads;

constexpr int kSharedBytes = static_cast<int>(sizeof(SharedMemory));

/// The part of Y a thread accumulates: batch rows kBatchThreads apart, kThreadOut outputs in a row.
struct Accumulators {
  float values[kThreadBatch][kThreadOut];
};

__device__ __forceinline__ void multiply_tile(Accumulators& sums, const Stage& stage,
                                              const float* perturbed, int batch_thread,
                                              int out_thread) {
#pragma unroll 1  // 16 multiply-adds a row in flight; more only takes longer to compile
  for (int k = 0; k < kBlockIn; k += 4) {
    float4 weights[4];
#pragma unroll
    for (int n = 0; n < 4; ++n) {
      weights[n] = *reinterpret_cast<const float4*>(
          &perturbed[(k + n) * kPerturbedStride + out_thread * kThreadOut]);
    }
#pragma unroll
    for (int b = 0; b < kThreadBatch; ++b) {
      const float4 x = load4(&stage.x[(batch_thread + b * kBatchThreads) * kBlockIn + k]);
      const float inputs[4] = {x.x, x.y, x.z, x.w};
#pragma unroll
      for (int n = 0; n < 4; ++n) {
        sums.values[b][0] = fmaf(inputs[n], weights[n].x, sums.values[b][0]);
        sums.values[b][1] = fmaf(inputs[n], weights[n].y, sums.values[b][1]);
        sums.values[b][2] = fmaf(inputs[n], weights[n].z, sums.values[b][2]);
        sums.values[b][3] = fmaf(inputs[n], weights[n].w, sums.values[b][3]);
      }
    }
  }
}

/// One thread block computes kBlockBatch x kBlockOut of one individual's Y. Tiles of X and W pass
/// through a pipeline of kStages; each weight tile is perturbed once, then multiplied.
__device__ __forceinline__ void perturbed_linear(const PerturbedLinearParams& params) {
  extern __shared__ __align__(16) unsigned char shared_bytes[];
  SharedMemory& shared = *reinterpret_cast<SharedMemory*>(shared_bytes);

  Index in = static_cast<Index>(params.in);
  Index out = static_cast<Index>(params.out);
  //@if baked_shape
  in = kIn;
  out = kOut;
  //@endif
  const Index batch = static_cast<Index>(params.batch);
  const Index out_tiles = (out + kBlockOut - 1) / kBlockOut;
  const Index batch_tiles = (batch + kBlockBatch - 1) / kBlockBatch;
  const Index block = static_cast<Index>(params.first_block) + static_cast<Index>(blockIdx.x);
  const Index first_out = block % out_tiles * kBlockOut;
  const Index first_batch = block / out_tiles % batch_tiles * kBlockBatch;
  const Index individual = block / out_tiles / batch_tiles;

  float sigma = params.sigma_pointer ? *params.sigma_pointer : params.sigma;
  Index seed_index = individual;
  //@if antithetic
  seed_index = individual / 2;
  if (individual % 2 == 1) sigma = -sigma;
  //@endif
  const auto seed = static_cast<unsigned long long>(params.seeds[seed_index]);
  const unsigned long long noise_row_stride = params.noise_row_stride;
  const unsigned long long element = params.offset + first_out * noise_row_stride;

  //@if has_bias
  for (int n = static_cast<int>(threadIdx.x); n < kBlockOut; n += kThreads) {
    if (first_out + n < out) {
      const unsigned long long bias_element =
          params.offset + out * noise_row_stride + first_out + n;
      const float bias = to_float(static_cast<const Input*>(params.bias)[first_out + n]);
      shared.bias[n] = fmaf(sigma, Noise::value(seed, bias_element), bias);
    }
  }
  //@endif

  const Input* x = static_cast<const Input*>(params.x);
  const Index x_row_stride = static_cast<Index>(params.x_row_stride);
  //@if individual_x
  x += individual * static_cast<Index>(params.x_individual_stride);
  //@endif
  x += first_batch * x_row_stride;
  const Index weight_row_stride = static_cast<Index>(params.weight_row_stride);
  const Input* weight = static_cast<const Input*>(params.weight) + first_out * weight_row_stride;

  TileCopy<kBlockBatch, kBlockIn> x_copy;
  TileCopy<kBlockOut, kWeightStride> weight_copy;
  const auto begin_copy = [&](Index step) {
    Stage& stage = shared.stages[step % kStages];
    const Index k = step * kBlockIn;
    if (k < in) {
      x_copy.begin(stage.x, x + k, x_row_stride, batch - first_batch, in - k);
      weight_copy.begin(stage.weight, weight + k, weight_row_stride, out - first_out, in - k);
    }
    //@if async_copy
    commit_copies();  // an empty group too: the wait below counts groups, not tiles
    //@endif
  };
  const auto finish_copy = [&](Index step) {
    Stage& stage = shared.stages[step % kStages];
    if (step * kBlockIn < in) {
      x_copy.finish(stage.x);
      weight_copy.finish(stage.weight);
    }
  };

  const int out_thread = static_cast<int>(threadIdx.x) % kOutThreads;
  const int batch_thread = static_cast<int>(threadIdx.x) / kOutThreads;
  Accumulators sums = {};
#pragma unroll 1
  for (Index step = 0; step < kStages - 1; ++step) {
    begin_copy(step);
    finish_copy(step);
  }
  const Index steps = (in + kBlockIn - 1) / kBlockIn;
  for (Index step = 0; step < steps; ++step) {
    //@if single_stage
    __syncthreads();  // the only stage is still being read
    begin_copy(step);
    finish_copy(step);
    //@endif
    //@if async_copy
    wait_for_copies<kPendingStages>();
    //@endif
    __syncthreads();
    //@if !single_stage
    begin_copy(step + kStages - 1);  // into the stage that the step before has read
    //@endif
    const Stage& stage = shared.stages[step % kStages];
    perturb_tile(shared, stage, seed, element + step * kBlockIn, noise_row_stride, sigma);
    __syncthreads();
    multiply_tile(sums, stage, shared.perturbed, batch_thread, out_thread);
    //@if !single_stage
    finish_copy(step + kStages - 1);
    //@endif
  }

  //@if has_bias
  __syncthreads();
  //@endif
  const int first_column = out_thread * kThreadOut;
  const Index columns = out - first_out - first_column;  // left for this thread
  const Index y_row_stride = static_cast<Index>(params.y_row_stride);
  Output* y = static_cast<Output*>(params.y) +
              individual * static_cast<Index>(params.y_individual_stride) + first_out +
              first_column;
#pragma unroll
  for (int b = 0; b < kThreadBatch; ++b) {
    const Index row = first_batch + batch_thread + b * kBatchThreads;
    if (row >= batch) break;
#pragma unroll
    for (int n = 0; n < kThreadOut; ++n) {
      float value = sums.values[b][n];
      //@if has_bias
      value += shared.bias[first_column + n];
      //@endif
      if (n < columns) store1(y + row * y_row_stride + n, value);
    }
  }
}

}  // namespace vnjit
