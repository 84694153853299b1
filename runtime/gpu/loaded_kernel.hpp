#pragma once

#include <filesystem>
#include <memory>
#include <string>
#include <string_view>

#include "vnjit/codegen/emit.hpp"
#include "vnjit/runtime/compiler.hpp"
#include "vnjit/runtime/gpu/device.hpp"
#include "vnjit/runtime/kernel.hpp"

namespace vnjit {

struct LaunchOptions {
  /// Begin when the kernel before it in the stream lets it, where the driver can; it waits by
  /// itself then.
  bool early = false;
  int cluster = 1;  ///< thread blocks that read each other's shared memory; has_clusters()
};

/// A kernel compiled and loaded into its device's context, with what it takes to launch it.
class LoadedKernel {
 public:
  /// Compiles through the compiler's cache. Throws CompileError, Unavailable or CudaError.
  LoadedKernel(const KernelSource& source, const std::shared_ptr<GpuDevice>& device,
               Compiler& compiler);

  /// `arguments` point to the kernel's parameters. Throws InvalidArgument when another context is
  /// current, CudaError when the driver refuses.
  void launch(std::int64_t blocks, void** arguments, StreamHandle stream,
              const LaunchOptions& options = {}) const;

  /// One line for explain(): `role`, its name, resources, and the file of its source.
  std::string describe(std::string_view role, std::string_view access = {}) const;

 private:
  LoadedKernel(const KernelSource& source, const Compiled& compiled,
               std::shared_ptr<GpuDevice> device);

  std::shared_ptr<GpuDevice> device_;
  std::shared_ptr<const Kernel> kernel_;
  std::filesystem::path source_file_;  // empty where nothing is on disk
  unsigned threads_;                   // of a block
  unsigned shared_bytes_;              // of a block
};

}  // namespace vnjit
