#include "vnjit/runtime/kernel.hpp"

#include <fmt/format.h>

#include <utility>

#include "vnjit/runtime/error.hpp"
#include "vnjit/runtime/gpu/capture_mode.hpp"

namespace vnjit {
namespace {

constexpr std::int64_t kSharedBytesWithoutOptIn = 48 * 1024;

}  // namespace

Kernel::Kernel(std::shared_ptr<const Driver> driver, const Binary& binary,
               std::int64_t shared_bytes)
    : driver_(std::move(driver)), entry_(binary.entry), usage_(binary.usage) {
  driver_->require_not_forked();
  driver_->check(driver_->cuCtxGetCurrent(&context_), "cuCtxGetCurrent");
  const OutsideCapture outside_capture(*driver_);
  if (const CUresult result = driver_->cuModuleLoadData(&module_, binary.cubin.data());
      result != CUDA_SUCCESS) {
    driver_->fail(result, fmt::format("cuModuleLoadData of {} for {}", entry_, binary.arch));
  }
  try {
    prepare(binary, shared_bytes);
  } catch (...) {
    unload();
    throw;
  }
}

Kernel::~Kernel() { unload(); }

void Kernel::prepare(const Binary& binary, std::int64_t shared_bytes) {
  if (const CUresult result = driver_->cuModuleGetFunction(&function_, module_, entry_.c_str());
      result != CUDA_SUCCESS) {
    driver_->fail(result, fmt::format("cuModuleGetFunction of {}", entry_));
  }
  // Else a driver that loads lazily would do it at the first launch, which may be captured.
  if (driver_->cuFuncLoad) driver_->check(driver_->cuFuncLoad(function_), "cuFuncLoad");
  if (binary.usage.static_shared_bytes + shared_bytes <= kSharedBytesWithoutOptIn) return;
  if (const CUresult result =
          driver_->cuFuncSetAttribute(function_, CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES,
                                      static_cast<int>(shared_bytes));
      result != CUDA_SUCCESS) {
    driver_->fail(result, fmt::format("cuFuncSetAttribute of {} to {} bytes of shared memory",
                                      entry_, shared_bytes));
  }
}

// Results are not looked at: at process exit the driver may be gone already (it then answers
// CUDA_ERROR_DEINITIALIZED), and so may the context.
void Kernel::unload() noexcept {
  if (driver_->forked() || driver_->cuCtxPushCurrent(context_) != CUDA_SUCCESS) return;
  const OutsideCapture outside_capture(*driver_);
  driver_->cuModuleUnload(module_);
  CUcontext popped = nullptr;
  driver_->cuCtxPopCurrent(&popped);
}

}  // namespace vnjit
