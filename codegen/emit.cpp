#include "vnjit/codegen/emit.hpp"

#include <fmt/format.h>

#include <optional>

#include "vnjit/codegen/assembler.hpp"
#include "vnjit/codegen/candidates.hpp"
#include "vnjit/codegen/family_limits.hpp"

namespace vnjit {
namespace {

constexpr std::string_view kVersion = VNJIT_VERSION_TEXT;

/// What one operation's specialization consists of, beyond what all have.
struct Parts {
  std::string operation;  // its function in the template and the stem of its files
  std::string formula;
  std::string types;  // for the entry name
  TemplateFlags flags;
  std::string constants;  // declarations
  std::vector<std::string> fragments;
};

std::string constant(std::string_view name, std::int64_t value, std::string_view why = {}) {
  return fmt::format("constexpr int {} = {};{}{}\n", name, value, why.empty() ? "" : "  // ", why);
}

std::string noise_fragment(const NoiseSpec& noise) {
  switch (noise.generator) {
    case Generator::triton:
      return "noise/triton.cuh";
    case Generator::splitmix64:
      return "noise/splitmix64.cuh";
    case Generator::philox:
      break;
  }
  switch (noise.distribution) {
    case Distribution::uniform:
      return "noise/philox_uniform.cuh";
    case Distribution::uniform8:
      return "noise/philox_uniform8.cuh";
    case Distribution::rademacher:
      return "noise/philox_rademacher.cuh";
  }
  return {};
}

std::string noise_type(const NoiseSpec& noise) {
  switch (noise.generator) {
    case Generator::triton:
      return "noise::Triton";
    case Generator::splitmix64:
      return "noise::SplitMix64";
    case Generator::philox:
      break;
  }
  switch (noise.distribution) {
    case Distribution::uniform:
      return fmt::format("noise::PhiloxUniform<{}>", noise.rounds);
    case Distribution::uniform8:
      return fmt::format("noise::PhiloxUniform8<{}>", noise.rounds);
    case Distribution::rademacher:
      return fmt::format("noise::PhiloxRademacher<{}>", noise.rounds);
  }
  return {};
}

std::optional<DataType> input_type(const Problem& problem) {
  if (const auto* linear = std::get_if<PerturbedLinear>(&problem)) return linear->input;
  if (const auto* metric = std::get_if<ReduceMetric>(&problem)) return metric->input;
  return std::nullopt;
}

std::string lane_fragment(const NoiseSpec& noise) {
  return noise.generator == Generator::philox ? "simt/lane_blocks.cuh" : "simt/lane_elements.cuh";
}

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
  return access.aligned_noise ? "simt/perturb_aligned_blocks.cuh" : "simt/perturb_any_blocks.cuh";
}

Parts parts_of(const PerturbedLinear& problem, const Config& config, const DeviceLimits& limits,
               const Access& access) {
  const int copy_bytes = access.vector_rows ? 16 : size_bytes(problem.input);
  const std::string copy = copy_fragment(copy_bytes, limits);
  const bool async = copy == kCopyAsync;
  const bool single = config.stages == 1;
  Parts parts;
  parts.operation = "perturbed_linear";
  parts.formula = problem.bias ? "Y[i] = X[i]*(W + sigma*N_i)^T + (b + sigma*nb_i)"
                               : "Y[i] = X[i]*(W + sigma*N_i)^T";
  parts.types = fmt::format("_{}", to_string(problem.input));
  parts.flags = {{"has_bias", problem.bias},
                 {"individual_x", problem.layout == InputLayout::individual},
                 {"antithetic", problem.noise.antithetic},
                 {"baked_shape", problem.bake_shape},
                 {"single_stage", single},
                 {"async_copy", async}};
  parts.constants += fmt::format("using Index = {};\n\n", access.wide_index ? "long long" : "int");
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
  parts.fragments = {copy, perturb_fragment(problem.noise, access)};
  return parts;
}

Parts parts_of(const Gradient& problem, const Config& config, const DeviceLimits&, const Access&) {
  Parts parts;
  parts.operation = "gradient";
  parts.formula = "G[j, k] = scale / sigma * sum_i fitness[i]*N_i[j, k]";
  parts.flags = {{"antithetic", problem.noise.antithetic}};
  parts.constants = constant("kBlockIn", config.block_in) + constant("kWarps", config.warps) +
                    constant("kThreads", config.threads());
  parts.fragments = {lane_fragment(problem.noise)};
  return parts;
}

Parts parts_of(const ReduceMetric& problem, const Config& config, const DeviceLimits&,
               const Access&) {
  Parts parts;
  parts.operation = "reduce_metric";
  parts.formula = "metric[i] = mean_k |center[k] + sigma*N_i[k]|";
  parts.types = fmt::format("_{}", to_string(problem.input));
  parts.flags = {{"antithetic", problem.noise.antithetic}};
  parts.constants = constant("kBlockIn", config.block_in) + constant("kWarps", config.warps);
  parts.fragments = {lane_fragment(problem.noise)};
  return parts;
}

std::string params_type(std::string_view operation) {
  std::string name;
  bool upper = true;
  for (const char letter : operation) {
    if (letter == '_') {
      upper = true;
    } else {
      name += upper ? static_cast<char>(letter - 'a' + 'A') : letter;
      upper = false;
    }
  }
  return name + "Params";
}

std::string entry_name(const Parts& parts, const Config& config) {
  return fmt::format("vnjit_{}_{}", parts.operation,
                     to_string(config).insert(std::string_view("simt").size(), parts.types));
}

std::string opening_comment(const Problem& problem, const Config& config,
                            const DeviceLimits& limits, const Access& access, const Parts& parts) {
  const NoiseSpec& noise = noise_of(problem);
  std::string text = fmt::format(
      "// vnjit {version}: {operation}\n"
      "//   {formula}\n"
      "// noise:  {noise}{antithetic}, contract version {contract}\n"
      "// config: {config} for {arch}, {threads} threads, {shared} bytes of shared memory\n",
      fmt::arg("version", kVersion), fmt::arg("operation", operation_name(problem)),
      fmt::arg("formula", parts.formula), fmt::arg("noise", to_string(noise)),
      fmt::arg("antithetic", noise.antithetic ? ", antithetic pairs" : ""),
      fmt::arg("contract", noise_contract_version()), fmt::arg("config", to_string(config)),
      fmt::arg("arch", limits.arch()), fmt::arg("threads", config.threads()),
      fmt::arg("shared", shared_bytes(config, problem)));
  if (const auto* linear = std::get_if<PerturbedLinear>(&problem)) {
    text += fmt::format("// types:  X, W{} {}, Y {}, sums f32\n", linear->bias ? " and b" : "",
                        to_string(linear->input), to_string(linear->output));
    text += fmt::format("// layout: X {}; access {}\n",
                        linear->layout == InputLayout::shared ? "(batch, in), shared"
                                                              : "(pop, batch, in), per individual",
                        to_string(access));
  }
  text += fmt::format("// stages: {}; {}\n", config.stages,
                      pipeline_depth(config, problem, limits).explain());
  text += fmt::format("// again:  vnjit emit {} --arch {} --config {} --access {}\n\n",
                      command_flags(problem), limits.arch(), to_string(config), to_string(access));
  return text;
}

std::string includes(const std::vector<std::string>& files) {
  std::string text;
  for (const std::string& file : files) text += fmt::format("#include \"{}\"\n", file);
  return text;
}

std::string specialization(const Problem& problem, const Parts& parts) {
  const NoiseSpec& noise = noise_of(problem);
  std::vector<std::string> types = {noise_fragment(noise)};
  if (const auto input = input_type(problem)) {
    types.push_back(fmt::format("simt/input_{}.cuh", to_string(*input)));
  }
  std::string text = includes(types);
  text += fmt::format("\nnamespace vnjit {{\n\nusing Noise = {};\n", noise_type(noise));
  text += parts.constants;
  text += "\n}  // namespace vnjit\n";
  return text;
}

std::string entry_function(const Parts& parts, const std::string& entry, const Config& config,
                           std::int64_t shared) {
  return fmt::format(
      "\nstatic_assert(vnjit::kSharedBytes == {shared}, \"the generator counted another size\");\n"
      "\nextern \"C\" __global__ void __launch_bounds__({threads}, {blocks})\n"
      "{entry}(const vnjit::{params} params) {{\n"
      "  vnjit::{operation}(params);\n"
      "}}\n",
      fmt::arg("shared", shared), fmt::arg("threads", config.threads()),
      fmt::arg("blocks", config.blocks_per_sm), fmt::arg("entry", entry),
      fmt::arg("params", params_type(parts.operation)), fmt::arg("operation", parts.operation));
}

}  // namespace

KernelSource emit(const Problem& problem, const Config& config, const DeviceLimits& limits,
                  const Access& access) {
  validate(problem);
  validate(config, problem, limits);
  const Parts parts = std::visit(
      [&](const auto& operation) { return parts_of(operation, config, limits, access); }, problem);

  TemplateFiles files = embedded_templates();
  files["specialization.cuh"] = specialization(problem, parts);
  files["fragments.cuh"] = includes(parts.fragments);

  KernelSource source;
  source.entry = entry_name(parts, config);
  source.threads = config.threads();
  source.shared_bytes = shared_bytes(config, problem);
  source.text = opening_comment(problem, config, limits, access, parts) +
                assemble(files, fmt::format("simt/{}.cuh", parts.operation), parts.flags) +
                entry_function(parts, source.entry, config, source.shared_bytes);
  source.arch = limits.arch();
  source.options = {fmt::format("--gpu-architecture={}", source.arch), "--std=c++17"};
  return source;
}

KernelSource emit(const Problem& problem, const Config& config, const DeviceLimits& limits) {
  return emit(problem, config, limits, contiguous_access(problem));
}

}  // namespace vnjit
