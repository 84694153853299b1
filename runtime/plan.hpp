#pragma once

#include <cstddef>
#include <memory>
#include <string>

#include "vnjit/codegen/config.hpp"
#include "vnjit/runtime/arguments.hpp"
#include "vnjit/runtime/device.hpp"

namespace vnjit {

/// Everything chosen and compiled for a problem on a device: made once, run many times with any
/// sizes, strides, sigma and pointers. Immutable, so one plan may run on several threads and
/// streams at once, and it never allocates where workspace_bytes is 0 or workspace is given.
///
/// A GPU plan holds the kernels for aligned and for any access; each run picks by its arguments.
/// Runs are asynchronous in their stream; the CPU backend returns when the result is written.
///
/// run() throws InvalidArgument naming the argument and its value for: negative sizes, a null
/// pointer where elements are read or written, a buffer that the problem has no use for, one buffer
/// for two purposes, where one of them is written (rows that lie between each other's are apart), a
/// pointer off its element size, a stride below its row, a buffer beyond the address space,
/// non-finite sigma, sigma = 0 or pop = 0 in a gradient, numbers that an update cannot take
/// (UpdateStep), an odd pop with antithetic noise, a noise element beyond 2^63, sizes other than
/// the baked ones, arguments of another operation, a workspace too small, another CUDA context
/// being current. Empty outputs are legal and launch nothing. CudaError when the driver refuses the
/// launch.
class Plan {
 public:
  virtual ~Plan() = default;

  virtual const Problem& problem() const = 0;
  virtual const Device& device() const = 0;

  virtual std::size_t workspace_bytes(const PerturbedLinearArguments& sizes) const = 0;
  virtual std::size_t workspace_bytes(const GradientArguments& sizes) const = 0;
  virtual std::size_t workspace_bytes(const ReduceMetricArguments& sizes) const = 0;

  virtual void run(const PerturbedLinearArguments& arguments, StreamHandle stream = nullptr,
                   Workspace workspace = {}) const = 0;
  virtual void run(const GradientArguments& arguments, StreamHandle stream = nullptr,
                   Workspace workspace = {}) const = 0;
  virtual void run(const ReduceMetricArguments& arguments, StreamHandle stream = nullptr,
                   Workspace workspace = {}) const = 0;

  /// What was chosen and why, a line each: device, config, pipeline depth, kernels and their
  /// resources.
  virtual std::string explain() const = 0;
};

}  // namespace vnjit
