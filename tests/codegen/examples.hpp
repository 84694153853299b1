#pragma once

#include <vector>

#include "vnjit/codegen/candidates.hpp"
#include "vnjit/codegen/device_limits.hpp"
#include "vnjit/codegen/problem.hpp"

namespace vnjit::tests {

/// Every noise there is, each once.
inline std::vector<NoiseSpec> every_noise() {
  std::vector<NoiseSpec> all = {parse_noise_spec("triton"), parse_noise_spec("splitmix64")};
  for (const Distribution distribution : {Distribution::uniform, Distribution::uniform8,
                                          Distribution::rademacher, Distribution::normal}) {
    for (const int rounds : {7, 10}) all.push_back({Generator::philox, distribution, rounds});
  }
  return all;
}

/// One problem of each operation with the given noise, and of each update of a gradient.
inline std::vector<Problem> every_operation(const NoiseSpec& noise) {
  return {PerturbedLinear{.noise = noise},
          Gradient{.noise = noise},
          Gradient{.noise = noise, .update = Update::sgd},
          Gradient{.noise = noise, .update = Update::adam},
          Gradient{.noise = noise, .vector = true, .rows = 1},
          ReduceMetric{.noise = noise}};
}

/// Perturbed linear for each type that tensor cores multiply, from inputs of it and from fp32.
inline std::vector<PerturbedLinear> every_tensor_input() {
  return {{.input = DataType::f16},       {.input = DataType::bf16},
          {.precision = Precision::tf32}, {.precision = Precision::f16},
          {.precision = Precision::bf16}, {.input = DataType::f16, .output = DataType::f16}};
}

/// The same with a shared X and with one for each individual, with each of the noises.
inline std::vector<PerturbedLinear> every_tensor_problem() {
  std::vector<PerturbedLinear> all;
  for (const PerturbedLinear& input : every_tensor_input()) {
    for (const NoiseSpec& noise : every_noise()) {
      for (const InputLayout layout : {InputLayout::shared, InputLayout::individual}) {
        all.push_back(input);
        all.back().noise = noise;
        all.back().layout = layout;
      }
    }
  }
  return all;
}

inline std::vector<DeviceLimits> every_preset() {
  std::vector<DeviceLimits> all;
  for (const std::string_view name : preset_names()) all.push_back(DeviceLimits::preset(name));
  return all;
}

/// A config of a gradient.
inline Config segment_config(int warps = 8, Family family = Family::simt) {
  return {.family = family,
          .block_out = 1,
          .block_batch = 1,
          .block_in = 512,
          .stages = 1,
          .warps = warps};
}

/// A config of a reduce metric.
inline Config metric_config(int warps = 8, int individuals = 16) {
  Config config = segment_config(warps);
  config.individuals = individuals;
  return config;
}

}  // namespace vnjit::tests
