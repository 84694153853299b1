#include "vnjit/codegen/candidates.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <optional>

#include "vnjit/codegen/cost_model.hpp"
#include "vnjit/codegen/error.hpp"
#include "vnjit/codegen/family_limits.hpp"
#include "vnjit/codegen/pipeline_depth.hpp"
#include "vnjit/codegen/sum_config.hpp"
#include "vnjit/codegen/tensor_config.hpp"

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

// Registers of a thread beside its sums, as compilers were seen to take them.
constexpr int kThreadRegisters = 56;
constexpr int kWgmmaRegisters = 64;
constexpr int kMmaSyncRegisters = 63;
constexpr int kMmaSyncIndividual = 20;  // fragments of each individual's noise and X
constexpr int kExchangeRegisters = 24;  // noise that lanes exchange

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
          for (config.stages = max_stages(config.family, limits); config.stages >= 1;
               --config.stages) {
            config.blocks_per_sm = natural_residency(config, problem, limits);
            result.push_back(config);
          }
        }
      }
    }
  }
  return result;
}

/// Registers of a thread of a tensor family's kernel, by what was seen of the compiler: with fewer
/// it spills, or makes one matrix instruction wait for another.
int tensor_registers(const Config& config, const PerturbedLinear& problem,
                     const DeviceLimits& limits) {
  const bool two_products = !config.fused && !uses_base_product(config, problem);
  const int sums = config.individuals * (two_products ? 2 : 1) * config.block_batch / 2;
  // Where lanes exchange noise, every individual's is on its way at once.
  const bool exchanged =
      operand_precision(problem) == Precision::tf32 && problem.noise.generator == Generator::philox;
  const int noise = exchanged ? kExchangeRegisters * config.individuals : 0;
  if (config.family == Family::wgmma) return sums + noise + kWgmmaRegisters;
  // With half of the registers taken by sums, fragments spill whatever is left.
  if (sums >= limits.registers_per_thread / 2) return limits.registers_per_thread + 1;
  return kMmaSyncRegisters + sums * 3 / 2 + kMmaSyncIndividual * config.individuals + noise;
}

/// Blocks that one multiprocessor holds of a tensor config; 0 where even one takes too many
/// registers.
int tensor_residency(const Config& config, const PerturbedLinear& problem,
                     const DeviceLimits& limits) {
  const int registers = tensor_registers(config, problem, limits);
  if (registers > limits.registers_per_thread) return 0;
  return std::min(limits.registers_per_sm / (config.threads() * registers),
                  resident_blocks(config.warps, shared_bytes(config, problem), limits));
}

/// Every tile of a tensor family at every depth, the deepest first.
std::vector<Config> tensor_tilings(Family family, const PerturbedLinear& problem,
                                   const DeviceLimits& limits) {
  if (operand_precision(problem) == Precision::f32) return {};
  const int step = step_in(problem);
  const bool individual = problem.layout == InputLayout::individual;
  std::vector<Config> result;
  for (const int block_out : {256, 128, 64}) {
    for (const int block_batch : {128, 64, 256, 32, 16, 8}) {
      for (const int steps : {2, 1}) {
        for (const int individuals : {1, 2, 4}) {
          if (individuals > 1 && (!individual || family == Family::wgmma)) continue;
          Config config{.family = family,
                        .block_out = block_out,
                        .block_batch = block_batch,
                        .block_in = steps * step,
                        .warps = block_out / kWarpOut,
                        .individuals = individuals};
          for (config.stages = max_stages(family, limits); config.stages >= min_stages(family);
               --config.stages) {
            config.blocks_per_sm = tensor_residency(config, problem, limits);
            if (config.blocks_per_sm > 0) result.push_back(config);
          }
        }
      }
    }
  }
  return result;
}

std::vector<Config> layouts(const Problem& problem, const DeviceLimits& limits) {
  if (const auto* gradient = std::get_if<Gradient>(&problem)) return sum_layouts(*gradient, limits);
  if (const auto* reduce = std::get_if<ReduceMetric>(&problem)) return sum_layouts(*reduce);
  const auto* linear = std::get_if<PerturbedLinear>(&problem);
  std::vector<Config> result = tilings(*linear, limits);
  for (const Family family : {Family::mma_sync, Family::wgmma}) {
    const std::vector<Config> more = tensor_tilings(family, *linear, limits);
    result.insert(result.end(), more.begin(), more.end());
  }
  return result;
}

// Predictions closer than this are alike. Among those a config with a pipeline is taken: it depends
// less on what else the device does.
constexpr double kModelError = 1.05;

Config least_predicted(const std::vector<Config>& all, const Problem& problem,
                       const DeviceLimits& limits) {
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

}  // namespace

PipelineDepth pipeline_depth(const Config& config, const Problem& problem,
                             const DeviceLimits& limits) {
  PipelineDepth depth;
  depth.limit_bytes = limits.shared_budget();
  depth.fixed_bytes = fixed_shared_bytes(config, problem);
  depth.stage_bytes = stage_bytes(config, problem);
  if (depth.stage_bytes == 0) return depth;
  depth.max_stages = max_stages(config.family, limits);
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

PerturbedLinear base_product_problem(const PerturbedLinear& problem) {
  PerturbedLinear product = problem;
  product.noise = NoiseSpec{};
  product.layout = InputLayout::individual;  // its kernel reads W
  product.output = DataType::f32;
  if (product.precision == Precision::int8) {
    product.precision = product.input == DataType::f32 ? Precision::tf32 : Precision::input;
  }
  product.pop = 1;
  product.bake_shape = false;
  return product;
}

Config base_product_config(const PerturbedLinear& problem, const DeviceLimits& limits) {
  const PerturbedLinear product = base_product_problem(problem);
  Config config{.family = Family::mma_sync,
                .block_in = step_in(product),
                .warps = 64 / kWarpOut,
                .blocks_per_sm = 2};
  config.stages = pipeline_depth(config, product, limits).stages;
  return config;
}

std::string why_not_tensor(const PerturbedLinear& problem, const DeviceLimits& limits) {
  Config config{.family = Family::mma_sync, .block_batch = 8, .stages = 1, .warps = 4};
  config.block_in = step_in(problem);
  try {
    validate(config, Problem(problem), limits);
    return {};
  } catch (const ConfigError& refusal) {
    return refusal.what();
  }
}

Config choose_config(const Problem& problem, const DeviceLimits& limits) {
  validate(problem);
  const std::vector<Config> all = candidates(problem, limits);
  if (all.empty()) {
    throw ConfigError(fmt::format("no config of {} fits {} ({} bytes of shared memory a block)",
                                  operation_name(problem), limits.arch(), limits.shared_budget()));
  }
  return least_predicted(all, problem, limits);
}

Config choose_config(const Problem& problem, const DeviceLimits& limits, Family family) {
  validate(problem);
  std::vector<Config> all = candidates(problem, limits);
  std::erase_if(all, [&](const Config& config) { return config.family != family; });
  if (all.empty()) {
    // The reason is the same for every tile, or the least of them does not fit either.
    Config least{.family = family, .block_batch = 8, .warps = 4};
    if (const auto* linear = std::get_if<PerturbedLinear>(&problem)) {
      least.block_in = step_in(*linear);
    }
    validate(least, problem, limits);
    throw ConfigError(
        fmt::format("no config of family {} fits {}", to_string(family), limits.arch()));
  }
  return least_predicted(all, problem, limits);
}

}  // namespace vnjit
