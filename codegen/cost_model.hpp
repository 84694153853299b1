#pragma once

#include "vnjit/codegen/config.hpp"

namespace vnjit {

/// Predicted time of a config's kernels in device clock cycles, from instruction counts and limits,
/// fitted to measurements on an H200: a floor that a good kernel comes near, for comparing configs
/// of one problem.
double predicted_cycles(const Config& config, const Problem& problem, const DeviceLimits& limits);

/// The same in seconds, with what it takes to start the kernels.
double predicted_seconds(const Config& config, const Problem& problem, const DeviceLimits& limits);

}  // namespace vnjit
