#pragma once

namespace vnjit {

/// Run-time arguments of a gradient kernel for one block of parameters, host and device alike.
struct GradientParams {
  const float* fitness;
  const long long* seeds;
  float* output;
  const float* sigma_pointer;  ///< null: sigma
  unsigned long long offset;   ///< noise element of (0, 0)
  unsigned long long noise_row_stride;
  long long seed_count;
  long long columns;
  long long output_row_stride;
  long long row_segments;  ///< thread blocks a row of parameters takes
  long long first_block;   ///< of this launch: a grid beyond the device's limit is split
  float sigma;
  float scale;  ///< 1 / pop_size, or 1 / (pop_size*Var(N)) for the unbiased estimate
};

}  // namespace vnjit
