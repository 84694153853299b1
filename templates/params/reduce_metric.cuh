#pragma once

namespace vnjit {

/// Run-time arguments of a reduce-metric kernel, host and device alike.
struct ReduceMetricParams {
  const void* center;
  const long long* seeds;
  float* metric;
  const float* sigma_pointer;  ///< null: sigma
  unsigned long long offset;   ///< noise element of center[0]
  long long params;
  long long first_block;  ///< of this launch: a grid beyond the device's limit is split
  float sigma;
};

}  // namespace vnjit
