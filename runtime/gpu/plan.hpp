#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "vnjit/codegen/access.hpp"
#include "vnjit/runtime/compiler.hpp"
#include "vnjit/runtime/gpu/device.hpp"
#include "vnjit/runtime/kernel.hpp"
#include "vnjit/runtime/plan.hpp"

namespace vnjit {

/// Kernels of one problem, compiled and loaded: the one for contiguous, aligned buffers, and the
/// one for any.
class GpuPlan final : public Plan {
 public:
  GpuPlan(const Problem& problem, const Config& config, std::shared_ptr<GpuDevice> device,
          Compiler& compiler);

  const Problem& problem() const override { return problem_; }
  const Device& device() const override { return *device_; }

  std::size_t workspace_bytes(const PerturbedLinearArguments&) const override { return 0; }
  std::size_t workspace_bytes(const GradientArguments&) const override { return 0; }
  std::size_t workspace_bytes(const ReduceMetricArguments&) const override { return 0; }

  void run(const PerturbedLinearArguments& arguments, StreamHandle stream,
           Workspace workspace) const override;
  void run(const GradientArguments& arguments, StreamHandle stream,
           Workspace workspace) const override;
  void run(const ReduceMetricArguments& arguments, StreamHandle stream,
           Workspace workspace) const override;

  std::string explain() const override;

 private:
  struct Loaded {
    Loaded(const Access& its_access, const KernelSource& source, const Compiled& compiled,
           const std::shared_ptr<const Driver>& driver);

    Access access;
    Kernel kernel;
    std::filesystem::path source_file;  // empty where nothing is on disk
  };

  std::unique_ptr<Loaded> load(const Access& access, Compiler& compiler) const;
  const Kernel& kernel_for(const Access& given) const;
  template <typename Params>
  void launch(const Kernel& kernel, Params params, long long blocks, StreamHandle stream) const;

  Problem problem_;
  Config config_;
  std::shared_ptr<GpuDevice> device_;
  unsigned threads_;       // of a block
  unsigned shared_bytes_;  // of a block
  long long max_grid_;
  std::unique_ptr<const Loaded> any_;
  std::unique_ptr<const Loaded> fast_;  // null where it would be the same
};

}  // namespace vnjit
