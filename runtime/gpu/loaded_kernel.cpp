#include "vnjit/runtime/gpu/loaded_kernel.hpp"

#include <fmt/format.h>

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
      kernel_(device_->driver(), compiled.binary, source.shared_bytes),
      source_file_(compiled.cached_file),
      threads_(static_cast<unsigned>(source.threads)),
      shared_bytes_(static_cast<unsigned>(source.shared_bytes)) {}

void LoadedKernel::launch(std::int64_t blocks, void** arguments, StreamHandle stream,
                          Start start) const {
  const auto grid = static_cast<unsigned>(blocks);
  if (start == Start::in_order || !device_->driver()->cuLaunchKernelEx) {
    call_driver(*device_, "cuLaunchKernel", [&](const Driver& driver) {
      return driver.cuLaunchKernel(kernel_.function(), grid, 1, 1, threads_, 1, 1, shared_bytes_,
                                   stream, arguments, nullptr);
    });
    return;
  }
  CUlaunchAttribute early = {};
  early.id = CU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_STREAM_SERIALIZATION;
  early.value.programmaticStreamSerializationAllowed = 1;
  CUlaunchConfig config = {};
  config.gridDimX = grid;
  config.gridDimY = config.gridDimZ = 1;
  config.blockDimX = threads_;
  config.blockDimY = config.blockDimZ = 1;
  config.sharedMemBytes = shared_bytes_;
  config.hStream = stream;
  config.attrs = &early;
  config.numAttrs = 1;
  call_driver(*device_, "cuLaunchKernelEx", [&](const Driver& driver) {
    return driver.cuLaunchKernelEx(&config, kernel_.function(), arguments, nullptr);
  });
}

std::string LoadedKernel::describe(std::string_view role, std::string_view access) const {
  const ResourceUsage& usage = kernel_.usage();
  return fmt::format("kernel:   {}: {}{}{}: {} registers, {} bytes spilled{}{}\n", role,
                     kernel_.entry(), access.empty() ? "" : " for access ", access, usage.registers,
                     usage.spill_store_bytes, source_file_.empty() ? "" : "; source ",
                     source_file_.string());
}

}  // namespace vnjit
