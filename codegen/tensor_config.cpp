#include "vnjit/codegen/tensor_config.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <string_view>

#include "vnjit/codegen/error.hpp"
#include "vnjit/codegen/family_limits.hpp"
#include "vnjit/codegen/require.hpp"

namespace vnjit {
namespace {

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

/// What is missing where noise rows start elsewhere, and how to get there: sizes of a problem are
/// hints, and a run says where its noise rows start.
std::string noise_rows_at(std::int64_t multiple, const PerturbedLinear& problem) {
  return fmt::format(
      "noise rows have to start at multiples of {} elements (in is {}: plan for in = {} and run "
      "with "
      "noise_row_stride = {})",
      multiple, problem.in, (problem.in + multiple - 1) / multiple * multiple,
      (problem.in + multiple - 1) / multiple * multiple);
}

constexpr std::int64_t kPipelineStateBytes = 128;  // barriers and the place of the loads
constexpr std::int64_t kSharedAlignment = 1024;    // of a swizzled tile

void require_narrow(std::string_view family, std::string_view name, std::int64_t size) {
  require(size <= kMaxNarrowIndex, [&] {
    return fmt::format("family is {}; it counts rows and columns in 32 bits, and {} is {}", family,
                       name, size);
  });
}

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
  require_narrow(family, "pop", problem.pop);
  require_narrow(family, "batch", problem.batch);
  require_narrow(family, "in", problem.in);
  require_narrow(family, "out", problem.out);
  const std::string missing = missing_access(config, problem, contiguous_access(problem));
  require(missing.empty(), [&] { return fmt::format("family is {}; {}", family, missing); });
}

}  // namespace

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
        "rows of X and W have to start and end on 16-byte boundaries (in is {}; multiples of {} "
        "do)",
        problem.in, 16 / size_bytes(problem.input));
  }
  if (philox && access.noise_alignment < 16) {
    return noise_rows_at(16, problem);
  }
  if (quantizes_inputs(config, problem) && access.noise_alignment < 64) {
    return fmt::format("with int8 operands {}", noise_rows_at(64, problem));
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

std::int64_t tensor_stage_bytes(const Config& config, const PerturbedLinear& problem) {
  const std::int64_t rows = std::int64_t{config.individuals} * config.block_batch +
                            (reads_weight(config, problem) ? config.block_out : 0);
  return rows * config.block_in * operand_bytes(problem);
}

std::int64_t tensor_fixed_bytes(const Config& config, const PerturbedLinear& problem) {
  constexpr std::int64_t kFloat = 4;
  const std::int64_t groups = config.block_out / kGroupOut;
  const std::int64_t staging =
      groups * std::min(config.block_batch, kMaxStagingRows) * (kGroupOut + 4) * kFloat;
  const std::int64_t shift = problem.bias ? config.block_out * kFloat : 0;
  const std::int64_t scales =
      quantizes_inputs(config, problem) ? groups * config.block_batch * 2 * kFloat : 0;
  const std::int64_t keys =
      std::int64_t{config.warps} * config.individuals * noise_keys_bytes(problem.noise);
  const std::int64_t bytes = staging + shift + scales + keys + kPipelineStateBytes;
  return (bytes + kSharedAlignment - 1) / kSharedAlignment * kSharedAlignment;
}

void validate_tensor(const Config& config, const PerturbedLinear& problem,
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

}  // namespace vnjit
