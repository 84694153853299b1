#pragma once

#include "bench_suite.hpp"

namespace vnjit::cli {

/// Suite `gradient`. Cases `G1`, `G2`, `bias` and `model`, each with every noise variant, and
/// `G1-sgd` and `G1-adam`: a fused update in place of an output. Fitness is standard normal.
Suite gradient_suite();

}  // namespace vnjit::cli
