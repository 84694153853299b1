#include "fake_driver.hpp"

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <map>

namespace vnjit::tests {
namespace {

thread_local std::vector<CUcontext> stack;  // the current context is the last
thread_local CUstreamCaptureMode capture_mode = CU_STREAM_CAPTURE_MODE_GLOBAL;

constexpr std::size_t kLargestReal = std::size_t{256} << 20;

template <typename Handle>
Handle new_handle() {
  static std::uintptr_t last = 0x1000;
  return reinterpret_cast<Handle>(last += 0x100);
}

/// Counts the call; the result it is to have before anything is done.
CUresult enter(const char* name) {
  FakeDriver& driver = fake_driver();
  driver.calls.emplace_back(name);
  if (driver.gone) return CUDA_ERROR_DEINITIALIZED;
  return driver.failing == name ? driver.failure : CUDA_SUCCESS;
}

/// As in enter(), for calls that a capture forbids in this thread's mode.
CUresult enter_outside_capture(const char* name) {
  const CUresult result = enter(name);
  if (result != CUDA_SUCCESS) return result;
  const bool forbidden =
      !fake_driver().captured.empty() && capture_mode != CU_STREAM_CAPTURE_MODE_RELAXED;
  return forbidden ? CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED : CUDA_SUCCESS;
}

#define FAKE_ENTER(function)                       \
  const std::lock_guard lock(fake_driver().mutex); \
  if (const CUresult result = enter(#function); result != CUDA_SUCCESS) return result
#define FAKE_ENTER_OUTSIDE_CAPTURE(function)                                            \
  const std::lock_guard lock(fake_driver().mutex);                                      \
  if (const CUresult result = enter_outside_capture(#function); result != CUDA_SUCCESS) \
  return result

CUcontext primary(CUdevice device) {
  return reinterpret_cast<CUcontext>(0x10 + static_cast<std::uintptr_t>(device));
}

bool is_primary(CUcontext context) { return reinterpret_cast<std::uintptr_t>(context) < 0x100; }

int attribute_of(CUdevice_attribute which) {
  switch (which) {
    case CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR:
      return 9;
    case CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR:
      return 0;
    case CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT:
      return 132;
    case CU_DEVICE_ATTRIBUTE_CLOCK_RATE:
      return 1'980'000;
    case CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK:
      return 49'152;
    case CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN:
      return 232'448;
    case CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_MULTIPROCESSOR:
      return 233'472;
    case CU_DEVICE_ATTRIBUTE_RESERVED_SHARED_MEMORY_PER_BLOCK:
      return 1024;
    case CU_DEVICE_ATTRIBUTE_MAX_REGISTERS_PER_MULTIPROCESSOR:
      return 65'536;
    case CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_MULTIPROCESSOR:
      return 2048;
    case CU_DEVICE_ATTRIBUTE_MAX_BLOCKS_PER_MULTIPROCESSOR:
      return 32;
    case CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_BLOCK:
      return 1024;
    case CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_X:
      return fake_driver().max_grid_x;
    default:
      return 0;
  }
}

CUresult launch(unsigned blocks, unsigned threads, CUstream stream, void** parameters) {
  if (stack.empty()) return CUDA_ERROR_INVALID_CONTEXT;
  fake_driver().launches.push_back({blocks, threads, stream});
  if (fake_driver().on_launch) fake_driver().on_launch(parameters);
  return CUDA_SUCCESS;
}

}  // namespace

FakeDriver& fake_driver() {
  static auto* driver = new FakeDriver;  // outlives what is destroyed at exit
  return *driver;
}

CUcontext make_fake_context() { return new_handle<CUcontext>(); }

extern "C" {

CUresult cuInit(unsigned) {
  FAKE_ENTER(cuInit);
  return CUDA_SUCCESS;
}
CUresult cuDriverGetVersion(int* version) {
  *version = 13'000;
  return CUDA_SUCCESS;
}
CUresult cuGetErrorName(CUresult result, const char** name) {
  *name = result == CUDA_ERROR_OUT_OF_MEMORY ? "CUDA_ERROR_OUT_OF_MEMORY" : "CUDA_ERROR_FAKE";
  return CUDA_SUCCESS;
}
CUresult cuGetErrorString(CUresult, const char** text) {
  *text = "told to";
  return CUDA_SUCCESS;
}
CUresult cuDeviceGetCount(int* count) {
  FAKE_ENTER(cuDeviceGetCount);
  *count = fake_driver().gpus;
  return CUDA_SUCCESS;
}
CUresult cuDeviceGet(CUdevice* device, int ordinal) {
  FAKE_ENTER(cuDeviceGet);
  *device = ordinal;
  return CUDA_SUCCESS;
}
CUresult cuDeviceGetName(char* name, int size, CUdevice) {
  FAKE_ENTER(cuDeviceGetName);
  std::strncpy(name, "Fake GPU", static_cast<std::size_t>(size));
  return CUDA_SUCCESS;
}
CUresult cuDeviceGetAttribute(int* value, CUdevice_attribute which, CUdevice) {
  FAKE_ENTER(cuDeviceGetAttribute);
  *value = attribute_of(which);
  return CUDA_SUCCESS;
}
CUresult cuDevicePrimaryCtxGetState(CUdevice device, unsigned* flags, int* active) {
  FAKE_ENTER(cuDevicePrimaryCtxGetState);
  *flags = 0;
  *active = fake_driver().retained.contains(primary(device)) ? 1 : 0;
  return CUDA_SUCCESS;
}
CUresult cuDevicePrimaryCtxRetain(CUcontext* context, CUdevice device) {
  FAKE_ENTER(cuDevicePrimaryCtxRetain);
  fake_driver().retained.insert(*context = primary(device));
  return CUDA_SUCCESS;
}
CUresult cuDevicePrimaryCtxRelease(CUdevice) {
  FAKE_ENTER(cuDevicePrimaryCtxRelease);
  return CUDA_SUCCESS;
}
CUresult cuCtxGetCurrent(CUcontext* context) {
  FAKE_ENTER(cuCtxGetCurrent);
  *context = stack.empty() ? nullptr : stack.back();
  return CUDA_SUCCESS;
}
CUresult cuCtxSetCurrent(CUcontext context) {
  FAKE_ENTER(cuCtxSetCurrent);
  if (!stack.empty()) stack.pop_back();
  if (context) stack.push_back(context);
  return CUDA_SUCCESS;
}
CUresult cuCtxGetDevice(CUdevice* device) {
  FAKE_ENTER(cuCtxGetDevice);
  if (stack.empty()) return CUDA_ERROR_INVALID_CONTEXT;
  const auto context = reinterpret_cast<std::uintptr_t>(stack.back());
  *device = is_primary(stack.back()) ? static_cast<CUdevice>(context - 0x10) : 0;
  return CUDA_SUCCESS;
}
CUresult cuCtxPushCurrent(CUcontext context) {
  FAKE_ENTER(cuCtxPushCurrent);
  stack.push_back(context);
  return CUDA_SUCCESS;
}
CUresult cuCtxPopCurrent(CUcontext* context) {
  FAKE_ENTER(cuCtxPopCurrent);
  if (stack.empty()) return CUDA_ERROR_INVALID_CONTEXT;
  *context = stack.back();
  stack.pop_back();
  return CUDA_SUCCESS;
}
CUresult cuMemAlloc(CUdeviceptr* data, size_t bytes) {
  FAKE_ENTER_OUTSIDE_CAPTURE(cuMemAlloc);
  // More than the host has is never touched here.
  *data = bytes <= kLargestReal
              ? reinterpret_cast<CUdeviceptr>(std::aligned_alloc(256, (bytes + 255) / 256 * 256))
              : 0x700000000000ull;
  fake_driver().memory.insert(*data);
  return CUDA_SUCCESS;
}
CUresult cuMemFree(CUdeviceptr data) {
  FAKE_ENTER_OUTSIDE_CAPTURE(cuMemFree);
  fake_driver().memory.erase(data);
  if (data != 0x700000000000ull) std::free(reinterpret_cast<void*>(data));
  return CUDA_SUCCESS;
}
CUresult cuMemAllocAsync(CUdeviceptr* data, size_t, CUstream) {
  FAKE_ENTER(cuMemAllocAsync);
  fake_driver().memory.insert(*data = 0x710000000000ull);
  return CUDA_SUCCESS;
}
CUresult cuMemFreeAsync(CUdeviceptr data, CUstream) {
  FAKE_ENTER(cuMemFreeAsync);
  fake_driver().memory.erase(data);
  return CUDA_SUCCESS;
}
CUresult cuMemcpyHtoDAsync(CUdeviceptr to, const void* from, size_t bytes, CUstream) {
  FAKE_ENTER(cuMemcpyHtoDAsync);
  std::memcpy(reinterpret_cast<void*>(to), from, bytes);
  return CUDA_SUCCESS;
}
CUresult cuMemcpyDtoHAsync(void* to, CUdeviceptr from, size_t bytes, CUstream) {
  FAKE_ENTER(cuMemcpyDtoHAsync);
  std::memcpy(to, reinterpret_cast<const void*>(from), bytes);
  return CUDA_SUCCESS;
}
CUresult cuMemsetD32Async(CUdeviceptr, unsigned, size_t, CUstream) {
  FAKE_ENTER(cuMemsetD32Async);
  return CUDA_SUCCESS;
}
CUresult cuStreamCreate(CUstream* stream, unsigned) {
  FAKE_ENTER(cuStreamCreate);
  *stream = new_handle<CUstream>();
  return CUDA_SUCCESS;
}
CUresult cuStreamDestroy(CUstream) {
  FAKE_ENTER(cuStreamDestroy);
  return CUDA_SUCCESS;
}
CUresult cuStreamSynchronize(CUstream) {
  FAKE_ENTER_OUTSIDE_CAPTURE(cuStreamSynchronize);
  return CUDA_SUCCESS;
}
CUresult cuStreamIsCapturing(CUstream stream, CUstreamCaptureStatus* status) {
  FAKE_ENTER(cuStreamIsCapturing);
  const auto& captured = fake_driver().captured;
  if (stream == nullptr && !captured.empty()) return CUDA_ERROR_STREAM_CAPTURE_IMPLICIT;
  *status =
      captured.contains(stream) ? CU_STREAM_CAPTURE_STATUS_ACTIVE : CU_STREAM_CAPTURE_STATUS_NONE;
  return CUDA_SUCCESS;
}
CUresult cuThreadExchangeStreamCaptureMode(CUstreamCaptureMode* mode) {
  FAKE_ENTER(cuThreadExchangeStreamCaptureMode);
  std::swap(*mode, capture_mode);
  return CUDA_SUCCESS;
}
CUresult cuModuleLoadData(CUmodule* module, const void*) {
  FAKE_ENTER_OUTSIDE_CAPTURE(cuModuleLoadData);
  fake_driver().modules.insert(*module = new_handle<CUmodule>());
  ++fake_driver().loads;
  return CUDA_SUCCESS;
}
CUresult cuModuleUnload(CUmodule module) {
  FAKE_ENTER_OUTSIDE_CAPTURE(cuModuleUnload);
  fake_driver().modules.erase(module);
  return CUDA_SUCCESS;
}
CUresult cuModuleGetFunction(CUfunction* function, CUmodule module, const char*) {
  FAKE_ENTER(cuModuleGetFunction);
  *function = reinterpret_cast<CUfunction>(module);
  return CUDA_SUCCESS;
}
CUresult cuFuncLoad(CUfunction) {
  FAKE_ENTER_OUTSIDE_CAPTURE(cuFuncLoad);
  return CUDA_SUCCESS;
}
CUresult cuFuncSetAttribute(CUfunction, CUfunction_attribute, int) {
  FAKE_ENTER(cuFuncSetAttribute);
  return CUDA_SUCCESS;
}
CUresult cuLaunchKernel(CUfunction, unsigned blocks, unsigned, unsigned, unsigned threads, unsigned,
                        unsigned, unsigned, CUstream stream, void** parameters, void**) {
  FAKE_ENTER(cuLaunchKernel);
  return launch(blocks, threads, stream, parameters);
}
CUresult cuLaunchKernelEx(const CUlaunchConfig* config, CUfunction, void** parameters, void**) {
  FAKE_ENTER(cuLaunchKernelEx);
  return launch(config->gridDimX, config->blockDimX, config->hStream, parameters);
}
CUresult cuTensorMapEncodeTiled(CUtensorMap*, CUtensorMapDataType, cuuint32_t, void*,
                                const cuuint64_t*, const cuuint64_t*, const cuuint32_t*,
                                const cuuint32_t*, CUtensorMapInterleave, CUtensorMapSwizzle,
                                CUtensorMapL2promotion, CUtensorMapFloatOOBfill) {
  FAKE_ENTER(cuTensorMapEncodeTiled);
  return CUDA_SUCCESS;
}
CUresult cuEventCreate(CUevent* event, unsigned) {
  *event = new_handle<CUevent>();
  return CUDA_SUCCESS;
}
CUresult cuEventRecord(CUevent, CUstream) { return CUDA_SUCCESS; }
CUresult cuEventSynchronize(CUevent) { return CUDA_SUCCESS; }
CUresult cuEventDestroy(CUevent) { return CUDA_SUCCESS; }
#undef cuEventElapsedTime
CUresult cuEventElapsedTime(float* milliseconds, CUevent, CUevent) {
  *milliseconds = 1;
  return CUDA_SUCCESS;
}

}  // extern "C"

}  // namespace vnjit::tests
