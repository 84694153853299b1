#include <fmt/format.h>

#include "vnjit/codegen/parts.hpp"
#include "vnjit/codegen/sum_config.hpp"

namespace vnjit {
namespace {

std::string sums_fragment(const NoiseSpec& noise, const Config& config) {
  if (config.family == Family::mma_sync) return "gradient/sums_product.cuh";
  return has_integer_sums(noise) ? "gradient/sums_integer.cuh" : "gradient/sums_float.cuh";
}

std::string sums_line(const NoiseSpec& noise, const Config& config) {
  if (config.family == Family::mma_sync) {
    return "// sums:   integers, by matrix products of noise and fitness in fixed point\n";
  }
  return has_integer_sums(noise) ? "// sums:   integers, of noise and fitness in fixed point\n"
                                 : "// sums:   f32, compensated\n";
}

std::string_view block_type(Update update) {
  switch (update) {
    case Update::none:
      break;
    case Update::sgd:
      return "SgdBlockParams";
    case Update::adam:
      return "AdamBlockParams";
  }
  return "GradientBlockParams";
}

std::string lane_constants(const NoiseSpec& noise, const Config& config) {
  return fmt::format("using Noise = {};\n\n", noise_type(noise)) +
         constant("kBlockIn", config.block_in) + constant("kWarps", config.warps) +
         constant("kThreads", config.threads());
}

}  // namespace

std::string lane_fragment(const NoiseSpec& noise) {
  switch (noise.generator) {
    case Generator::triton:
      return "simt/lane_triton.cuh";
    case Generator::splitmix64:
      return "simt/lane_splitmix64.cuh";
    case Generator::philox:
      break;
  }
  if (noise.distribution == Distribution::uniform) return "simt/lane_words.cuh";
  if (noise.distribution == Distribution::uniform8) return "simt/lane_bytes.cuh";
  return "simt/lane_blocks.cuh";
}

Parts gradient_parts(const Gradient& problem, const Config& config, const DeviceLimits& limits) {
  Parts parts;
  parts.root = "gradient/gradient.cuh";
  parts.function = parts.operation = "gradient";
  parts.params = "GradientList";
  if (problem.update != Update::none) parts.types = fmt::format("_{}", to_string(problem.update));
  parts.grid_constant = true;
  parts.summary = sums_line(problem.noise, config);
  parts.flags = {{"antithetic", problem.noise.antithetic},
                 {"fixed_point", has_integer_sums(problem.noise)},
                 {"clusters", limits.has_clusters()},
                 {"sgd", problem.update == Update::sgd},
                 {"adam", problem.update == Update::adam}};
  parts.includes = {noise_fragment(problem.noise), "params/gradient.cuh"};
  parts.constants = fmt::format("using GradientBlock = {};\n", block_type(problem.update)) +
                    "using GradientList = GradientListParams<GradientBlock>;\n" +
                    lane_constants(problem.noise, config);
  parts.files["gradient/fragments.cuh"] = includes({sums_fragment(problem.noise, config)});
  parts.files["simt/lane_noise.cuh"] = includes({lane_fragment(problem.noise)});
  return parts;
}

Parts reduce_metric_parts(const ReduceMetric& problem, const Config& config) {
  Parts parts;
  parts.root = "simt/reduce_metric.cuh";
  parts.function = parts.operation = "reduce_metric";
  parts.params = "ReduceMetricParams";
  parts.types = fmt::format("_{}", to_string(problem.input));
  parts.flags = {{"antithetic", problem.noise.antithetic}};
  parts.includes = {noise_fragment(problem.noise),
                    fmt::format("types/input_{}.cuh", to_string(problem.input))};
  parts.constants =
      lane_constants(problem.noise, config) + constant("kIndividuals", config.individuals);
  parts.files["simt/lane_noise.cuh"] = includes({lane_fragment(problem.noise)});
  return parts;
}

}  // namespace vnjit
