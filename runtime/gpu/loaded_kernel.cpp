#include "vnjit/runtime/gpu/loaded_kernel.hpp"

#include <fmt/format.h>

#include <array>

#include "vnjit/runtime/error.hpp"
#include "vnjit/runtime/gpu/call_driver.hpp"

namespace vnjit {
namespace {

Compiled compile_for(const KernelSource& source, const GpuDevice& device, Compiler& compiler) {
  Compiled compiled = compiler.compile(source);
  if (!compiled.cache_hit) {
    require_driver_for(compiler.nvrtc()->version(), device.driver()->version());
  }
  if (!compiled.cached_file.empty()) compiled.cached_file.replace_extension(".cu");
  return compiled;
}

}  // namespace

LoadedKernel::LoadedKernel(const KernelSource& source, const std::shared_ptr<GpuDevice>& device,
                           Compiler& compiler)
    : LoadedKernel(source, compile_for(source, *device, compiler), device) {}

LoadedKernel::LoadedKernel(const KernelSource& source, const Compiled& compiled,
                           std::shared_ptr<GpuDevice> device)
    : device_(std::move(device)),
      kernel_(device_->load(compiled.binary, source.shared_bytes)),
      source_file_(compiled.cached_file),
      threads_(static_cast<unsigned>(source.threads)),
      shared_bytes_(static_cast<unsigned>(source.shared_bytes)) {}

void LoadedKernel::launch(std::int64_t blocks, void** arguments, StreamHandle stream,
                          const LaunchOptions& options) const {
  const auto grid = static_cast<unsigned>(blocks);
  const bool has_attributes = device_->driver()->cuLaunchKernelEx != nullptr;
  if (options.cluster > 1 && !has_attributes) {
    throw Unavailable("this GPU's driver launches no thread block clusters; CUDA 11.8's does");
  }
  std::array<CUlaunchAttribute, 2> attributes = {};
  unsigned count = 0;
  if (options.early && has_attributes) {
    attributes[count].id = CU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_STREAM_SERIALIZATION;
    attributes[count++].value.programmaticStreamSerializationAllowed = 1;
  }
  if (options.cluster > 1) {
    attributes[count].id = CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION;
    attributes[count++].value.clusterDim = {static_cast<unsigned>(options.cluster), 1, 1};
  }
  if (count == 0 || !has_attributes) {
    call_driver(*device_, "cuLaunchKernel", [&](const Driver& driver) {
      return driver.cuLaunchKernel(kernel_->function(), grid, 1, 1, threads_, 1, 1, shared_bytes_,
                                   stream, arguments, nullptr);
    });
    return;
  }
  CUlaunchConfig config = {};
  config.gridDimX = grid;
  config.gridDimY = config.gridDimZ = 1;
  config.blockDimX = threads_;
  config.blockDimY = config.blockDimZ = 1;
  config.sharedMemBytes = shared_bytes_;
  config.hStream = stream;
  config.attrs = attributes.data();
  config.numAttrs = count;
  call_driver(*device_, "cuLaunchKernelEx", [&](const Driver& driver) {
    return driver.cuLaunchKernelEx(&config, kernel_->function(), arguments, nullptr);
  });
}

std::string LoadedKernel::describe(std::string_view role, std::string_view access) const {
  const ResourceUsage& usage = kernel_->usage();
  return fmt::format("kernel:   {}: {}{}{}: {} registers, {} bytes spilled{}{}\n", role,
                     kernel_->entry(), access.empty() ? "" : " for access ", access,
                     usage.registers, usage.spill_store_bytes,
                     source_file_.empty() ? "" : "; source ", source_file_.string());
}

}  // namespace vnjit
