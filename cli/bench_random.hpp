#pragma once

#include <cstdint>
#include <vector>

#include "bench_row.hpp"

namespace vnjit::cli {

/// `R1`, `R2`, …: fp16 forward problems of both layouts whose pop, batch, in and out are
/// log-uniform. Half of them have an `in` of whole noise blocks (64), a quarter of 16, the others
/// any. The same seed draws the same cases, of which the first do not depend on `count`.
std::vector<BenchCase> random_forward_cases(std::int64_t count, std::uint64_t seed);

}  // namespace vnjit::cli
