#include "vnjit/codegen/emit.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "vnjit/codegen/candidates.hpp"
#include "vnjit/codegen/parts.hpp"
#include "vnjit/codegen/tensor_config.hpp"

namespace vnjit {
namespace {

constexpr std::string_view kVersion = VNJIT_VERSION_TEXT;

/// How a kernel is compiled and launched.
struct Launch {
  std::string arch;
  int threads = 0;
  int blocks_per_sm = 1;
  std::int64_t shared_bytes = 0;
};

Parts parts_of(const PerturbedLinear& problem, const Config& config, const DeviceLimits& limits,
               const Access& access) {
  if (!is_tensor(config.family)) return simt_linear_parts(problem, config, limits, access);
  const std::string missing = missing_access(config, problem, access);
  if (!missing.empty()) {
    throw ConfigError(fmt::format("access is {}; {}", to_string(access), missing));
  }
  return tensor_linear_parts(problem, config, limits, access);
}

Parts parts_of(const Gradient& problem, const Config& config, const DeviceLimits& limits,
               const Access&) {
  return gradient_parts(problem, config, limits);
}

Parts parts_of(const ReduceMetric& problem, const Config& config, const DeviceLimits&,
               const Access&) {
  return reduce_metric_parts(problem, config);
}

std::string formula_of(const Problem& problem) {
  if (const auto* linear = std::get_if<PerturbedLinear>(&problem)) {
    return linear->bias ? "Y[i] = X[i]*(W + sigma*N_i)^T + (b + sigma*nb_i)"
                        : "Y[i] = X[i]*(W + sigma*N_i)^T";
  }
  if (const auto* gradient = std::get_if<Gradient>(&problem)) {
    constexpr std::string_view kGradient =
        "G[j, k] = sum_i fitness[i]*N_i[j, k] / (divisor*sigma), over a list of blocks";
    switch (gradient->update) {
      case Update::none:
        return std::string(kGradient);
      case Update::sgd:
        return fmt::format("{}; W += learning_rate*G", kGradient);
      case Update::adam:
        return fmt::format("{}; Adam's step of W", kGradient);
    }
  }
  return "metric[i] = mean_k |center[k] + sigma*N_i[k]|";
}

std::string entry_name(const Parts& parts, const Config& config) {
  return fmt::format("vnjit_{}_{}", parts.operation,
                     to_string(config).insert(to_string(config.family).size(), parts.types));
}

std::string noise_line(const NoiseSpec& noise) {
  return fmt::format("// noise:  {}{}, contract version {}\n", to_string(noise),
                     noise.antithetic ? ", antithetic pairs" : "", noise_contract_version());
}

std::string config_line(const Config& config, const DeviceLimits& limits, const Launch& launch) {
  return fmt::format("// config: {} for {}, {} threads, {} bytes of shared memory\n",
                     to_string(config), limits.arch(), launch.threads, launch.shared_bytes);
}

std::string opening_comment(const Problem& problem, const Config& config,
                            const DeviceLimits& limits, const Access& access, const Parts& parts,
                            const Launch& launch, const TemplateFiles& templates) {
  return fmt::format("// vnjit {}: {}\n//   {}\n", kVersion, operation_name(problem),
                     formula_of(problem)) +
         noise_line(noise_of(problem)) + config_line(config, limits, launch) + parts.summary +
         fmt::format("// stages: {}; {}\n", config.stages,
                     pipeline_depth(config, problem, limits).explain()) +
         fmt::format("// again:  vnjit emit {} --arch {} --config {} --access {}{}\n\n",
                     command_flags(problem), limits.arch(), to_string(config), to_string(access),
                     &templates == &embedded_templates() ? "" : " --template-dir DIR");
}

std::string specialization(const Parts& parts) {
  return includes(parts.includes) + "\nnamespace vnjit {\n\n" + parts.constants +
         "\n}  // namespace vnjit\n";
}

std::string entry_function(const Parts& parts, const std::string& entry, const Launch& launch) {
  return fmt::format(
      "\nstatic_assert(vnjit::kSharedBytes == {shared}, \"the generator counted another size\");\n"
      "\nextern \"C\" __global__ void __launch_bounds__({threads}, {blocks})\n"
      "{entry}(const {constant}vnjit::{params} params{maps}) {{\n"
      "  vnjit::{function}(params{map_arguments});\n"
      "}}\n",
      fmt::arg("shared", launch.shared_bytes), fmt::arg("threads", launch.threads),
      fmt::arg("blocks", launch.blocks_per_sm), fmt::arg("entry", entry),
      fmt::arg("constant", parts.tensor_maps || parts.grid_constant ? "__grid_constant__ " : ""),
      fmt::arg("params", parts.params),
      fmt::arg("maps", parts.tensor_maps
                           ? ",\n    const __grid_constant__ vnjit::TensorMap x_map,\n"
                             "    const __grid_constant__ vnjit::TensorMap weight_map"
                           : ""),
      fmt::arg("function", parts.function),
      fmt::arg("map_arguments", parts.tensor_maps ? ", &x_map, &weight_map" : ""));
}

/// Of the kernels that prepare inputs: 256 threads that work through the rows.
Launch preparation(const DeviceLimits& limits) { return {.arch = limits.arch(), .threads = 256}; }

KernelSource source_of(const std::string& comment, const Parts& parts, const std::string& entry,
                       const Launch& launch, const TemplateFiles& templates) {
  TemplateFiles files = templates;
  for (const auto& [path, text] : parts.files) files[path] = text;
  files["specialization.cuh"] = specialization(parts);
  KernelSource source;
  source.entry = entry;
  source.threads = launch.threads;
  source.shared_bytes = launch.shared_bytes;
  source.text =
      comment + assemble(files, parts.root, parts.flags) + entry_function(parts, entry, launch);
  source.arch = launch.arch;
  source.options = {fmt::format("--gpu-architecture={}", source.arch), "--std=c++17"};
  return source;
}

}  // namespace

KernelSource emit(const Problem& problem, const Config& config, const DeviceLimits& limits,
                  const Access& access, const TemplateFiles& templates) {
  validate(problem);
  validate(config, problem, limits);
  const Parts parts = std::visit(
      [&](const auto& operation) { return parts_of(operation, config, limits, access); }, problem);
  const Launch launch = {.arch = limits.arch() + (config.family == Family::wgmma ? "a" : ""),
                         .threads = config.threads(),
                         .blocks_per_sm = config.blocks_per_sm,
                         .shared_bytes = shared_bytes(config, problem)};
  return source_of(opening_comment(problem, config, limits, access, parts, launch, templates),
                   parts, entry_name(parts, config), launch, templates);
}

KernelSource emit(const Problem& problem, const Config& config, const DeviceLimits& limits) {
  return emit(problem, config, limits, contiguous_access(problem));
}

KernelSource emit_base_product(const PerturbedLinear& problem, const DeviceLimits& limits,
                               const Access& access, const TemplateFiles& templates) {
  const Config config = base_product_config(problem, limits);
  const PerturbedLinear product = base_product_problem(problem);
  const Parts parts = base_product_parts(product, config, limits, access);
  const Launch launch = {.arch = limits.arch(),
                         .threads = config.threads(),
                         .blocks_per_sm = config.blocks_per_sm,
                         .shared_bytes = shared_bytes(config, product)};
  const std::string comment =
      fmt::format(
          "// vnjit {}: base product of perturbed-linear, once for all individuals\n"
          "//   base = {}\n",
          kVersion, problem.bias ? "X*W^T + b" : "X*W^T") +
      config_line(config, limits, launch) + parts.summary + "\n";
  return source_of(comment, parts, entry_name(parts, config), launch, templates);
}

KernelSource emit_convert(const PerturbedLinear& problem, const DeviceLimits& limits,
                          const TemplateFiles& templates) {
  const std::string_view type = to_string(operand_precision(problem));
  Parts parts;
  parts.root = "tensor/convert.cuh";
  parts.function = "convert";
  parts.params = "ConvertParams";
  parts.includes = {fmt::format("types/output_{}.cuh", type)};
  return source_of(fmt::format("// vnjit {}: rows of f32 rounded to {}\n\n", kVersion, type), parts,
                   fmt::format("vnjit_convert_f32_{}", type), preparation(limits), templates);
}

KernelSource emit_noise_rate(const NoiseSpec& noise, const DeviceLimits& limits) {
  noise.validate();
  const Launch launch = {
      .arch = limits.arch(), .threads = 256, .blocks_per_sm = kNoiseRateBlocksPerSm};
  NoiseSpec plain = noise;
  plain.antithetic = false;
  const Parts parts = noise_rate_parts(plain, launch.threads);
  std::string name = to_string(plain);
  std::ranges::replace(name, ':', '_');
  return source_of(
      fmt::format("// vnjit {}: noise alone, {} a thread and seed\n", kVersion, parts.summary) +
          noise_line(plain) + "\n",
      parts, fmt::format("vnjit_noise_rate_{}", name), launch, embedded_templates());
}

KernelSource emit_quantize(const PerturbedLinear& problem, const DeviceLimits& limits,
                           const TemplateFiles& templates) {
  const std::string_view type = to_string(problem.input);
  Parts parts;
  parts.root = "tensor/quantize.cuh";
  parts.function = "quantize";
  parts.params = "QuantizeParams";
  parts.includes = {fmt::format("types/input_{}.cuh", type)};
  return source_of(
      fmt::format("// vnjit {}: rows of {} rounded to 8 bits, a scale each\n\n", kVersion, type),
      parts, fmt::format("vnjit_quantize_{}", type), preparation(limits), templates);
}

}  // namespace vnjit
