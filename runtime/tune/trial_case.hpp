#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "vnjit/runtime/plan.hpp"

// One operation's part of a Trial: its buffers, and the numbers that belong in them.

namespace vnjit {

/// Elements of an output that are compared.
struct TrialOutput {
  const void* data = nullptr;
  DataType type = DataType::f32;
  std::int64_t count = 0;
  std::vector<std::int64_t> samples{};  ///< ascending
  std::vector<double> expected{};       ///< of each sample
};

class TrialCase {
 public:
  virtual ~TrialCase() = default;

  /// Restores what a run changes, and fills what it only writes with set bits: NaN in every type.
  virtual void reset() = 0;
  virtual std::size_t workspace_bytes(const Plan& plan) const = 0;
  virtual void run(const Plan& plan, Workspace workspace) const = 0;
  /// As run(), without outputs that are written for check() only.
  virtual void run_timed(const Plan& plan, Workspace workspace) const { run(plan, workspace); }
  virtual const TrialOutput& output() const = 0;
  /// Whether every right result has the same bits.
  virtual bool is_exact() const { return false; }
  /// What beside the output has to be right, given its sampled values; throws Error.
  virtual void check_more(std::span<const float>) const {}
};

std::unique_ptr<TrialCase> make_trial_case(const PerturbedLinear& problem,
                                           const std::shared_ptr<Device>& device,
                                           std::uint64_t seed);
std::unique_ptr<TrialCase> make_trial_case(const Gradient& problem,
                                           const std::shared_ptr<Device>& device,
                                           std::uint64_t seed);
std::unique_ptr<TrialCase> make_trial_case(const ReduceMetric& problem,
                                           const std::shared_ptr<Device>& device,
                                           std::uint64_t seed);

}  // namespace vnjit
