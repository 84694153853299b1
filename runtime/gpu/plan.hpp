#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "vnjit/codegen/access.hpp"
#include "vnjit/runtime/compiler.hpp"
#include "vnjit/runtime/gpu/device.hpp"
#include "vnjit/runtime/gpu/gradient.hpp"
#include "vnjit/runtime/gpu/loaded_kernel.hpp"
#include "vnjit/runtime/gpu/reduce_metric.hpp"
#include "vnjit/runtime/gpu/tensor_linear.hpp"
#include "vnjit/runtime/plan.hpp"

namespace vnjit {

/// Kernels of one problem, compiled and loaded. For perturbed linear those for the buffers that the
/// config's family is made for, and the simt kernel for any.
class GpuPlan final : public Plan {
 public:
  /// `origin`: where the config comes from, for explain(); empty where there is nothing to say.
  GpuPlan(const Problem& problem, const Config& config, std::shared_ptr<GpuDevice> device,
          Compiler& compiler, std::string origin = {});

  /// With the kernel alone that takes any buffers, which every plan of the problem has too.
  static std::shared_ptr<const GpuPlan> general(const PerturbedLinear& problem,
                                                std::shared_ptr<GpuDevice> device,
                                                Compiler& compiler);

  const Problem& problem() const override { return problem_; }
  const Device& device() const override { return *device_; }

  std::size_t workspace_bytes(const PerturbedLinearArguments& sizes) const override {
    return tensor_ ? tensor_->workspace_bytes(sizes) : 0;
  }
  std::size_t workspace_bytes(const GradientArguments& sizes) const override {
    return gradient_ ? gradient_->workspace_bytes(sizes) : 0;
  }
  std::size_t workspace_bytes(const ReduceMetricArguments& sizes) const override {
    return reduce_metric_ ? reduce_metric_->workspace_bytes(sizes) : 0;
  }

  void run(const PerturbedLinearArguments& arguments, StreamHandle stream,
           Workspace workspace) const override;
  void run(const GradientArguments& arguments, StreamHandle stream,
           Workspace workspace) const override;
  void run(const ReduceMetricArguments& arguments, StreamHandle stream,
           Workspace workspace) const override;

  std::string explain() const override;

 private:
  enum class Kernels { all, general };
  GpuPlan(const Problem& problem, const Config& config, std::shared_ptr<GpuDevice> device,
          Compiler& compiler, std::string origin, Kernels kernels);
  void load_linear(const PerturbedLinear& problem, Compiler& compiler, Kernels kernels);
  std::unique_ptr<const LoadedKernel> load(const Access& access, Compiler& compiler) const;
  template <typename Params>
  void launch(const LoadedKernel& kernel, Params params, std::int64_t blocks,
              StreamHandle stream) const;

  Problem problem_;
  Config config_;
  std::string origin_;  // of config_
  Config simt_config_;  // of any_ and fast_
  std::shared_ptr<GpuDevice> device_;
  std::unique_ptr<const TensorLinear> tensor_;  // null where the config is of simt
  Access fast_access_;
  std::unique_ptr<const LoadedKernel> fast_;  // null where it would be any_, or there is tensor_
  std::unique_ptr<const LoadedKernel> any_;   // of perturbed linear
  std::unique_ptr<const GpuGradient> gradient_;
  std::unique_ptr<const GpuReduceMetric> reduce_metric_;
};

}  // namespace vnjit
