#include "vnjit/codegen/cost_model.hpp"

#include <algorithm>
#include <cmath>

#include "vnjit/codegen/access.hpp"
#include "vnjit/codegen/candidates.hpp"
#include "vnjit/codegen/family_limits.hpp"
#include "vnjit/codegen/sum_split.hpp"
#include "vnjit/codegen/tensor_config.hpp"

namespace vnjit {
namespace {

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
    case Distribution::normal:
      return 4 * philox + 16 * 25;
  }
  return 0;
}

// Clocks of one multiprocessor, fitted to 147 configs of seven problems measured on an H200.
constexpr double kIssue = 4;           // warp instructions started a clock
constexpr double kWeightClocks = 2;    // a warp's 16-byte reads of the perturbed tile
constexpr double kInputClocks = 4;     // a warp's 16-byte reads of the X tile
constexpr double kBarrierClocks = 5;   // a warp's share of the two barriers of a step
constexpr double kMemoryClocks = 700;  // a load from device memory, from issue to use
constexpr double kSimtRest = 1.5;      // what few or small blocks take beyond all this
constexpr double kElementLoads = 16;   // on their way at a time
constexpr double kExposed = 0.5;       // share of a wait that nothing in its own block covers
constexpr double kBlockClocks = 200;   // start of a thread block

double ceil_div(double value, double by) { return std::ceil(value / by); }

double simt_cycles(const Config& config, const PerturbedLinear& problem,
                   const DeviceLimits& limits) {
  const double rows = thread_batch(config);
  const double reads = 4 * kWeightClocks + rows * kInputClocks;
  const double multiply =
      config.warps * (config.block_in / 4.0) * std::max(reads, (17 * rows + 4) / kIssue);
  // A row off the 64-element grid touches one block of noise more than it is wide.
  const Access access = contiguous_access(problem);
  const bool aligned = access.noise_alignment == 64;
  const double noise_blocks = config.block_in / 64.0 + (aligned ? 0 : 1);
  const double noise = config.block_out * noise_blocks * 4 / 32 *
                       (noise_instructions(problem.noise) + 16 * (aligned ? 3 : 8));
  const double copy_bytes = access.vector_rows ? 16 : size_bytes(problem.input);
  const double pieces = static_cast<double>(stage_bytes(config, problem)) / copy_bytes / 32;
  const double work = multiply + (noise + pieces * (access.vector_rows ? 8 : 14)) / kIssue;
  // Few warps leave issue slots empty; resident blocks fill each other's barriers and waits.
  const double warps = config.warps * config.blocks_per_sm;
  const double busy = config.blocks_per_sm * work * (warps + 2) / warps;
  const double ahead = (config.stages - 1) * work;
  // 16-bit rows off 16-byte boundaries are loaded on the spot, kElementLoads of a thread at a time.
  const double spot = copy_bytes < 4 ? ceil_div(pieces, config.warps * kElementLoads) : 0;
  const double wait =
      std::max(0.0, kMemoryClocks - ahead) + spot * kMemoryClocks + kBarrierClocks * config.warps;
  const double step = std::max(busy, work + wait) + kExposed * wait / config.blocks_per_sm;
  const double steps = ceil_div(static_cast<double>(problem.in), config.block_in);
  const double blocks = static_cast<double>(problem.pop) *
                        ceil_div(static_cast<double>(problem.out), config.block_out) *
                        ceil_div(static_cast<double>(problem.batch), config.block_batch);
  const double waves = ceil_div(blocks, limits.sm_count * config.blocks_per_sm);
  return waves * (steps * step + kBlockClocks) * kSimtRest;
}

// Tensor families, in clocks of one multiprocessor.
constexpr double kWgmmaFlops = 3300;     // of 16-bit operands a clock
constexpr double kMmaSyncFlops = 950;    // with the loads of fragments
constexpr double kOperandIssue = 2.2;    // clocks an instruction that makes noise takes
constexpr double kWarpStepClocks = 120;  // a warp's waits and instructions around a product
constexpr double kWgmmaStage = 190;      // a stage's barriers
constexpr double kMmaSyncStage = 600;
constexpr double kWgmmaUnit = 2500;  // a unit of work's start and end
constexpr double kMmaSyncUnit = 2000;
constexpr double kStoreBytes = 150;   // of Y through shared memory, a clock
constexpr double kCacheBytes = 21;    // from the second-level cache, a clock
constexpr double kDeviceBytes = 15;   // from and to device memory, a clock
constexpr double kTileClocks = 1000;  // a tile from the cache, from issue to use

/// Warp instructions that make one value a lane, as a matrix operand.
double operand_instructions(const NoiseSpec& noise) {
  const double call = 4.0 * noise.rounds;
  if (noise.generator == Generator::triton) return 43;
  if (noise.generator == Generator::splitmix64) return 24;
  switch (noise.distribution) {
    case Distribution::uniform:
      return (call + 24) / 4;
    case Distribution::uniform8:
      return (call + 24) / 16;
    case Distribution::rademacher:
      return (call + 28) / 4;
    case Distribution::normal:
      return (call + 100) / 4;
  }
  return 0;
}

/// Clocks of one multiprocessor with its share of units of work: tiles of block_out x block_batch.
double tensor_cycles(const Config& config, const PerturbedLinear& problem, bool noise,
                     const DeviceLimits& limits) {
  const bool wgmma = config.family == Family::wgmma;
  const double step_elements = step_in(problem);
  // A wgmma of few batch rows takes hardly less time than one of 64.
  const double tile = static_cast<double>(config.block_out) *
                      (wgmma ? std::max(64, config.block_batch) : config.block_batch);
  const double products = noise && !config.fused && !uses_base_product(config, problem) ? 2 : 1;
  // TF32 has half the depth at half the rate, 8 bits twice the depth at twice the rate.
  const double flops = 2 * tile * 64 * products;
  const double matrix = flops / (wgmma ? kWgmmaFlops : kMmaSyncFlops);
  const double values = step_elements * kWarpOut / 32;  // a lane's of a step
  const double lane_clocks =
      noise ? kOperandIssue * values * operand_instructions(problem.noise) : 0;
  const double step =
      config.individuals * (matrix + config.warps * (lane_clocks + kWarpStepClocks) / kIssue);

  const double resident = config.blocks_per_sm;
  const double stage_steps = config.block_in / step_elements;
  const double stages = ceil_div(static_cast<double>(problem.in), config.block_in);
  const double bytes = static_cast<double>(stage_bytes(config, problem));
  const double busy = std::max(resident * stage_steps * step, resident * bytes / kCacheBytes) +
                      (wgmma ? kWgmmaStage : kMmaSyncStage);
  const double ahead = (wgmma ? std::max(1, config.stages - 2) : config.stages - 1) * busy;
  const double store = config.individuals * static_cast<double>(config.block_out) *
                       config.block_batch * size_bytes(problem.output) / kStoreBytes *
                       (problem.out % 4 == 0 ? 1 : 2);  // whole pieces, or element by element
  const double unit = stages * (busy + std::max(0.0, kTileClocks - ahead)) + resident * store +
                      (wgmma ? kWgmmaUnit : kMmaSyncUnit);

  const double individuals =
      static_cast<double>(stores_pairs(config, problem) ? problem.pop / 2 : problem.pop);
  const double units = ceil_div(static_cast<double>(problem.out), config.block_out) *
                       ceil_div(static_cast<double>(problem.batch), config.block_batch) *
                       ceil_div(individuals, config.individuals);
  const double blocks = std::min(units, limits.sm_count * resident);
  const double x_count =
      problem.layout == InputLayout::individual ? static_cast<double>(problem.pop) : 1.0;
  const double moved = static_cast<double>(problem.pop) * static_cast<double>(problem.batch) *
                           static_cast<double>(problem.out) * size_bytes(problem.output) +
                       x_count * static_cast<double>(problem.batch) *
                           static_cast<double>(problem.in) * size_bytes(problem.input);
  return std::max(ceil_div(units, std::max(1.0, blocks)) * unit,
                  moved / (kDeviceBytes * limits.sm_count)) +
         kBlockClocks;
}

double base_product_cycles(const PerturbedLinear& problem, const DeviceLimits& limits) {
  return tensor_cycles(base_product_config(problem, limits), base_product_problem(problem), false,
                       limits);
}

double cycles(const Config& config, const PerturbedLinear& problem, const DeviceLimits& limits) {
  if (!is_tensor(config.family)) return simt_cycles(config, problem, limits);
  double total = tensor_cycles(config, problem, true, limits);
  if (uses_base_product(config, problem)) total += base_product_cycles(problem, limits);
  return total;
}

double cycles(const Config& config, const Gradient& problem, const DeviceLimits& limits) {
  const std::int64_t seeds = problem.noise.seed_count(problem.pop);
  const std::int64_t units = segment_count(config, problem);
  return seeds == 0 || units == 0 ? 0
                                  : split_population(config, problem, units, seeds, limits).clocks;
}

double cycles(const Config& config, const ReduceMetric& problem, const DeviceLimits& limits) {
  const std::int64_t seeds = problem.noise.seed_count(problem.pop);
  return seeds == 0
             ? 0
             : split_parameters(config, problem, seeds, segment_count(config, problem), limits)
                   .clocks;
}

}  // namespace

double predicted_cycles(const Config& config, const Problem& problem, const DeviceLimits& limits) {
  return std::visit([&](const auto& operation) { return cycles(config, operation, limits); },
                    problem);
}

double predicted_seconds(const Config& config, const Problem& problem, const DeviceLimits& limits) {
  constexpr double kLaunchSeconds = 2.5e-6;
  int kernels = 1;
  if (const auto* linear = std::get_if<PerturbedLinear>(&problem)) {
    if (uses_base_product(config, *linear)) kernels += 1;
    if (converts_inputs(config, *linear)) kernels += 2;
    if (quantizes_inputs(config, *linear)) kernels += 1;
  }
  return predicted_cycles(config, problem, limits) / (limits.clock_mhz * 1e6) +
         kernels * kLaunchSeconds;
}

}  // namespace vnjit
