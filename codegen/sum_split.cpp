#include "vnjit/codegen/sum_split.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <string_view>

#include "vnjit/codegen/sum_config.hpp"

namespace vnjit {
namespace {

constexpr int kSchedulers = 4;                                       // of a multiprocessor
constexpr int kParts[] = {1, 2, 3, 4, 5, 6, 8, 11, 16, 22, 32, 64};  // more take long to add up
constexpr std::int64_t kStep = 8;                                    // individuals at a time
constexpr double kBlockClocks = 4000;    // a thread block's start and end
constexpr double kDigitClocks = 7000;    // the same, with digits of 512 elements to put together
constexpr double kLeastWarps = 2;        // a scheduler with fewer is not busy
constexpr double kIdleWarps = 0.35;      // what a scheduler's waits amount to
constexpr int kMaxCluster = 8;           // thread blocks that every device takes
constexpr double kClusterClocks = 1500;  // its two barriers, and reads from block to block
constexpr double kPartialClocks = 9000;  // setting counters, and the last arrival's waits
constexpr double kPartClocks = 120;      // its share for each part
constexpr double kDeviceBytes = 2000;    // moved to or from memory in a clock
constexpr int kMaxWaves = 4;
constexpr double kFullWaves = 8;  // of thread blocks: the last one's gaps are small

std::int64_t ceil_div(std::int64_t value, std::int64_t by) {
  return value / by + (value % by > 0 ? 1 : 0);
}

/// Clocks of `blocks` thread blocks whose warps need a scheduler for `warp_clocks` each, and whose
/// start and end take `block_clocks`.
double clocks_of(double blocks, const Config& config, double warp_clocks, double block_clocks,
                 const DeviceLimits& limits) {
  const double slots = static_cast<double>(limits.sm_count) * config.blocks_per_sm;
  const double resident =
      std::min(std::ceil(blocks / limits.sm_count), static_cast<double>(config.blocks_per_sm));
  const double warps = std::max(resident * config.warps / kSchedulers, kLeastWarps);
  const double waves = std::ceil(blocks / slots);
  return waves * ((warps + kIdleWarps) * warp_clocks + block_clocks);
}

/// `1 part`, `2 parts`.
std::string counted(std::int64_t count, std::string_view noun) {
  return fmt::format("{} {}{}", count, noun, count == 1 ? "" : "s");
}

}  // namespace

double segment_clocks(const NoiseSpec& noise, Family family) {
  if (noise.generator == Generator::triton) return 1200;
  if (noise.generator == Generator::splitmix64) return 540;
  const double rounds = noise.rounds;
  if (noise.distribution == Distribution::uniform) return 60 + 26.5 * rounds;
  if (noise.distribution == Distribution::normal) return 440 + 26.5 * rounds;
  if (family == Family::mma_sync) {
    return noise.distribution == Distribution::uniform8 ? 14 + 10.2 * rounds : 26 + rounds;
  }
  return 400 + 11 * rounds;
}

double reduce_segment_clocks(const NoiseSpec& noise) {
  // A pair takes the center values twice.
  const double mirrored = noise.antithetic ? 70 : 0;
  const double rounds = noise.rounds;
  if (noise.generator == Generator::triton) return 1225 + mirrored;
  if (noise.generator == Generator::splitmix64) return 540 + mirrored;
  switch (noise.distribution) {
    case Distribution::uniform8:
      return 80 + 10.7 * rounds + mirrored;
    case Distribution::uniform:
      return 92 + 26.5 * rounds + mirrored;
    case Distribution::rademacher:
      return 112 + 10.7 * rounds + mirrored;
    case Distribution::normal:
      return 515 + 26.5 * rounds + mirrored;
  }
  return 0;
}

std::int64_t segment_count(const Config& config, const Gradient& problem) {
  const double elements = static_cast<double>(problem.rows) * static_cast<double>(problem.columns);
  return static_cast<std::int64_t>(std::min(std::ceil(elements / config.block_in), 0x1p62));
}

std::int64_t segment_count(const Config& config, const ReduceMetric& problem) {
  return ceil_div(problem.params, config.block_in);
}

PopulationSplit split_population(const Config& config, const Gradient& problem, std::int64_t units,
                                 std::int64_t seeds, const DeviceLimits& limits) {
  const double segment = segment_clocks(problem.noise, config.family) * config.block_in / 512;
  const double block_clocks =
      config.family == Family::mma_sync ? kDigitClocks * config.block_in / 512 : kBlockClocks;
  const double unit_bytes = 2.0 * config.block_in * total_bytes(problem);
  PopulationSplit best;
  const auto slots = static_cast<double>(limits.sm_count) * config.blocks_per_sm;
  for (int unit_warps = 1; unit_warps <= config.warps; unit_warps *= 2) {
    for (const int parts : kParts) {
      PopulationSplit split{.unit_warps = unit_warps, .parts = parts};
      const std::int64_t share = ceil_div(seeds, parts);
      if (parts > 1 && share < kStep * unit_warps) break;
      const auto blocks = static_cast<double>(split.groups(config, units)) * parts;
      const auto steps = static_cast<double>(ceil_div(share, kStep * unit_warps));
      split.clocks = clocks_of(blocks, config, steps * kStep * segment, block_clocks, limits);
      // Clusters of a full device wait for gaps of their size.
      split.cluster =
          parts > 1 && parts <= kMaxCluster && limits.has_clusters() && blocks <= slots / 2;
      if (split.cluster) {
        split.clocks += kClusterClocks;
      } else if (parts > 1) {
        split.clocks += kPartialClocks + kPartClocks * parts +
                        parts * static_cast<double>(units) * unit_bytes / kDeviceBytes;
      }
      if (best.clocks == 0 || split.clocks < best.clocks) best = split;
      if (blocks > kFullWaves * slots) return best;
    }
  }
  return best;
}

ParameterSplit split_parameters(const Config& config, const ReduceMetric& problem,
                                std::int64_t seeds, std::int64_t segments,
                                const DeviceLimits& limits) {
  const std::int64_t most = problem.noise.seed_count(config.individuals);
  ParameterSplit split;
  split.groups = ceil_div(seeds, most);
  split.group_seeds = ceil_div(seeds, split.groups);
  split.groups = ceil_div(seeds, split.group_seeds);
  const std::int64_t slots = std::int64_t{limits.sm_count} * config.blocks_per_sm;
  const double segment = reduce_segment_clocks(problem.noise);
  ParameterSplit best;
  for (int waves = 1; waves <= kMaxWaves; ++waves) {
    split.chunks = std::clamp(waves * slots / split.groups, std::int64_t{1},
                              std::max(std::int64_t{1}, ceil_div(segments, config.warps)));
    const std::int64_t length = ceil_div(segments, split.chunks);
    split.chunks = std::max(std::int64_t{1}, ceil_div(segments, std::max(length, std::int64_t{1})));
    const auto blocks = static_cast<double>(split.groups * split.chunks);
    const auto warp_segments =
        static_cast<double>(ceil_div(length, config.warps) * split.group_seeds);
    split.clocks = clocks_of(blocks, config, warp_segments * segment, kBlockClocks, limits);
    if (split.chunks > 1) split.clocks += kPartialClocks;
    if (best.clocks == 0 || split.clocks < best.clocks) best = split;
  }
  return best;
}

std::string explain_split(const Config& config, const Problem& problem,
                          const DeviceLimits& limits) {
  const NoiseSpec& noise = noise_of(problem);
  if (const auto* gradient = std::get_if<Gradient>(&problem)) {
    const std::int64_t units = segment_count(config, *gradient);
    const std::int64_t seeds = noise.seed_count(gradient->pop);
    if (units == 0 || seeds == 0) return {};
    const PopulationSplit split = split_population(config, *gradient, units, seeds, limits);
    return fmt::format("{}: {} of {} elements, {} in {}{}, {} a segment",
                       counted(split.groups(config, units) * split.parts, "thread block"),
                       counted(units, "segment"), config.block_in, counted(seeds, "seed"),
                       counted(split.parts, "part"),
                       split.parts == 1 ? ""
                       : split.cluster  ? " (a cluster)"
                                        : " (added up in memory)",
                       counted(split.unit_warps, "warp"));
  }
  if (const auto* reduce = std::get_if<ReduceMetric>(&problem)) {
    const std::int64_t segments = segment_count(config, *reduce);
    const std::int64_t seeds = noise.seed_count(reduce->pop);
    if (seeds == 0) return {};
    const ParameterSplit split = split_parameters(config, *reduce, seeds, segments, limits);
    return fmt::format("{}: {} in groups of {}, {} of {} elements in {}",
                       counted(split.groups * split.chunks, "thread block"), counted(seeds, "seed"),
                       split.group_seeds, counted(segments, "segment"), config.block_in,
                       counted(split.chunks, "part"));
  }
  return {};
}

}  // namespace vnjit
