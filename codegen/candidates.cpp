#include "vnjit/codegen/candidates.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <optional>

#include "vnjit/codegen/access.hpp"
#include "vnjit/codegen/error.hpp"
#include "vnjit/codegen/family_limits.hpp"
#include "vnjit/codegen/pipeline_depth.hpp"

namespace vnjit {
namespace {

bool fits_resident(const Config& config, const Problem& problem, const DeviceLimits& limits) {
  return config.blocks_per_sm <=
         resident_blocks(config.warps, shared_bytes(config, problem), limits);
}

bool is_valid(const Config& config, const Problem& problem, const DeviceLimits& limits) {
  try {
    validate(config, problem, limits);
    return true;
  } catch (const ConfigError&) {
    return false;
  }
}

constexpr int kThreadRegisters = 56;  // of a thread beside its sums

int thread_batch(const Config& config) {
  return config.block_out * config.block_batch / (kThreadOut * config.threads());
}

/// Blocks that one multiprocessor holds of a config, by shared memory, warps and registers.
int natural_residency(const Config& config, const Problem& problem, const DeviceLimits& limits) {
  const int registers = kThreadRegisters + kThreadOut * thread_batch(config);
  return std::clamp(
      limits.registers_per_sm / (config.threads() * registers), 1,
      std::max(1, resident_blocks(config.warps, shared_bytes(config, problem), limits)));
}

/// Every tile at every depth, the deepest first.
std::vector<Config> tilings(const PerturbedLinear& problem, const DeviceLimits& limits) {
  const bool in_blocks = problem.noise.generator == Generator::philox;
  std::vector<Config> result;
  for (const int block_out : {64, 32, 128, 16}) {
    for (const int block_batch : {64, 32, 16, 8, 128}) {
      for (const int block_in : {64, in_blocks ? 128 : 32}) {
        for (const int warps : {8, 4, 2, 1}) {
          Config config{.block_out = block_out,
                        .block_batch = block_batch,
                        .block_in = block_in,
                        .warps = warps};
          const int rows = thread_batch(config);
          if (rows < 1 || rows > kMaxThreadBatch) continue;
          for (config.stages = max_stages(limits); config.stages >= 1; --config.stages) {
            config.blocks_per_sm = natural_residency(config, problem, limits);
            result.push_back(config);
          }
        }
      }
    }
  }
  return result;
}

std::vector<Config> segments() {
  std::vector<Config> result;
  // 16 resident warps leave a thread 128 registers, which the slowest generators use up.
  for (const int warps : {8, 4, 16}) {
    result.push_back({.block_out = 1,
                      .block_batch = 1,
                      .block_in = kSegment,
                      .stages = 1,
                      .warps = warps,
                      .blocks_per_sm = 16 / warps});
  }
  return result;
}

std::vector<Config> layouts(const Problem& problem, const DeviceLimits& limits) {
  const auto* linear = std::get_if<PerturbedLinear>(&problem);
  return linear ? tilings(*linear, limits) : segments();
}

/// Warp instructions that make one lane's 16 noise values.
double noise_instructions(const NoiseSpec& noise) {
  constexpr double kRound = 5;  // two wide multiplies, two three-way exclusive ors
  const double philox = kRound * noise.rounds + 5;
  if (noise.generator == Generator::triton) return 16 * (philox + 4);
  if (noise.generator == Generator::splitmix64) return 16 * 20;
  switch (noise.distribution) {
    case Distribution::uniform:
      return 4 * philox + 16 * 2.5;
    case Distribution::uniform8:
      return philox + 16 * 3;
    case Distribution::rademacher:
      return philox + 16 * 2;
  }
  return 0;
}

// Clocks of one multiprocessor, fitted to 147 configs of seven problems measured on an H200.
constexpr double kIssue = 4;           // warp instructions started a clock
constexpr double kWeightClocks = 2;    // a warp's 16-byte reads of the perturbed tile
constexpr double kInputClocks = 4;     // a warp's 16-byte reads of the X tile
constexpr double kBarrierClocks = 5;   // a warp's share of the two barriers of a step
constexpr double kMemoryClocks = 700;  // a load from device memory, from issue to use
constexpr double kExposed = 0.5;       // share of a wait that nothing in its own block covers
constexpr double kBlockClocks = 200;   // start of a thread block

// Predictions closer than this are alike. Among those a config with a pipeline is taken: it depends
// less on what else the device does.
constexpr double kModelError = 1.05;

double ceil_div(double value, double by) { return std::ceil(value / by); }

double cycles(const Config& config, const PerturbedLinear& problem, const DeviceLimits& limits) {
  const double rows = thread_batch(config);
  const double reads = 4 * kWeightClocks + rows * kInputClocks;
  const double multiply =
      config.warps * (config.block_in / 4.0) * std::max(reads, (17 * rows + 4) / kIssue);
  // A row off the 64-element grid touches one block of noise more than it is wide.
  const double noise_blocks =
      config.block_in / 64.0 + (contiguous_access(problem).aligned_noise ? 0 : 1);
  const double noise =
      config.block_out * noise_blocks * 4 / 32 * (noise_instructions(problem.noise) + 16 * 3);
  const double pieces = static_cast<double>(stage_bytes(config, problem)) / 16 / 32;
  const double work = multiply + (noise + pieces * 8) / kIssue;
  // Few warps leave issue slots empty; resident blocks fill each other's barriers and waits.
  const double warps = config.warps * config.blocks_per_sm;
  const double busy = config.blocks_per_sm * work * (warps + 2) / warps;
  const double ahead = (config.stages - 1) * work;
  const double wait = std::max(0.0, kMemoryClocks - ahead) + kBarrierClocks * config.warps;
  const double step = std::max(busy, work + wait) + kExposed * wait / config.blocks_per_sm;
  const double steps = ceil_div(static_cast<double>(problem.in), config.block_in);
  const double blocks = static_cast<double>(problem.pop) *
                        ceil_div(static_cast<double>(problem.out), config.block_out) *
                        ceil_div(static_cast<double>(problem.batch), config.block_batch);
  const double waves = ceil_div(blocks, limits.sm_count * config.blocks_per_sm);
  return waves * (steps * step + kBlockClocks);
}

double cycles_of_lanes(const Config& config, const Problem& problem, double segments,
                       double individuals, double blocks, const DeviceLimits& limits) {
  const double rounds = ceil_div(individuals, config.warps) * segments;
  const double resident = resident_blocks(config.warps, shared_bytes(config, problem), limits);
  const double waves = ceil_div(blocks, limits.sm_count * resident);
  return waves *
         (resident * config.warps * rounds * (noise_instructions(noise_of(problem)) + 16) / kIssue +
          kBlockClocks);
}

double cycles(const Config& config, const Gradient& problem, const DeviceLimits& limits) {
  const double individuals =
      static_cast<double>(problem.noise.antithetic ? problem.pop / 2 : problem.pop);
  const double blocks =
      static_cast<double>(problem.rows) * ceil_div(static_cast<double>(problem.columns), kSegment);
  return cycles_of_lanes(config, problem, 1, individuals, blocks, limits);
}

double cycles(const Config& config, const ReduceMetric& problem, const DeviceLimits& limits) {
  const double segments =
      ceil_div(ceil_div(static_cast<double>(problem.params), kSegment), config.warps);
  return cycles_of_lanes(config, problem, segments, config.warps, static_cast<double>(problem.pop),
                         limits);
}

}  // namespace

PipelineDepth pipeline_depth(const Config& config, const Problem& problem,
                             const DeviceLimits& limits) {
  PipelineDepth depth;
  depth.limit_bytes = limits.shared_budget();
  depth.fixed_bytes = fixed_shared_bytes(config, problem);
  depth.stage_bytes = stage_bytes(config, problem);
  if (depth.stage_bytes == 0) return depth;
  depth.max_stages = max_stages(limits);
  depth.fitting_stages =
      choose_num_stages(depth.limit_bytes - depth.fixed_bytes, depth.stage_bytes, depth.max_stages);
  depth.stages = depth.fitting_stages;
  depth.blocks_per_sm = config.blocks_per_sm;
  Config lowered = config;
  for (lowered.stages = depth.stages; lowered.stages > 1; --lowered.stages) {
    if (fits_resident(lowered, problem, limits)) break;
  }
  depth.stages = lowered.stages;
  return depth;
}

std::string PipelineDepth::explain() const {
  if (stage_bytes == 0) {
    return fmt::format("no pipeline: no tiles are loaded; {} bytes of shared memory", fixed_bytes);
  }
  std::string text = fmt::format(
      "({limit} - {fixed}) / {stage} bytes a stage = {fit}, at most {most}: {fitting}",
      fmt::arg("limit", limit_bytes), fmt::arg("fixed", fixed_bytes),
      fmt::arg("stage", stage_bytes), fmt::arg("fit", (limit_bytes - fixed_bytes) / stage_bytes),
      fmt::arg("most", max_stages), fmt::arg("fitting", fitting_stages));
  if (stages < fitting_stages) {
    text += fmt::format(", lowered to {} so that {} blocks fit a multiprocessor", stages,
                        blocks_per_sm);
  }
  return text;
}

std::vector<Config> candidates(const Problem& problem, const DeviceLimits& limits) {
  std::vector<Config> result = layouts(problem, limits);
  std::erase_if(result, [&](const Config& config) { return !is_valid(config, problem, limits); });
  return result;
}

double predicted_cycles(const Config& config, const Problem& problem, const DeviceLimits& limits) {
  return std::visit([&](const auto& operation) { return cycles(config, operation, limits); },
                    problem);
}

Config choose_config(const Problem& problem, const DeviceLimits& limits) {
  validate(problem);
  const std::vector<Config> all = candidates(problem, limits);
  if (all.empty()) {
    throw ConfigError(fmt::format("no config of {} fits {} ({} bytes of shared memory a block)",
                                  operation_name(problem), limits.arch(), limits.shared_budget()));
  }
  std::vector<double> predicted;
  predicted.reserve(all.size());
  for (const Config& config : all) {
    predicted.push_back(predicted_cycles(config, problem, limits));
  }
  const double least = *std::min_element(predicted.begin(), predicted.end());
  const auto better = [&](std::size_t a, std::size_t b) {
    if ((all[a].stages > 1) != (all[b].stages > 1)) return all[a].stages > 1;
    return predicted[a] < predicted[b];
  };
  std::optional<std::size_t> best;
  for (std::size_t n = 0; n < all.size(); ++n) {
    if (predicted[n] > least * kModelError) continue;
    if (!best || better(n, *best)) best = n;
  }
  return all[*best];
}

}  // namespace vnjit
