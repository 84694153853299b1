#pragma once

#include <string>
#include <vector>

#include "vnjit/codegen/config.hpp"

namespace vnjit {

/// How the depth of a config's pipeline was found, for `explain` and for the emitted comment.
struct PipelineDepth {
  std::int64_t limit_bytes = 0;  ///< shared memory a block may use on this device
  std::int64_t fixed_bytes = 0;  ///< what the kernel needs outside the pipeline
  std::int64_t stage_bytes = 0;  ///< 0: this operation has no pipeline
  int max_stages = 1;            ///< the family's maximum
  int fitting_stages = 1;        ///< choose_num_stages(limit - fixed, stage, max)
  int blocks_per_sm = 1;         ///< that the config counts on
  int stages = 1;                ///< lowered until blocks_per_sm blocks fit one multiprocessor

  /// One line of words and numbers.
  std::string explain() const;
};

/// Depth for `config` (whose own `stages` is not read).
PipelineDepth pipeline_depth(const Config& config, const Problem& problem,
                             const DeviceLimits& limits);

/// Every config that validates, in a fixed order: each tile at each depth that fits, counting on
/// the blocks that a multiprocessor then holds.
std::vector<Config> candidates(const Problem& problem, const DeviceLimits& limits);

/// How the base product of a tensor family is laid out.
Config base_product_config(const PerturbedLinear& problem, const DeviceLimits& limits);

/// The base product as a problem of its own: one individual without noise.
PerturbedLinear base_product_problem(const PerturbedLinear& problem);

/// Why no tensor family can take the problem, in words; empty where one can.
std::string why_not_tensor(const PerturbedLinear& problem, const DeviceLimits& limits);

/// The candidate with the least predicted time, or one with a pipeline that the prediction cannot
/// tell from it. Throws ConfigError when no config fits the device.
Config choose_config(const Problem& problem, const DeviceLimits& limits);

/// The same among the candidates of one family.
Config choose_config(const Problem& problem, const DeviceLimits& limits, Family family);

}  // namespace vnjit
