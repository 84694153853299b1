#pragma once

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <iterator>
#include <string>
#include <vector>

#include "covering_set.hpp"
#include "vnjit/codegen/candidates.hpp"
#include "vnjit/codegen/emit.hpp"
#include "vnjit/codegen/tensor_config.hpp"
#include "vnjit/runtime/compiler.hpp"

// Combinations of all that decides what a kernel's source holds.

namespace vnjit::tests {

inline constexpr std::array<const char*, 7> kNoises = {
    "triton",          "splitmix64",         "philox:uniform",
    "philox:uniform8", "philox:uniform8:10", "philox:rademacher",
    "philox:normal"};
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

/// What kernels of the tensor families are compiled for.
struct TensorTarget {
  Family family;
  const char* preset;

  DeviceLimits limits() const { return DeviceLimits::preset(preset); }
  std::string name() const { return fmt::format("{}_{}", to_string(family), preset); }
};
inline constexpr std::array<TensorTarget, 6> kTensorTargets = {{{Family::wgmma, "sm_90"},
                                                                {Family::mma_sync, "sm_80"},
                                                                {Family::mma_sync, "sm_86"},
                                                                {Family::mma_sync, "sm_90"},
                                                                {Family::mma_sync, "sm_100"},
                                                                {Family::mma_sync, "sm_120"}}};

/// Kernels of the tensor families.
struct TensorChoices {
  enum {
    noise,
    operand,
    tile,
    rounded_output,
    bias,
    layout,
    antithetic,
    baked,
    alignment,
    fused,
    individuals,
    wide,
    stages
  };
  static std::vector<std::size_t> counts() {
    return {kNoises.size(), kOperands.size(), kTiles.size(), 2, 2, 2, 2, 2, 2, 2, 2, 2, 2};
  }

  static Specialization make(const Levels& levels, const TensorTarget& target) {
    const DeviceLimits limits = target.limits();
    const PerturbedLinear problem = problem_of(levels);
    const bool own_x = problem.layout == InputLayout::individual;
    Config config = kTiles.at(levels[tile]);
    config.family = target.family;
    config.block_in *= operand_precision(problem) == Precision::tf32 ? 32 : 64;
    config.fused = levels[fused] == 1;
    config.individuals = own_x && levels[individuals] == 1 ? 2 : 1;
    config.stages =
        levels[stages] == 1 ? pipeline_depth(config, problem, limits).stages : least(config);
    return {problem, limits, config, access_of(levels, config, problem)};
  }

 private:
  struct Operand {
    DataType input;
    Precision precision;
  };
  static constexpr std::array<Operand, 5> kOperands = {{{DataType::f16, Precision::input},
                                                        {DataType::bf16, Precision::input},
                                                        {DataType::f32, Precision::tf32},
                                                        {DataType::f32, Precision::f16},
                                                        {DataType::f32, Precision::bf16}}};
  /// block_in in steps of 128 bytes.
  static constexpr std::array<Config, 3> kTiles = {
      {{.block_batch = 8, .block_in = 1, .warps = 4},
       {.block_out = 128, .block_batch = 32, .block_in = 2, .warps = 8},
       {.block_out = 256, .block_batch = 16, .block_in = 1, .warps = 16}}};

  static int least(const Config& config) { return config.family == Family::wgmma ? 2 : 1; }

  static PerturbedLinear problem_of(const Levels& levels) {
    PerturbedLinear problem;
    problem.noise = noise_number(levels[noise], levels[antithetic] == 1);
    problem.input = kOperands.at(levels[operand]).input;
    problem.precision = kOperands.at(levels[operand]).precision;
    if (levels[rounded_output] == 1) problem.output = problem.input;
    problem.bias = levels[bias] == 1;
    problem.layout = levels[layout] == 1 ? InputLayout::individual : InputLayout::shared;
    problem.bake_shape = levels[baked] == 1;
    return problem;
  }

  /// As little as the levels say, or as little as the kernel can do with.
  static Access access_of(const Levels& levels, const Config& config,
                          const PerturbedLinear& problem) {
    Access access{.vector_rows = true,
                  .noise_alignment = 1,
                  .wide_index = levels[wide] == 1,
                  .wide_counter = levels[wide] == 1};
    if (problem.noise.generator == Generator::philox) {
      access.noise_alignment = levels[alignment] == 1 ? 64 : 16;
    }
    if (missing_access(config, problem, access).empty()) return access;
    access.noise_alignment = 64;
    if (!missing_access(config, problem, access).empty()) access.wide_counter = false;
    return access;
  }
};

/// Gradient kernels.
struct GradientChoices {
  enum { noise, antithetic, update, family, warps };
  static std::vector<std::size_t> counts() { return {kNoises.size(), 2, kUpdates.size(), 2, 2}; }

  /// Of the family that the levels say, or of simt where it is the only one.
  static Specialization make(const Levels& levels, const DeviceLimits& limits) {
    Gradient problem;
    problem.noise = noise_number(levels[noise], levels[antithetic] == 1);
    problem.update = kUpdates.at(levels[update]);
    const std::vector<Config> all = candidates(problem, limits);
    const Family wanted = levels[family] == 1 ? Family::mma_sync : Family::simt;
    const bool found = std::ranges::count(all, wanted, &Config::family) > 0;
    std::vector<Config> layouts;
    std::ranges::copy_if(all, std::back_inserter(layouts), [&](const Config& config) {
      return config.family == (found ? wanted : Family::simt);
    });
    return {problem, limits, layouts.at(levels[warps] % layouts.size()), Access{}};
  }

 private:
  static constexpr std::array<Update, 3> kUpdates = {Update::none, Update::sgd, Update::adam};
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

/// What the compiler says of a kernel beyond its resource report: warnings, one a line, and what it
/// says it could not make fast.
inline std::string complaints(const std::string& log) {
  std::string found;
  for (std::size_t begin = 0; begin < log.size();) {
    const std::size_t end = std::min(log.find('\n', begin), log.size());
    const std::string line = log.substr(begin, end - begin);
    const bool report =  // a line of ptxas's, or its continuation
        line.empty() || line.starts_with("ptxas info ") || line.starts_with("ptxas    ");
    if (!report || line.find("Performance Loss") != std::string::npos) found += line + "\n";
    begin = end + 1;
  }
  return found;
}

}  // namespace vnjit::tests
