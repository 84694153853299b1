#pragma once

namespace vnjit {

/// Run-time arguments of a reduce-metric kernel, host and device alike. A thread block takes the
/// individuals of `group_seeds` seeds, the last group those left, over one of `chunks` parts of the
/// parameters.
struct ReduceMetricParams {
  const void* center;
  const long long* seeds;
  float* metric;
  const float* sigma_pointer;  ///< null: sigma
  float* partials;             ///< with more than one chunk: sums, (chunks, individuals)
  unsigned* counters;          ///< chunks that arrived, of each group; 0
  unsigned long long offset;   ///< noise element of center[0]
  long long params;
  long long seed_count;
  long long segments;  ///< of 512 noise elements, aligned, that hold the parameters
  unsigned chunks;
  unsigned group_seeds;
  float sigma;
};

}  // namespace vnjit
