#pragma once

#include "bench_suite.hpp"

namespace vnjit::cli {

/// Suite `forward`. Cases `F1` to `F7` in fp16, `F1-bf16` to `F7-bf16`, `F1-triton` and
/// `F1-triton-f16`: triton noise, fp32 inputs and a product in tf32 or fp16, `F1-int8` and
/// `F2-int8`; and random ones. X is standard normal, W and the bias normal with variance 1 / in.
Suite forward_suite();

}  // namespace vnjit::cli
