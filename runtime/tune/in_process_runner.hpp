#pragma once

#include <memory>
#include <optional>

#include "vnjit/runtime/runtime.hpp"
#include "vnjit/runtime/tune/sweep.hpp"
#include "vnjit/runtime/tune/trial.hpp"

namespace vnjit {

/// Compiles and runs candidates in this process, one after the other. Without a device it can only
/// compile.
class InProcessRunner final : public CandidateRunner {
 public:
  InProcessRunner(Runtime& runtime, const Problem& problem, const DeviceLimits& limits,
                  std::shared_ptr<Device> device);

  /// Of one config; never throws.
  Build build(const Config& config);

  void build(std::span<const Config> configs,
             const std::function<void(std::size_t index, const Build&)>& done,
             const std::function<bool()>& stop) override;
  double check(const Config& config) override;
  double time(const Config& config) override;

 private:
  std::shared_ptr<const Plan> plan(const Config& config);
  Trial& trial();

  Runtime& runtime_;
  Problem problem_;
  DeviceLimits limits_;
  std::shared_ptr<Device> device_;
  std::optional<Trial> trial_;
};

}  // namespace vnjit
