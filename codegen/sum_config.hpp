#pragma once

#include <cstdint>
#include <vector>

#include "vnjit/codegen/config.hpp"

// What follows from a config of the operations that sum over noise: gradient and reduce metric. A
// warp owns segments of block_in noise elements, and a thread block sums over a part of the
// population, or of the parameters.

namespace vnjit {

/// Whether a gradient's values are whole numbers of a unit, so that its sums are exact.
bool has_integer_sums(const NoiseSpec& noise);

/// Noise elements of a gradient warp's segment: 512, or with mma_sync of rademacher noise 1024.
int segment_elements(const Gradient& problem, Family family);

/// Bytes of one sum over the population.
int total_bytes(const Gradient& problem);

/// fixed_shared_bytes() of a gradient or reduce metric.
std::int64_t sum_fixed_bytes(const Config& config, const Gradient& problem);
std::int64_t sum_fixed_bytes(const Config& config, const ReduceMetric& problem);

/// validate() of a gradient or reduce metric.
void validate_sum(const Config& config, const Gradient& problem, const DeviceLimits& limits);
void validate_sum(const Config& config, const ReduceMetric& problem);

/// Every layout worth trying, valid or not.
std::vector<Config> sum_layouts(const Gradient& problem, const DeviceLimits& limits);
std::vector<Config> sum_layouts(const ReduceMetric& problem);

}  // namespace vnjit
