#pragma once

#include <cstdint>
#include <string>

#include "vnjit/codegen/config.hpp"

// How the work of an operation that sums over noise is cut into thread blocks, so that a device is
// full whatever the sizes. Pure: the same answer for a workspace, its run and the cost model.

namespace vnjit {

/// Clocks that one of a multiprocessor's four schedulers takes to make a warp's 512 noise values
/// and add them, measured on an H200.
double segment_clocks(const NoiseSpec& noise, Family family);
double reduce_segment_clocks(const NoiseSpec& noise);

/// Segments of the problem's own parameters, contiguous; at most 2^62.
std::int64_t segment_count(const Config& config, const Gradient& problem);
std::int64_t segment_count(const Config& config, const ReduceMetric& problem);

/// Of a gradient's individuals: `unit_warps` warps of a thread block share those of its part. The
/// thread blocks of the parts are a cluster, or leave their sums in memory.
struct PopulationSplit {
  int unit_warps = 1;
  int parts = 1;
  bool cluster = false;
  double clocks = 0;  ///< predicted

  /// Thread blocks of one part.
  std::int64_t groups(const Config& config, std::int64_t units) const {
    const std::int64_t group_units = config.warps / unit_warps;
    return units / group_units + (units % group_units > 0 ? 1 : 0);
  }
};

/// `units` segments of warps, at least 1, summed over `seeds`, at least 1.
PopulationSplit split_population(const Config& config, const Gradient& problem, std::int64_t units,
                                 std::int64_t seeds, const DeviceLimits& limits);

/// Of a reduce metric: a thread block takes the individuals of `group_seeds` seeds and one of
/// `chunks` parts of the parameters.
struct ParameterSplit {
  std::int64_t groups = 1;
  std::int64_t group_seeds = 1;
  std::int64_t chunks = 1;
  double clocks = 0;  ///< predicted
};

/// `seeds`, at least 1, over `segments` of parameters.
ParameterSplit split_parameters(const Config& config, const ReduceMetric& problem,
                                std::int64_t seeds, std::int64_t segments,
                                const DeviceLimits& limits);

/// How work of the problem's own sizes, contiguous, is cut, for `explain`; empty for perturbed
/// linear and where there is no work.
std::string explain_split(const Config& config, const Problem& problem, const DeviceLimits& limits);

}  // namespace vnjit
