#pragma once

#include "bench_suite.hpp"

namespace vnjit::cli {

/// Suite `reduce`. Cases `R1` and `R2` with every noise variant, and `R1-antithetic` and
/// `R2-antithetic`. The center is standard normal, in fp32.
Suite reduce_suite();

}  // namespace vnjit::cli
