#pragma once

#include <memory>
#include <string>

#include "vnjit/codegen/config.hpp"
#include "vnjit/codegen/sum_split.hpp"
#include "vnjit/runtime/arguments.hpp"
#include "vnjit/runtime/gpu/loaded_kernel.hpp"

namespace vnjit {

/// Runs of a reduce metric on a GPU.
class GpuReduceMetric {
 public:
  GpuReduceMetric(const ReduceMetric& problem, const Config& config,
                  std::shared_ptr<GpuDevice> device, Compiler& compiler);

  std::size_t workspace_bytes(const ReduceMetricArguments& sizes) const;

  /// `arguments` are checked(), of at least one individual.
  void run(const ReduceMetricArguments& arguments, StreamHandle stream, Workspace workspace) const;

  std::string explain() const;

 private:
  std::int64_t segments(const ReduceMetricArguments& arguments) const;
  ParameterSplit split(const ReduceMetricArguments& arguments) const;
  void launch(const ReduceMetricArguments& arguments, StreamHandle stream,
              std::byte* workspace) const;

  ReduceMetric problem_;
  Config config_;
  std::shared_ptr<GpuDevice> device_;
  LoadedKernel kernel_;
};

}  // namespace vnjit
