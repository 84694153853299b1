#include "vnjit/runtime/gpu/stream_memory.hpp"

#include <fmt/format.h>

#include <bit>

#include "vnjit/codegen/error.hpp"
#include "vnjit/runtime/gpu/call_driver.hpp"
#include "vnjit/runtime/gpu/linear_workspace.hpp"

namespace vnjit {

StreamMemory::StreamMemory(const GpuDevice& device, const Workspace& given, std::size_t bytes,
                           StreamHandle stream)
    : device_(device), stream_(stream) {
  if (bytes == 0) return;
  if (given.data) {
    check_workspace(given, bytes);
    data_ = given.data;
  } else {
    allocate(bytes);
  }
}

StreamMemory::~StreamMemory() {
  if (owned_) device_.driver()->cuMemFreeAsync(std::bit_cast<CUdeviceptr>(data_), stream_);
}

void StreamMemory::allocate(std::size_t bytes) {
  CUdeviceptr data = 0;
  CUresult result = CUDA_ERROR_NOT_SUPPORTED;
  if (device_.driver()->cuMemAllocAsync && device_.driver()->cuMemFreeAsync) {
    call_driver(device_, "cuMemAllocAsync", [&](const Driver& driver) {
      result = driver.cuMemAllocAsync(&data, bytes, stream_);
      return result == CUDA_ERROR_NOT_SUPPORTED ? CUDA_SUCCESS : result;
    });
  }
  if (result == CUDA_ERROR_NOT_SUPPORTED) {
    throw InvalidArgument(
        fmt::format("workspace is null; this run needs {} bytes, and this GPU's driver does not "
                    "allocate in a stream: give what workspace_bytes answers",
                    bytes));
  }
  data_ = std::bit_cast<void*>(data);
  owned_ = true;
}

}  // namespace vnjit
