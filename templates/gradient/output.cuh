#pragma once

#include "gradient/fragments.cuh"
//@if sgd
#include "gradient/sgd.cuh"
//@endif
//@if adam
#include "gradient/adam.cuh"
//@endif
#include "gradient/units.cuh"
#include "params/gradient.cuh"
#include "specialization.cuh"

namespace vnjit {

/// What makes the gradient of a total.
__device__ __forceinline__ double scale_of(const GradientParams& params, int shift) {
  const float sigma = params.sigma_pointer ? *params.sigma_pointer : params.sigma;
  return 1.0 / (params.divisor * static_cast<double>(sigma)) * Sums::unit(shift);
}

/// Writes element n of a unit, and updates its parameter, where it is one of the block's.
__device__ __forceinline__ void write(const GradientList& params, const Unit& unit, int n,
                                      float value) {
  const GradientBlock& block = params.blocks[unit.block];
  const long long index = unit.first + n;
  if (index < 0 || index >= block.run_elements) return;
  long long row = unit.row;
  long long column = index;
  const auto stride = static_cast<long long>(block.noise_row_stride);
  if (index >= stride) {
    const long long rows = (index | stride) >> 32
                               ? index / stride
                               : static_cast<unsigned>(index) / static_cast<unsigned>(stride);
    row += rows;
    column -= rows * stride;
  }
  if (column >= block.columns) return;
  if (block.output) block.output[row * block.output_row_stride + column] = value;
  //@if sgd
  float& sgd_weight = block.weight[row * block.weight_row_stride + column];
  sgd_weight = sgd_step(sgd_weight, value, params.learning_rate);
  //@endif
  //@if adam
  const AdamStep step = {params.learning_rate, params.beta1, params.beta2, params.root_correction,
                         params.epsilon};
  const long long at = row * block.weight_row_stride + column;
  block.weight[at] =
      adam_step(step, block.weight[at], value, block.first_moment[at], block.second_moment[at]);
  //@endif
}

}  // namespace vnjit
