#pragma once

#include <string_view>

#include "vnjit/runtime/gpu/device.hpp"

namespace vnjit {

/// Calls the driver by `call`; where the device's context was not current, again in it. Throws
/// Unavailable in a forked process, InvalidArgument when another context is current, CudaError
/// naming `name` when the call fails.
template <typename Call>
void call_driver(const GpuDevice& device, std::string_view name, const Call& call) {
  device.driver()->require_not_forked();
  CUresult result = call(*device.driver());
  // Looked at only now: asking for the current context costs a good part of a launch.
  if (result == CUDA_ERROR_INVALID_CONTEXT || result == CUDA_ERROR_INVALID_HANDLE) {
    device.require_context();
    result = call(*device.driver());
  }
  device.driver()->check(result, name);
}

}  // namespace vnjit
