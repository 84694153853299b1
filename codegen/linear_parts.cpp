#include <fmt/format.h>

#include "vnjit/codegen/matrix_instruction.hpp"
#include "vnjit/codegen/parts.hpp"
#include "vnjit/codegen/tensor_config.hpp"

namespace vnjit {
namespace {

constexpr std::string_view kCopyAsync = "simt/copy_async.cuh";
constexpr std::string_view kCopyRegisters = "simt/copy_registers.cuh";
constexpr std::string_view kCopyElements = "simt/copy_elements.cuh";

// Background copies move 4, 8 or 16 bytes: 16-bit rows of any alignment go element by element.
std::string copy_fragment(int copy_bytes, const DeviceLimits& limits) {
  if (limits.has_async_copy() && copy_bytes >= 4) return std::string(kCopyAsync);
  return std::string(copy_bytes == 16 ? kCopyRegisters : kCopyElements);
}

std::string perturb_fragment(const NoiseSpec& noise, const Access& access) {
  if (noise.generator != Generator::philox) return "simt/perturb_elements.cuh";
  return access.noise_alignment == 64 ? "simt/perturb_aligned_blocks.cuh"
                                      : "simt/perturb_any_blocks.cuh";
}

std::string types_line(const PerturbedLinear& problem, std::string_view operands) {
  return fmt::format("// types:  X, W{} {}, operands {}, Y {}, sums f32\n",
                     problem.bias ? " and b" : "", to_string(problem.input), operands,
                     to_string(problem.output));
}

std::string layout_line(const PerturbedLinear& problem, const Access& access) {
  return fmt::format("// layout: X {}; access {}\n",
                     problem.layout == InputLayout::shared ? "(batch, in), shared"
                                                           : "(pop, batch, in), per individual",
                     to_string(access));
}

std::string index_type(const Access& access) {
  return fmt::format("using Index = {};\n", access.wide_index ? "long long" : "int");
}

/// The noise of a tensor kernel: bytes packed as they are drawn, else 16 elements or one at a time.
std::string noise_rows(const PerturbedLinear& problem, const Access& access) {
  const NoiseSpec& noise = problem.noise;
  const bool tf32 = operand_precision(problem) == Precision::tf32;
  if (operand_precision(problem) == Precision::int8) return "tensor/noise_bytes_raw.cuh";
  if (noise.generator == Generator::philox) {
    if (tf32) return "tensor/noise_tf32_sixteenths.cuh";
    if (noise.distribution != Distribution::uniform8) return "tensor/noise_sixteenths.cuh";
    return access.noise_alignment == 64 ? "tensor/noise_bytes_aligned.cuh"
                                        : "tensor/noise_bytes_shifted.cuh";
  }
  if (!tf32) return "tensor/noise_elements.cuh";
  return noise.generator == Generator::triton ? "tensor/noise_tf32_triton.cuh"
                                              : "tensor/noise_tf32_elements.cuh";
}

std::string tensor_constants(const PerturbedLinear& problem, const Config& config,
                             const Access& access) {
  std::string text = index_type(access) + "\n";
  text += constant("kBlockOut", config.block_out);
  text += constant("kBlockBatch", config.block_batch);
  text += constant("kBlockIn", config.block_in);
  text += constant("kStages", config.stages);
  text += constant("kIndividuals", config.individuals);
  if (problem.bake_shape) text += constant("kIn", problem.in);
  text += constant("kThreads", config.threads());
  return text;
}

std::vector<std::string> tensor_types(const PerturbedLinear& problem, DataType output) {
  return {fmt::format("types/input_{}.cuh", to_string(problem.input)),
          fmt::format("types/operand_{}.cuh", to_string(operand_precision(problem))),
          fmt::format("types/output_{}.cuh", to_string(output))};
}

}  // namespace

Parts simt_linear_parts(const PerturbedLinear& problem, const Config& config,
                        const DeviceLimits& limits, const Access& access) {
  const int copy_bytes = access.vector_rows ? 16 : size_bytes(problem.input);
  const std::string copy = copy_fragment(copy_bytes, limits);
  const bool async = copy == kCopyAsync;
  const bool single = config.stages == 1;
  Parts parts;
  parts.root = "simt/perturbed_linear.cuh";
  parts.function = parts.operation = "perturbed_linear";
  parts.params = "PerturbedLinearParams";
  parts.types = fmt::format("_{}", to_string(problem.input));
  parts.summary = types_line(problem, "f32") + layout_line(problem, access);
  parts.flags = {{"has_bias", problem.bias},
                 {"individual_x", problem.layout == InputLayout::individual},
                 {"antithetic", problem.noise.antithetic},
                 {"baked_shape", problem.bake_shape},
                 {"single_stage", single},
                 {"async_copy", async}};
  parts.includes = {noise_fragment(problem.noise),
                    fmt::format("types/input_{}.cuh", to_string(problem.input)),
                    fmt::format("types/output_{}.cuh", to_string(problem.output))};
  parts.constants = fmt::format("using Noise = {};\n", noise_type(problem.noise));
  parts.constants += index_type(access) + "\n";
  parts.constants += constant("kBlockOut", config.block_out);
  parts.constants += constant("kBlockBatch", config.block_batch);
  parts.constants += constant("kBlockIn", config.block_in);
  parts.constants += constant("kStages", config.stages);
  if (async) {
    parts.constants += constant("kPendingStages", single ? 0 : config.stages - 2,
                                "copies that may be on their way while a tile is used");
  }
  if (copy != kCopyElements) parts.constants += constant("kCopyBytes", copy_bytes);
  if (problem.bake_shape) {
    parts.constants += fmt::format("constexpr Index kIn = {};\n", problem.in);
    parts.constants += fmt::format("constexpr Index kOut = {};\n", problem.out);
  }
  parts.constants += constant("kThreads", config.threads());
  parts.files["fragments.cuh"] = includes({copy, perturb_fragment(problem.noise, access)});
  return parts;
}

Parts tensor_linear_parts(const PerturbedLinear& problem, const Config& config,
                          const DeviceLimits& limits, const Access& access) {
  const Precision operands = operand_precision(problem);
  const bool wgmma = config.family == Family::wgmma;
  const bool base = uses_base_product(config, problem);
  const bool pairs = stores_pairs(config, problem);
  const std::string rows = noise_rows(problem, access);
  Parts parts;
  parts.root = "tensor/perturbed_linear.cuh";
  parts.function = parts.operation = "perturbed_linear";
  parts.params = "PerturbedLinearParams";
  parts.types = fmt::format("_{}", to_string(operands));
  parts.tensor_maps = wgmma;
  parts.summary = fmt::format("// form:   {}\n",
                              config.fused ? "fused: W + sigma*N rounded to the operands' type"
                              : base       ? "split: X*W^T + b made before, X*N^T here"
                                           : "split: X*W^T and X*N^T in sums of their own") +
                  types_line(problem, to_string(operands)) + layout_line(problem, access);
  parts.flags = {{"tensor_maps", wgmma},
                 {"individual_x", problem.layout == InputLayout::individual},
                 {"has_bias", problem.bias},
                 {"has_base", base},
                 {"weight_tile", !base},
                 {"weight_product", !base && !config.fused},
                 {"fused", config.fused},
                 {"noise", true},
                 {"quantized", operands == Precision::int8},
                 {"antithetic", problem.noise.antithetic && !pairs},
                 {"antithetic_pairs", pairs},
                 {"interleaved_rows", rows == "tensor/noise_bytes_shifted.cuh"},
                 {"baked_shape", problem.bake_shape},
                 {"dependent_launch", base && limits.compute_major >= 9}};
  if (!wgmma) parts.flags["single_stage"] = config.stages == 1;
  parts.includes = tensor_types(problem, problem.output);
  parts.includes.insert(parts.includes.begin(), noise_fragment(problem.noise));
  parts.constants =
      fmt::format("using Noise = {};\nusing Counter = {};\n", noise_type(problem.noise),
                  access.wide_counter ? "unsigned long long" : "unsigned") +
      tensor_constants(problem, config, access);
  const std::string family(to_string(config.family));
  parts.files["tensor/fragments.cuh"] =
      includes({rows, family + "/pipeline.cuh", family + "/product.cuh"});
  parts.files["tensor/instruction.cuh"] =
      wgmma ? wgmma_instructions(operands, config.block_batch) : mma_instruction(operands);
  return parts;
}

Parts base_product_parts(const PerturbedLinear& problem, const Config& config,
                         const DeviceLimits& limits, const Access& access) {
  Parts parts;
  parts.root = "tensor/base_product.cuh";
  parts.function = parts.operation = "base_product";
  parts.params = "PerturbedLinearParams";
  parts.types = fmt::format("_{}", to_string(operand_precision(problem)));
  parts.flags = {{"individual_x", false},
                 {"has_bias", problem.bias},
                 {"has_base", false},
                 {"weight_tile", true},
                 {"noise", false},
                 {"quantized", false},
                 {"antithetic_pairs", false},
                 {"interleaved_rows", false},
                 {"single_stage", config.stages == 1},
                 {"dependent_launch", limits.compute_major >= 9}};
  parts.summary = types_line(problem, to_string(operand_precision(problem)));
  parts.includes = tensor_types(problem, DataType::f32);
  parts.constants = tensor_constants(problem, config, access);
  parts.files["tensor/instruction.cuh"] = mma_instruction(operand_precision(problem));
  return parts;
}

}  // namespace vnjit
