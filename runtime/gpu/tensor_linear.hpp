#pragma once

#include <cstddef>
#include <memory>
#include <string>

#include "params/convert.cuh"
#include "params/perturbed_linear.cuh"
#include "params/quantize.cuh"
#include "vnjit/codegen/config.hpp"
#include "vnjit/runtime/arguments.hpp"
#include "vnjit/runtime/gpu/loaded_kernel.hpp"

namespace vnjit {

/// Perturbed linear by a tensor family: the kernels that convert fp32 operands and make the base
/// product, where the config has them, and the main one.
class TensorLinear {
 public:
  /// Throws ConfigError, CompileError, CudaError; Unavailable where the driver lacks what wgmma
  /// needs.
  TensorLinear(const PerturbedLinear& problem, const Config& config,
               std::shared_ptr<GpuDevice> device, Compiler& compiler);

  // Arguments are checked() and not empty, but for workspace_bytes.

  /// Whether the kernels are made for these sizes and buffers.
  bool takes(const PerturbedLinearArguments& arguments) const;

  /// Of a run that it takes; 0 for sizes that it does not.
  std::size_t workspace_bytes(const PerturbedLinearArguments& sizes) const;

  void run(const PerturbedLinearArguments& arguments, StreamHandle stream,
           const Workspace& workspace) const;

  /// A line for each kernel, in the order they run.
  std::string explain() const;

  /// The arguments that it does not take, in words.
  std::string refused() const;

 private:
  std::int64_t units(const PerturbedLinearArguments& arguments) const;
  std::int64_t operand_bytes() const;
  PerturbedLinearArguments operands(const PerturbedLinearArguments& arguments,
                                    std::byte* memory) const;
  std::int64_t blocks_for(std::int64_t units, int blocks_per_sm) const;
  void convert(const PerturbedLinearArguments& from, const PerturbedLinearArguments& to,
               StreamHandle stream) const;
  void convert_rows(ConvertParams params, StreamHandle stream) const;
  void quantize(QuantizeParams params, StreamHandle stream) const;
  void make_base(PerturbedLinearParams params, float* base, StreamHandle stream) const;
  void run_main(PerturbedLinearParams params, std::int64_t units, StreamHandle stream) const;

  PerturbedLinear problem_;
  Config config_;
  Config base_config_;
  Access access_;
  std::shared_ptr<GpuDevice> device_;
  std::unique_ptr<const LoadedKernel> convert_;   // null: operands are taken as given
  std::unique_ptr<const LoadedKernel> quantize_;  // null: likewise
  std::unique_ptr<const LoadedKernel> base_;      // null: the main kernel makes X·W^T itself
  std::unique_ptr<const LoadedKernel> main_;
};

}  // namespace vnjit
