#pragma once

namespace vnjit {

/// A block of parameters of a gradient, host and device alike. It is cut into runs of noise
/// elements without large gaps: all of its rows, or a row each.
struct GradientBlockParams {
  unsigned long long offset;  ///< noise element of (0, 0)
  unsigned long long noise_row_stride;
  long long columns;
  long long run_elements;  ///< of one run, those between its rows included
  float* output;           ///< null: not written
  long long output_row_stride;
  unsigned first_unit;  ///< of the launch's units
  unsigned run_units;   ///< that cover one run, however it lies
};

struct SgdBlockParams : GradientBlockParams {
  float* weight;
  long long weight_row_stride;
};

struct AdamBlockParams : SgdBlockParams {
  float* first_moment;
  float* second_moment;
};

/// Run-time arguments of a gradient kernel. A unit is the noise elements of an aligned segment that
/// belong to one run; `unit_warps` warps of a thread block share a unit's individuals, and `parts`
/// thread blocks do, a cluster where there are no partials.
struct GradientParams {
  const float* fitness;
  const long long* seeds;
  const float* sigma_pointer;  ///< null: sigma
  void* partials;              ///< sums of the parts, (parts, units, segment elements)
  unsigned* counters;  ///< parts that arrived, of each group of units that a thread block takes; 0
  long long seed_count;
  double divisor;  ///< pop_size, times Var(N) for the unbiased estimate
  float sigma;
  unsigned units;
  unsigned parts;
  unsigned unit_warps;
  unsigned block_count;
  float learning_rate;  ///< of adam over 1 - beta1^step
  float beta1;
  float beta2;
  float root_correction;  ///< 1 / sqrt(1 - beta2^step)
  float epsilon;
};

/// As many blocks as a kernel's 4 KB of parameters hold.
template <typename Block>
struct GradientListParams : GradientParams {
  static constexpr int kBlocks = (4096 - static_cast<int>(sizeof(GradientParams))) / sizeof(Block);
  Block blocks[kBlocks];
};

}  // namespace vnjit
