#include "vnjit/codegen/config.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <bit>
#include <utility>

#include "vnjit/codegen/error.hpp"
#include "vnjit/codegen/family_limits.hpp"
#include "vnjit/codegen/parse.hpp"

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

/// `message` makes the text: a config that holds, of the thousands a choice looks at, makes none.
template <typename Message>
void require(bool holds, const Message& message) {
  if (!holds) throw ConfigError(message());
}

bool is_power_of_two(int value) {
  return value > 0 && std::has_single_bit(static_cast<unsigned>(value));
}

void require_tile(std::string_view name, int value, int least, int most) {
  require(is_power_of_two(value) && value >= least && value <= most, [&] {
    return fmt::format("{} is {}; it is a power of two from {} to {}", name, value, least, most);
  });
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

void validate_tiles(const Config& config, std::string_view operation) {
  require(config.block_out == 1 && config.block_batch == 1, [&] {
    return fmt::format("block_out and block_batch are {} and {}; {} has no such tiles, both are 1",
                       config.block_out, config.block_batch, operation);
  });
  require(config.block_in == kSegment, [&] {
    return fmt::format("block_in is {}; {} takes {} elements a warp", config.block_in, operation,
                       kSegment);
  });
  require(config.stages == 1, [&] {
    return fmt::format("stages is {}; {} loads no tiles, it is 1", config.stages, operation);
  });
}

/// Bytes of an element as the matrix instruction takes it.
int operand_bytes(const PerturbedLinear& problem) {
  switch (operand_precision(problem)) {
    case Precision::tf32:
    case Precision::f32:
      return 4;
    case Precision::int8:
      return 1;
    default:
      return 2;
  }
}

/// Whether the kernel reads W: its own product, or the sum W + sigma·N.
bool reads_weight(const Config& config, const PerturbedLinear& problem) {
  return !uses_base_product(config, problem);
}

/// A seed as a tensor kernel keeps it: of philox with the round keys made.
std::int64_t noise_keys_bytes(const NoiseSpec& noise) {
  if (noise.generator != Generator::philox) return 8;
  return (std::int64_t{8} * noise.rounds + 15) / 16 * 16;
}

constexpr std::int64_t kPipelineStateBytes = 128;  // barriers and the place of the loads
constexpr std::int64_t kSharedAlignment = 1024;    // of a swizzled tile

void validate_family(const Config& config, const PerturbedLinear& problem,
                     const DeviceLimits& limits) {
  const std::string_view family = to_string(config.family);
  const Precision precision = operand_precision(problem);
  require(precision != Precision::f32, [&] {
    return fmt::format(
        "family is {}; tensor cores round operands, and the problem's precision is f32: ask for "
        "{}, or use simt",
        family, problem.input == DataType::f32 ? "tf32, f16 or bf16" : "input");
  });
  if (config.family == Family::wgmma) {
    require(limits.has_wgmma(), [&] {
      return fmt::format("family is wgmma; {} has no wgmma, only sm_90 has", limits.arch());
    });
  } else {
    require(limits.has_async_copy(), [&] {
      return fmt::format("family is mma_sync; it needs sm_80 or later, and this is {}",
                         limits.arch());
    });
  }
  const std::string missing = missing_access(config, problem, contiguous_access(problem));
  require(missing.empty(), [&] { return fmt::format("family is {}; {}", family, missing); });
}

void validate_tensor_tiles(const Config& config, const PerturbedLinear& problem,
                           const DeviceLimits& limits) {
  validate_family(config, problem, limits);
  require(
      config.block_out >= kGroupOut && config.block_out <= 256 && config.block_out % kGroupOut == 0,
      [&] {
        return fmt::format("block_out is {}; it is a multiple of {} up to 256", config.block_out,
                           kGroupOut);
      });
  require(config.warps == config.block_out / kWarpOut, [&] {
    return fmt::format("warps is {}; {} outputs, {} a warp, take {}", config.warps,
                       config.block_out, kWarpOut, config.block_out / kWarpOut);
  });
  require_tile("block_batch", config.block_batch, 8, 256);
  const int step = step_in(problem);
  require(config.block_in > 0 && config.block_in % step == 0 &&
              config.block_in <= kMaxStageSteps * step,
          [&] {
            return fmt::format("block_in is {}; it is a multiple of {} up to {} (rows of {} bytes)",
                               config.block_in, step, kMaxStageSteps * step, kRowBytes);
          });
  const int least = min_stages(config.family);
  const int most = max_stages(config.family, limits);
  require(config.stages >= least && config.stages <= most, [&] {
    return fmt::format("stages is {}; of {} it is {} to {}", config.stages,
                       to_string(config.family), least, most);
  });
  require(!config.fused || !quantizes_inputs(config, problem),
          [] { return "fused is true; int8 operands keep the products apart"; });
  const bool individual = problem.layout == InputLayout::individual;
  require(config.individuals >= 1 && config.individuals <= kMaxIndividuals &&
              (individual || config.individuals == 1),
          [&] {
            return fmt::format("individuals is {}; it is 1 to {} where each has its own X, else 1",
                               config.individuals, kMaxIndividuals);
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

int step_in(const PerturbedLinear& problem) { return kRowBytes / operand_bytes(problem); }

bool uses_base_product(const Config& config, const PerturbedLinear& problem) {
  return is_tensor(config.family) && problem.layout == InputLayout::shared && !config.fused;
}

bool converts_inputs(const Config& config, const PerturbedLinear& problem) {
  const Precision operands = operand_precision(problem);
  return is_tensor(config.family) && problem.input == DataType::f32 &&
         (operands == Precision::f16 || operands == Precision::bf16);
}

bool quantizes_inputs(const Config& config, const PerturbedLinear& problem) {
  return is_tensor(config.family) && operand_precision(problem) == Precision::int8;
}

bool stores_pairs(const Config& config, const PerturbedLinear& problem) {
  return problem.noise.antithetic && uses_base_product(config, problem);
}

std::string missing_access(const Config& config, const PerturbedLinear& problem,
                           const Access& access) {
  const bool philox = problem.noise.generator == Generator::philox;
  // Bytes are packed 16 a call where rows start together with a call; elsewhere the rows of a warp
  // have to start alike, and those of a weight tile lie in their natural order.
  const bool bytes = philox && problem.noise.distribution == Distribution::uniform8 &&
                     operand_precision(problem) != Precision::tf32;
  if (!access.vector_rows && !converts_inputs(config, problem)) {
    return fmt::format(
        "rows of X and W have to start and end on 16-byte boundaries (in is {}: a multiple of {})",
        problem.in, 16 / size_bytes(problem.input));
  }
  if (philox && access.noise_alignment < 16) {
    return fmt::format(
        "noise rows have to start at multiples of 16 elements (in is {}; noise_row_stride may be "
        "wider)",
        problem.in);
  }
  if (quantizes_inputs(config, problem) && access.noise_alignment < 64) {
    return fmt::format(
        "int8 operands need noise rows at multiples of 64 elements (in is {}; noise_row_stride may "
        "be wider)",
        problem.in);
  }
  if (config.family == Family::wgmma && bytes && access.noise_alignment < 64 &&
      reads_weight(config, problem)) {
    return fmt::format(
        "a kernel that reads W needs noise rows at multiples of 64 elements (in is {}); mma_sync "
        "does not",
        problem.in);
  }
  if (problem.noise.generator == Generator::triton &&
      operand_precision(problem) == Precision::tf32 && access.wide_counter) {
    return "elements of triton noise have to lie below 2^32";
  }
  return {};
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
  if (is_tensor(config.family)) {
    const std::int64_t rows = std::int64_t{config.individuals} * config.block_batch +
                              (reads_weight(config, *linear) ? config.block_out : 0);
    return rows * config.block_in * operand_bytes(*linear);
  }
  const std::int64_t x = std::int64_t{config.block_batch} * config.block_in;
  const std::int64_t weight = std::int64_t{config.block_out} * (config.block_in + 8);
  return (x + weight) * size_bytes(linear->input);
}

std::int64_t fixed_shared_bytes(const Config& config, const Problem& problem) {
  constexpr std::int64_t kFloat = 4;
  const auto* linear = std::get_if<PerturbedLinear>(&problem);
  if (!linear) {
    const bool gradient = std::holds_alternative<Gradient>(problem);
    return std::int64_t{config.warps} * (gradient ? config.block_in : 1) * kFloat;
  }
  const std::int64_t shift = linear->bias ? config.block_out * kFloat : 0;
  if (!is_tensor(config.family)) {
    return std::int64_t{config.block_in} * (config.block_out + 4) * kFloat + shift;
  }
  const std::int64_t groups = config.block_out / kGroupOut;
  const std::int64_t staging =
      groups * std::min(config.block_batch, kMaxStagingRows) * (kGroupOut + 4) * kFloat;
  const std::int64_t scales =
      quantizes_inputs(config, *linear) ? groups * config.block_batch * 2 * kFloat : 0;
  const std::int64_t bytes = staging + shift + scales +
                             config.warps * config.individuals * noise_keys_bytes(linear->noise) +
                             kPipelineStateBytes;
  return (bytes + kSharedAlignment - 1) / kSharedAlignment * kSharedAlignment;
}

std::int64_t shared_bytes(const Config& config, const Problem& problem) {
  return fixed_shared_bytes(config, problem) + config.stages * stage_bytes(config, problem);
}

void validate(const Config& config, const Problem& problem, const DeviceLimits& limits) {
  const int most_warps = limits.max_threads_per_block / 32;
  require(config.warps >= 1 && config.warps <= most_warps, [&] {
    return fmt::format("warps is {}; a block has 1 to {}", config.warps, most_warps);
  });
  const auto* linear = std::get_if<PerturbedLinear>(&problem);
  if (linear && is_tensor(config.family)) {
    validate_tensor_tiles(config, *linear, limits);
  } else if (linear) {
    validate_simt(config);
    validate_tiles(config, *linear, limits);
  } else {
    require(config.family == Family::simt, [&] {
      return fmt::format("family is {}; kernels of {} are simt", to_string(config.family),
                         operation_name(problem));
    });
    validate_simt(config);
    validate_tiles(config, operation_name(problem));
  }
  validate_resources(config, problem, limits);
}

}  // namespace vnjit
