#pragma once

#include <memory>
#include <string>

#include "vnjit/codegen/config.hpp"
#include "vnjit/runtime/arguments.hpp"
#include "vnjit/runtime/gpu/loaded_kernel.hpp"

namespace vnjit {

/// Runs of a gradient on a GPU: one launch for a list of blocks.
class GpuGradient {
 public:
  GpuGradient(const Gradient& problem, const Config& config, std::shared_ptr<GpuDevice> device,
              Compiler& compiler);

  std::size_t workspace_bytes(const GradientArguments& sizes) const;

  /// `arguments` are checked().
  void run(const GradientArguments& arguments, StreamHandle stream, Workspace workspace) const;

  std::string explain() const;

 private:
  template <typename Block>
  void run_lists(const GradientArguments& arguments, StreamHandle stream,
                 std::byte* workspace) const;

  std::size_t capacity() const;
  std::int64_t seeds(const GradientArguments& arguments) const;

  Gradient problem_;
  Config config_;
  std::shared_ptr<GpuDevice> device_;
  LoadedKernel kernel_;
};

}  // namespace vnjit
