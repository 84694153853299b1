#include "vnjit/codegen/config.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <utility>

#include "vnjit/codegen/error.hpp"
#include "vnjit/codegen/family_limits.hpp"
#include "vnjit/codegen/parse.hpp"
#include "vnjit/codegen/require.hpp"
#include "vnjit/codegen/sum_config.hpp"
#include "vnjit/codegen/tensor_config.hpp"

namespace vnjit {
namespace {

struct Field {
  std::string_view letter;
  int Config::*member;
};

constexpr std::array<Field, 3> kTileFields = {
    {{"o", &Config::block_out}, {"b", &Config::block_batch}, {"k", &Config::block_in}}};
constexpr std::array<Field, 3> kOtherFields = {
    {{"s", &Config::stages}, {"w", &Config::warps}, {"r", &Config::blocks_per_sm}}};
constexpr Field kIndividuals = {"i", &Config::individuals};

constexpr std::array<std::pair<std::string_view, Family>, 3> kFamilies = {
    {{"simt", Family::simt}, {"mma_sync", Family::mma_sync}, {"wgmma", Family::wgmma}}};
constexpr std::string_view kFused = "fused_";

[[noreturn]] void fail_parse(std::string_view text, std::string_view part) {
  throw ConfigError(
      fmt::format("config '{}' does not parse at '{}'; a config reads like simt_o64b64k64_s2_w8_r1",
                  text, part));
}

int parse_field(std::string_view text, std::string_view& rest, std::string_view letter) {
  if (!rest.starts_with(letter)) fail_parse(text, rest);
  const std::size_t digits = rest.find_first_not_of("0123456789", 1);
  const auto value = parse_integer<int>(rest.substr(1, digits - 1));
  if (!value) fail_parse(text, rest);
  rest.remove_prefix(std::min(digits, rest.size()));
  return *value;
}

void validate_tiles(const Config& config, const PerturbedLinear& problem,
                    const DeviceLimits& limits) {
  require_tile("block_out", config.block_out, 16, 256);
  require_tile("block_batch", config.block_batch, 1, 256);
  const bool in_blocks = problem.noise.generator == Generator::philox;
  const int multiple = in_blocks ? 64 : 16;
  require(config.block_in > 0 && config.block_in % multiple == 0, [&] {
    return fmt::format("block_in is {}; it is a multiple of {} ({})", config.block_in, multiple,
                       in_blocks ? "philox noise is made in blocks of 64"
                                 : "rows are copied in pieces of 16 bytes");
  });
  const int tile = config.block_out * config.block_batch;
  const int rows = tile / (kThreadOut * config.threads());
  require(rows >= 1 && rows <= kMaxThreadBatch && rows * kThreadOut * config.threads() == tile,
          [&] {
            return fmt::format(
                "warps is {}; a tile of {}x{} gives each thread {} outputs, and a thread "
                "takes {} outputs of 1 to {} batch rows",
                config.warps, config.block_out, config.block_batch,
                static_cast<double>(tile) / config.threads(), kThreadOut, kMaxThreadBatch);
          });
  const int row_threads = config.block_out / kThreadOut;
  require(config.threads() >= row_threads, [&] {
    return fmt::format("warps is {}; a row of {} outputs, {} a thread, takes {} or more",
                       config.warps, config.block_out, kThreadOut, row_threads / 32);
  });
  const int most = max_stages(config.family, limits);
  require(config.stages >= 1 && config.stages <= most, [&] {
    return fmt::format("stages is {}; on {} it is 1 to {}{}", config.stages, limits.arch(), most,
                       limits.has_async_copy() ? "" : " (copies pass through registers)");
  });
}

void validate_simt(const Config& config) {
  require(!config.fused && config.individuals == 1, [&] {
    return fmt::format("fused and individuals are {} and {}; simt has neither", config.fused,
                       config.individuals);
  });
}

void validate_resources(const Config& config, const Problem& problem, const DeviceLimits& limits) {
  const std::int64_t bytes = shared_bytes(config, problem);
  require(bytes <= limits.shared_budget(), [&] {
    if (stage_bytes(config, problem) == 0) {
      return fmt::format(
          "warps and individuals are {} and {}: {} bytes of shared memory a block, and {} has {}; "
          "use fewer",
          config.warps, config.individuals, bytes, limits.arch(), limits.shared_budget());
    }
    return fmt::format(
        "stages is {}: {} bytes of shared memory a block, and {} has {}; use fewer "
        "stages or a smaller tile",
        config.stages, bytes, limits.arch(), limits.shared_budget());
  });
  const int resident = resident_blocks(config.warps, bytes, limits);
  require(config.blocks_per_sm >= 1 && config.blocks_per_sm <= resident, [&] {
    return fmt::format(
        "blocks_per_sm is {}; {} warps and {} bytes of shared memory a block allow "
        "1 to {} on {}",
        config.blocks_per_sm, config.warps, bytes, resident, limits.arch());
  });
}

}  // namespace

std::string_view to_string(Family family) {
  for (const auto& [name, value] : kFamilies) {
    if (value == family) return name;
  }
  return "?";
}

Family parse_family(std::string_view name) {
  for (const auto& [known, value] : kFamilies) {
    if (known == name) return value;
  }
  throw ConfigError(fmt::format("family '{}' is unknown; use simt, mma_sync or wgmma", name));
}

std::string to_string(const Config& config) {
  std::string text = fmt::format("{}_{}", to_string(config.family), config.fused ? kFused : "");
  for (const Field& field : kTileFields) {
    text += fmt::format("{}{}", field.letter, config.*field.member);
  }
  for (const Field& field : kOtherFields) {
    text += fmt::format("_{}{}", field.letter, config.*field.member);
  }
  if (config.individuals != 1) text += fmt::format("_i{}", config.individuals);
  return text;
}

Config parse_config(std::string_view text) {
  Config config;
  std::string_view rest = text;
  const auto family = std::find_if(kFamilies.begin(), kFamilies.end(), [&](const auto& known) {
    return text.starts_with(known.first) && text.substr(known.first.size()).starts_with('_');
  });
  if (family == kFamilies.end()) {
    throw ConfigError(fmt::format(
        "config '{}' names no kernel family; there are simt, mma_sync and wgmma", text));
  }
  config.family = family->second;
  rest.remove_prefix(family->first.size() + 1);
  if (rest.starts_with(kFused)) {
    config.fused = true;
    rest.remove_prefix(kFused.size());
  }
  for (const Field& field : kTileFields) {
    config.*field.member = parse_field(text, rest, field.letter);
  }
  const auto parse_other = [&](const Field& field) {
    if (!rest.starts_with('_')) fail_parse(text, rest);
    rest.remove_prefix(1);
    config.*field.member = parse_field(text, rest, field.letter);
  };
  for (const Field& field : kOtherFields) parse_other(field);
  if (!rest.empty()) parse_other(kIndividuals);
  if (!rest.empty()) fail_parse(text, rest);
  return config;
}

std::int64_t stage_bytes(const Config& config, const Problem& problem) {
  const auto* linear = std::get_if<PerturbedLinear>(&problem);
  if (!linear) return 0;
  if (is_tensor(config.family)) return tensor_stage_bytes(config, *linear);
  const std::int64_t x = std::int64_t{config.block_batch} * config.block_in;
  const std::int64_t weight = std::int64_t{config.block_out} * (config.block_in + 8);
  return (x + weight) * size_bytes(linear->input);
}

std::int64_t fixed_shared_bytes(const Config& config, const Problem& problem) {
  constexpr std::int64_t kFloat = 4;
  if (const auto* gradient = std::get_if<Gradient>(&problem)) {
    return sum_fixed_bytes(config, *gradient);
  }
  if (const auto* reduce = std::get_if<ReduceMetric>(&problem)) {
    return sum_fixed_bytes(config, *reduce);
  }
  const auto* linear = std::get_if<PerturbedLinear>(&problem);
  if (is_tensor(config.family)) return tensor_fixed_bytes(config, *linear);
  const std::int64_t perturbed = std::int64_t{config.block_in} * (config.block_out + 4);
  return (perturbed + (linear->bias ? config.block_out : 0)) * kFloat;
}

std::int64_t shared_bytes(const Config& config, const Problem& problem) {
  return fixed_shared_bytes(config, problem) + config.stages * stage_bytes(config, problem);
}

void validate(const Config& config, const Problem& problem, const DeviceLimits& limits) {
  const int most_warps = limits.max_threads_per_block / 32;
  require(config.warps >= 1 && config.warps <= most_warps, [&] {
    return fmt::format("warps is {}; a block has 1 to {}", config.warps, most_warps);
  });
  if (const auto* gradient = std::get_if<Gradient>(&problem)) {
    validate_sum(config, *gradient, limits);
  } else if (const auto* reduce = std::get_if<ReduceMetric>(&problem)) {
    validate_sum(config, *reduce);
  } else if (const auto& linear = std::get<PerturbedLinear>(problem); is_tensor(config.family)) {
    validate_tensor(config, linear, limits);
  } else {
    validate_simt(config);
    validate_tiles(config, linear, limits);
  }
  validate_resources(config, problem, limits);
}

}  // namespace vnjit
