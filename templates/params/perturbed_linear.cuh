#pragma once

#include "params/row_scale.cuh"

namespace vnjit {

/// Run-time arguments of a perturbed-linear kernel, host and device alike. Strides in elements.
struct PerturbedLinearParams {
  const void* x;
  const void* weight;
  const void* bias;
  const RowScale* row_scales;  ///< of a quantized X
  const float* base;  ///< X*W^T + b made by a kernel before, rows of base_row_stride; tensor cores
  void* y;
  const long long* seeds;
  const float* sigma_pointer;  ///< null: sigma
  unsigned long long offset;   ///< noise element of weight (0, 0)
  unsigned long long noise_row_stride;
  long long pop;
  long long batch;
  long long in;
  long long out;
  long long x_individual_stride;
  long long x_row_stride;
  long long weight_row_stride;
  long long base_row_stride;
  long long y_individual_stride;
  long long y_row_stride;
  long long first_block;  ///< of this launch: a grid beyond the device's limit is split
  float sigma;
  int vector_y;  ///< rows of Y and base can be written and read four elements at a time
};

}  // namespace vnjit
