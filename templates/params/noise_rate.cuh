#pragma once

namespace vnjit {

/// Run-time arguments of a noise-rate kernel, host and device alike.
struct NoiseRateParams {
  unsigned* folds;                ///< a word a thread; written
  unsigned long long first_seed;  ///< the others follow
  unsigned seeds;
};

}  // namespace vnjit
