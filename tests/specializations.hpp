#pragma once

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <string>
#include <vector>

#include "covering_set.hpp"
#include "vnjit/codegen/candidates.hpp"
#include "vnjit/codegen/emit.hpp"
#include "vnjit/runtime/compiler.hpp"

// Combinations of all that decides what a kernel's source holds.

namespace vnjit::tests {

inline constexpr std::array<const char*, 6> kNoises = {
    "triton",          "splitmix64",         "philox:uniform",
    "philox:uniform8", "philox:uniform8:10", "philox:rademacher"};
inline constexpr std::array<DataType, 3> kDataTypes = {DataType::f32, DataType::f16,
                                                       DataType::bf16};

/// A kernel to compile, of a problem on a device.
struct Specialization {
  Problem problem;
  DeviceLimits limits;
  Config config;
  Access access;

  KernelSource emit() const { return vnjit::emit(problem, config, limits, access); }
  std::string name() const {
    return fmt::format("{} --arch {} --config {} --access {}", command_flags(problem),
                       limits.arch(), to_string(config), to_string(access));
  }
};

inline NoiseSpec noise_number(std::size_t number, bool antithetic) {
  NoiseSpec noise = parse_noise_spec(kNoises.at(number));
  noise.antithetic = antithetic;
  return noise;
}

/// Perturbed-linear kernels by the level of each of these choices.
struct LinearChoices {
  enum { noise, dtype, bias, layout, antithetic, baked, access, stages };
  static std::vector<std::size_t> counts() {
    return {kNoises.size(), kDataTypes.size(), 2, 2, 2, 2, 2, 3};
  }

  static Specialization make(const Levels& levels, const DeviceLimits& limits) {
    PerturbedLinear problem;
    problem.noise = noise_number(levels[noise], levels[antithetic] == 1);
    problem.input = kDataTypes.at(levels[dtype]);
    problem.bias = levels[bias] == 1;
    problem.layout = levels[layout] == 1 ? InputLayout::individual : InputLayout::shared;
    problem.bake_shape = levels[baked] == 1;
    Config config{.block_out = 32, .warps = 4};
    const int deepest = pipeline_depth(config, problem, limits).stages;
    const std::array<int, 3> depths = {1, std::min(2, deepest), deepest};
    config.stages = depths.at(levels[stages]);
    return {problem, limits, config, levels[access] == 1 ? contiguous_access(problem) : Access{}};
  }
};

/// Gradient kernels.
struct GradientChoices {
  enum { noise, antithetic, vector };
  static std::vector<std::size_t> counts() { return {kNoises.size(), 2, 2}; }

  static Specialization make(const Levels& levels, const DeviceLimits& limits) {
    Gradient problem;
    problem.noise = noise_number(levels[noise], levels[antithetic] == 1);
    problem.vector = levels[vector] == 1;
    if (problem.vector) problem.rows = 1;
    return {problem, limits, choose_config(problem, limits), Access{}};
  }
};

/// Reduce-metric kernels.
struct MetricChoices {
  enum { noise, dtype, antithetic };
  static std::vector<std::size_t> counts() { return {kNoises.size(), kDataTypes.size(), 2}; }

  static Specialization make(const Levels& levels, const DeviceLimits& limits) {
    ReduceMetric problem;
    problem.noise = noise_number(levels[noise], levels[antithetic] == 1);
    problem.input = kDataTypes.at(levels[dtype]);
    return {problem, limits, choose_config(problem, limits), Access{}};
  }
};

/// What the compiler says of a kernel beyond its resource report: warnings, one a line.
inline std::string complaints(const std::string& log) {
  std::string found;
  for (std::size_t begin = 0; begin < log.size();) {
    const std::size_t end = std::min(log.find('\n', begin), log.size());
    const std::string line = log.substr(begin, end - begin);
    const bool report =  // a line of ptxas's, or its continuation
        line.empty() || line.starts_with("ptxas info ") || line.starts_with("ptxas    ");
    if (!report) found += line + "\n";
    begin = end + 1;
  }
  return found;
}

}  // namespace vnjit::tests
