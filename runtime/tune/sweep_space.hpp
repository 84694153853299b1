#pragma once

#include <span>
#include <vector>

#include "vnjit/runtime/tune/sweep.hpp"

// Which candidates of a sweep are compiled, and what one takes of a multiprocessor.

namespace vnjit {

/// All candidates: the default first, then by predicted time. Those that are left out are pruned,
/// with the reason: predicted too slow, a third or later depth of one tile, beyond the bound on
/// candidates. The others have an empty reason.
std::vector<Candidate> sweep_space(const Problem& problem, const DeviceLimits& limits,
                                   const Config& default_config, const SweepLimits& bounds);

/// Fills in what a compiled kernel takes: registers, shared memory, resident blocks, occupancy.
void set_resources(Candidate& candidate, const ResourceUsage& usage, std::int64_t shared_bytes,
                   const DeviceLimits& limits);

}  // namespace vnjit
