#pragma once

#include <cuda.h>

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "vnjit/runtime/cuda_version.hpp"
#include "vnjit/runtime/fork_guard.hpp"
#include "vnjit/runtime/shared_library.hpp"

// Functions of the driver whose newest version in cuda.h has been there since CUDA 11. cuda.h
// renames some of them by macros (cuMemAlloc is cuMemAlloc_v2), and member and symbol follow it.
#define VNJIT_DRIVER_FUNCTIONS(FUNCTION)      \
  FUNCTION(cuInit)                            \
  FUNCTION(cuDriverGetVersion)                \
  FUNCTION(cuGetErrorName)                    \
  FUNCTION(cuGetErrorString)                  \
  FUNCTION(cuDeviceGetCount)                  \
  FUNCTION(cuDeviceGet)                       \
  FUNCTION(cuDeviceGetName)                   \
  FUNCTION(cuDeviceGetAttribute)              \
  FUNCTION(cuDevicePrimaryCtxGetState)        \
  FUNCTION(cuDevicePrimaryCtxRetain)          \
  FUNCTION(cuDevicePrimaryCtxRelease)         \
  FUNCTION(cuCtxGetCurrent)                   \
  FUNCTION(cuCtxSetCurrent)                   \
  FUNCTION(cuCtxGetDevice)                    \
  FUNCTION(cuCtxPushCurrent)                  \
  FUNCTION(cuCtxPopCurrent)                   \
  FUNCTION(cuMemAlloc)                        \
  FUNCTION(cuMemFree)                         \
  FUNCTION(cuMemcpyHtoDAsync)                 \
  FUNCTION(cuMemcpyDtoHAsync)                 \
  FUNCTION(cuMemsetD32Async)                  \
  FUNCTION(cuStreamCreate)                    \
  FUNCTION(cuStreamDestroy)                   \
  FUNCTION(cuStreamSynchronize)               \
  FUNCTION(cuStreamIsCapturing)               \
  FUNCTION(cuThreadExchangeStreamCaptureMode) \
  FUNCTION(cuModuleLoadData)                  \
  FUNCTION(cuModuleUnload)                    \
  FUNCTION(cuModuleGetFunction)               \
  FUNCTION(cuFuncSetAttribute)                \
  FUNCTION(cuLaunchKernel)                    \
  FUNCTION(cuEventCreate)                     \
  FUNCTION(cuEventRecord)                     \
  FUNCTION(cuEventSynchronize)                \
  FUNCTION(cuEventDestroy)

// Functions that a driver may lack: null then.
#define VNJIT_OPTIONAL_DRIVER_FUNCTIONS(FUNCTION)  \
  FUNCTION(cuMemAllocAsync)        /* CUDA 11.2 */ \
  FUNCTION(cuMemFreeAsync)         /* CUDA 11.2 */ \
  FUNCTION(cuLaunchKernelEx)       /* CUDA 11.8 */ \
  FUNCTION(cuTensorMapEncodeTiled) /* CUDA 12.0 */ \
  FUNCTION(cuFuncLoad)             /* CUDA 12.4 */

namespace vnjit {

/// The CUDA driver, opened and initialized: a table of its functions. Immutable and thread-safe.
/// The library stays in the process.
class Driver {
 public:
  /// Opens the first of `names` that the loader finds. Throws Unavailable saying what was tried,
  /// or by what result cuInit failed, also in a process that was forked after the first was opened.
  explicit Driver(const std::vector<std::string>& names = {"libcuda.so.1", "libcuda.so"});

  const std::filesystem::path& path() const { return library_.path(); }
  CudaVersion version() const { return version_; }

  /// Whether this process was forked after the driver was opened: no function works in it then.
  bool forked() const { return fork_guard_.forked(); }
  /// Throws Unavailable if so.
  void require_not_forked() const {
    if (forked()) [[unlikely]] {
      refuse_forked();
    }
  }

  /// Throws CudaError with `call` and the result's name unless result is CUDA_SUCCESS.
  void check(CUresult result, std::string_view call) const {
    if (result != CUDA_SUCCESS) [[unlikely]] {
      fail(result, call);
    }
  }
  [[noreturn]] void fail(CUresult result, std::string_view call) const;

  /// For example `CUDA_ERROR_OUT_OF_MEMORY (out of memory)`.
  std::string describe(CUresult result) const;

// NOLINTNEXTLINE(bugprone-macro-parentheses): a declaration
#define VNJIT_DECLARE(name) decltype(&::name) name = nullptr;
  VNJIT_DRIVER_FUNCTIONS(VNJIT_DECLARE)
  VNJIT_OPTIONAL_DRIVER_FUNCTIONS(VNJIT_DECLARE)
  VNJIT_DECLARE(cuEventElapsedTime)
#undef VNJIT_DECLARE

 private:
  [[noreturn]] static void refuse_forked();

  ForkGuard fork_guard_;
  SharedLibrary library_;
  CudaVersion version_;
};

}  // namespace vnjit
