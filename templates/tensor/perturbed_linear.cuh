#pragma once

#include "params/perturbed_linear.cuh"
#include "params/tensor_map.cuh"
#include "specialization.cuh"
#include "tensor/fragments.cuh"
//@if fused
#include "tensor/fuse.cuh"
//@endif
#include "tensor/store_tile.cuh"
#include "tensor/work.cuh"

namespace vnjit {

/// One individual's seed and the sign of its noise.
struct Individual {
  unsigned long long seed;
  float sigma;
};

__device__ __forceinline__ Individual load_individual(const PerturbedLinearParams& params,
                                                      Index individual) {
  float sigma = params.sigma_pointer ? *params.sigma_pointer : params.sigma;
  Index last = static_cast<Index>(params.pop) - 1;
  //@if antithetic_pairs
  last /= 2;  // what is counted are pairs: the second of each is made from the first
  //@endif
  if (individual > last) individual = last;  // beside the last one of a group: not stored
  //@if antithetic
  if (individual % 2 == 1) sigma = -sigma;
  individual /= 2;
  //@endif
  return {static_cast<unsigned long long>(params.seeds[individual]), sigma};
}

/// Noise element of the first weight of fragment row `row`.
__device__ __forceinline__ unsigned long long first_element(const PerturbedLinearParams& params,
                                                            const Unit& unit, int row) {
  const Index output = unit.first_out + group_first_row() + fragment_row(row);
  return params.offset + output * params.noise_row_stride;
}

__device__ __forceinline__ void store_individual(const PerturbedLinearParams& params,
                                                 SharedMemory& shared, const Unit& unit,
                                                 Index individual, unsigned long long seed,
                                                 float sigma, const Product::Sums& sums,
                                                 float scale) {
  if (individual >= static_cast<Index>(params.pop)) return;
  const int group = group_of_thread();
  const Index first_out = unit.first_out + group * kGroupOut;
  const Index columns = static_cast<Index>(params.out) - first_out;
  const float* shift = nullptr;
  //@if has_bias
  shift = shared.shift[group];
  sync_group();  // the tile before has read it
  const int n = static_cast<int>(threadIdx.x) % 128;
  if (n < kGroupOut && n < columns) {
    const unsigned long long element =
        params.offset + params.out * params.noise_row_stride + first_out + n;
    float bias = 0.0f;
    //@if !has_base
    bias = to_float(static_cast<const Input*>(params.bias)[first_out + n]);
    //@endif
    shared.shift[group][n] = fmaf(sigma, Noise::value(seed, element), bias);
  }
  //@endif
  const RowScale* row_scales = nullptr;
  //@if quantized
  row_scales = shared.row_scales[group];
  sync_group();  // the tile before has read them
  for (int b = static_cast<int>(threadIdx.x) % 128; b < kBlockBatch; b += 128) {
    const Index row = unit.first_batch + b;
    shared.row_scales[group][b] =
        row < static_cast<Index>(params.batch) ? params.row_scales[row] : RowScale{};
  }
  //@endif
  TileTarget target = {};
  target.y = static_cast<Output*>(params.y) +
             individual * static_cast<Index>(params.y_individual_stride) +
             unit.first_batch * static_cast<Index>(params.y_row_stride) + first_out;
  target.y_row_stride = static_cast<Index>(params.y_row_stride);
  target.rows = static_cast<Index>(params.batch) - unit.first_batch;
  target.columns = columns;
  target.vector = params.vector_y;
  //@if has_base
  target.base =
      params.base + unit.first_batch * static_cast<Index>(params.base_row_stride) + first_out;
  target.base_row_stride = static_cast<Index>(params.base_row_stride);
  //@endif
  //@if dependent_launch
  asm volatile("griddepcontrol.wait;" ::: "memory");  // the kernel before has written base
  //@endif
  store_tile(sums, scale, row_scales, shared.staging[group], shift, target);
}

/// Y of the block's units: each step makes its share of the noise in registers, in the layout of
/// the matrix instruction, and multiplies it with the step's tile of X.
__device__ __forceinline__ void perturbed_linear(const PerturbedLinearParams& params
                                                 //@if tensor_maps
                                                 ,
                                                 const TensorMap* x_map, const TensorMap* weight_map
                                                 //@endif
) {
  extern __shared__ __align__(1024) unsigned char shared_bytes[];
  SharedMemory& shared = *reinterpret_cast<SharedMemory*>(shared_bytes);
  const int lane = static_cast<int>(threadIdx.x) & 31;
  int in = static_cast<int>(params.in);
  //@if baked_shape
  in = kIn;
  //@endif
  const int steps = (in + kStepIn - 1) / kStepIn;
  const Work work(params);
  Pipeline pipeline(shared, params,
                    //@if tensor_maps
                    x_map, weight_map,
                    //@endif
                    work, in);
  NoiseRows noise;
  Noise::Keys(&keys)[kIndividuals] = shared.keys[threadIdx.x / 32];
  //@if fused
  float sigmas[kIndividuals];
  //@endif
  for (Index n = work.begin(); n < work.end(); ++n) {
    const Unit unit = work[n];
    __syncwarp();  // the keys before have been read
#pragma unroll
    for (int i = 0; i < kIndividuals; ++i) {
      const Individual individual = load_individual(params, unit.individual + i);
      if (lane == 0) keys[i] = Noise::keys(individual.seed);
      //@if fused
      sigmas[i] = individual.sigma;
      //@endif
    }
    __syncwarp();
    noise.start(first_element(params, unit, lane >> 2),
                first_element(params, unit, (lane >> 2) + 8), static_cast<unsigned>(lane) & 3u);
#pragma unroll
    for (int i = 0; i < kIndividuals; ++i) noise.begin(keys[i], i);
    unsigned fragments[16];
    noise.make(fragments, keys[0], 0, 0);

    Product::Sums sums[kIndividuals] = {};
    //@if weight_product
    Product::Sums weights[kIndividuals] = {};
    //@endif
#pragma unroll 1
    for (int step = 0; step < steps;) {
      const Stage& stage = pipeline.wait();
#pragma unroll
      for (int s = 0; s < kStageSteps; ++s) {
        if (s > 0 && step == steps) break;
        ++step;
#pragma unroll
        for (int i = 0; i < kIndividuals; ++i) {
          const unsigned char* x = stage.x[s] + i * kXBytes;
          //@if fused
          fuse(fragments, stage.weight[s], NoiseRows::kScale * sigmas[i]);
          //@endif
          Product::multiply(sums[i], fragments, x);
          //@if weight_product
          Product::multiply_weight(weights[i], stage.weight[s], x);
          //@endif
          Product::finish(sums[i], fragments);
          //@if weight_product
          Product::finish(weights[i]);
          //@endif
          if (i + 1 < kIndividuals) {
            noise.make(fragments, keys[i + 1], i + 1, static_cast<unsigned>(step) - 1);
          }
        }
        if (s + 1 == kStageSteps || step == steps) pipeline.release();
        if (step < steps) noise.make(fragments, keys[0], 0, static_cast<unsigned>(step));
      }
    }

#pragma unroll
    for (int i = 0; i < kIndividuals; ++i) {
      const Individual individual = load_individual(params, unit.individual + i);
      float scale = 1.0f;
      //@if !fused
      scale = NoiseRows::kScale * individual.sigma;
      //@endif
      //@if weight_product
#pragma unroll
      for (int v = 0; v < kBlockBatch / 2; ++v) {
        sums[i][v] = fmaf(scale, sums[i][v], weights[i][v]);
      }
      scale = 1.0f;
      //@endif
      Index which = unit.individual + i;
      //@if antithetic_pairs
      which *= 2;
      store_individual(params, shared, unit, which + 1, individual.seed, -individual.sigma, sums[i],
                       -scale);
      //@endif
      store_individual(params, shared, unit, which, individual.seed, individual.sigma, sums[i],
                       scale);
    }
  }
}

}  // namespace vnjit
