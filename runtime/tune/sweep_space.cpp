#include "vnjit/runtime/tune/sweep_space.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "vnjit/codegen/candidates.hpp"
#include "vnjit/codegen/cost_model.hpp"

namespace vnjit {
namespace {

constexpr int kDepthsOfATile = 2;
constexpr int kRegisterUnit = 256;  // a warp takes registers in steps of so many

Config without_depth(Config config) {
  config.stages = 0;
  config.blocks_per_sm = 0;
  return config;
}

}  // namespace

std::vector<Candidate> sweep_space(const Problem& problem, const DeviceLimits& limits,
                                   const Config& default_config, const SweepLimits& bounds) {
  std::vector<Candidate> space;
  for (const Config& config : candidates(problem, limits)) {
    if (config != default_config) {
      space.push_back(
          {.config = config, .predicted_seconds = predicted_seconds(config, problem, limits)});
    }
  }
  std::ranges::stable_sort(space, {}, &Candidate::predicted_seconds);
  space.insert(space.begin(),
               {.config = default_config,
                .predicted_seconds = predicted_seconds(default_config, problem, limits)});
  const double best =
      std::ranges::min_element(space, {}, &Candidate::predicted_seconds)->predicted_seconds;
  std::map<std::string, int> depths;
  ++depths[to_string(without_depth(default_config))];
  int kept = 1;
  for (Candidate& candidate : std::span(space).subspan(1)) {
    const double times = candidate.predicted_seconds / best;
    if (times > bounds.prune) {
      candidate.reason = fmt::format("predicted {:.3g} times the best", times);
    } else if (++depths[to_string(without_depth(candidate.config))] > kDepthsOfATile) {
      candidate.reason = fmt::format("{} depths of this tile are predicted better", kDepthsOfATile);
    } else if (bounds.candidates > 0 && kept >= bounds.candidates) {
      candidate.reason = fmt::format("beyond the {} candidates of this sweep", bounds.candidates);
    } else {
      ++kept;
    }
  }
  return space;
}

void set_resources(Candidate& candidate, const ResourceUsage& usage, std::int64_t shared_bytes,
                   const DeviceLimits& limits) {
  candidate.usage = usage;
  candidate.shared_bytes = shared_bytes;
  const int warps = candidate.config.warps;
  const int warp_registers =
      (usage.registers * 32 + kRegisterUnit - 1) / kRegisterUnit * kRegisterUnit;
  int blocks = std::min(limits.max_blocks_per_sm, limits.max_warps_per_sm / warps);
  if (warp_registers > 0) {
    blocks = std::min(blocks, limits.registers_per_sm / warp_registers / warps);
  }
  const std::int64_t shared =
      shared_bytes + usage.static_shared_bytes + limits.shared_reserved_per_block;
  if (shared > 0 && limits.shared_per_sm > 0) {
    blocks = static_cast<int>(std::min<std::int64_t>(blocks, limits.shared_per_sm / shared));
  }
  candidate.blocks_per_sm = blocks;
  candidate.occupancy = static_cast<double>(blocks * warps) / limits.max_warps_per_sm;
}

}  // namespace vnjit
