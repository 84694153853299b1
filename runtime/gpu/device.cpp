#include "vnjit/runtime/gpu/device.hpp"

#include <fmt/format.h>

#include <array>
#include <bit>

#include "vnjit/runtime/error.hpp"
#include "vnjit/runtime/gpu/capture_mode.hpp"

namespace vnjit {
namespace {

int attribute(const Driver& driver, CUdevice device, CUdevice_attribute which) {
  int value = 0;
  driver.check(driver.cuDeviceGetAttribute(&value, which, device),
               fmt::format("cuDeviceGetAttribute({})", static_cast<int>(which)));
  return value;
}

CUdeviceptr address(const void* data) { return reinterpret_cast<CUdeviceptr>(data); }

// The context current on this thread if it belongs to `device`, else null: also where it was
// destroyed under the thread's feet.
CUcontext current_context_of(const Driver& driver, CUdevice device) {
  CUcontext context = nullptr;
  driver.check(driver.cuCtxGetCurrent(&context), "cuCtxGetCurrent");
  CUdevice current = -1;
  if (!context || driver.cuCtxGetDevice(&current) != CUDA_SUCCESS) return nullptr;
  return current == device ? context : nullptr;
}

bool is_primary_active(const Driver& driver, CUdevice device) {
  unsigned flags = 0;
  int active = 0;
  driver.check(driver.cuDevicePrimaryCtxGetState(device, &flags, &active),
               "cuDevicePrimaryCtxGetState");
  return active != 0;
}

}  // namespace

int count_gpus(const Driver& driver) {
  driver.require_not_forked();
  int count = 0;
  driver.check(driver.cuDeviceGetCount(&count), "cuDeviceGetCount");
  return count;
}

InContext::InContext(const GpuDevice& device) : driver_(*device.driver()) {
  driver_.require_not_forked();
  driver_.check(driver_.cuCtxPushCurrent(device.context()), "cuCtxPushCurrent");
}

InContext::~InContext() {
  CUcontext popped = nullptr;
  driver_.cuCtxPopCurrent(&popped);
}

GpuDevice::GpuDevice(std::shared_ptr<const Driver> driver, int ordinal)
    : driver_(std::move(driver)), ordinal_(ordinal) {
  const int count = count_gpus(*driver_);
  if (ordinal < 0 || ordinal >= count) {
    throw Unavailable(fmt::format("GPU {} does not exist; the driver reports {} GPU{}", ordinal,
                                  count, count == 1 ? "" : "s"));
  }
  driver_->check(driver_->cuDeviceGet(&device_, ordinal), "cuDeviceGet");
  std::array<char, 256> name{};
  driver_->check(driver_->cuDeviceGetName(name.data(), static_cast<int>(name.size()), device_),
                 "cuDeviceGetName");
  name_ = name.data();
  query_limits(device_);
  choose_context();
}

GpuDevice::~GpuDevice() {
  if (!primary_ || driver_->forked()) return;
  // Nobody may be left with a current context that the release could destroy.
  CUcontext current = nullptr;
  if (driver_->cuCtxGetCurrent(&current) == CUDA_SUCCESS && current == context_) {
    driver_->cuCtxSetCurrent(nullptr);
  }
  driver_->cuDevicePrimaryCtxRelease(device_);
}

void GpuDevice::choose_context() {
  const CUcontext current = current_context_of(*driver_, device_);
  if (!current || is_primary_active(*driver_, device_)) {
    driver_->check(driver_->cuDevicePrimaryCtxRetain(&context_, device_),
                   "cuDevicePrimaryCtxRetain");
    primary_ = true;
    if (current == context_) return;
    if (!current) {
      driver_->check(driver_->cuCtxSetCurrent(context_), "cuCtxSetCurrent");
      return;
    }
    driver_->cuDevicePrimaryCtxRelease(device_);
    primary_ = false;
  }
  context_ = current;
}

void GpuDevice::query_limits(CUdevice device) {
  const auto get = [&](CUdevice_attribute which) { return attribute(*driver_, device, which); };
  limits_.name = name_;
  limits_.compute_major = get(CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR);
  limits_.compute_minor = get(CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR);
  limits_.sm_count = get(CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT);
  limits_.clock_mhz = get(CU_DEVICE_ATTRIBUTE_CLOCK_RATE) / 1000;
  limits_.shared_per_block = get(CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK);
  limits_.shared_per_block_optin = get(CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN);
  limits_.shared_per_sm = get(CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_MULTIPROCESSOR);
  limits_.shared_reserved_per_block = get(CU_DEVICE_ATTRIBUTE_RESERVED_SHARED_MEMORY_PER_BLOCK);
  limits_.registers_per_sm = get(CU_DEVICE_ATTRIBUTE_MAX_REGISTERS_PER_MULTIPROCESSOR);
  limits_.max_warps_per_sm = get(CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_MULTIPROCESSOR) / 32;
  limits_.max_blocks_per_sm = get(CU_DEVICE_ATTRIBUTE_MAX_BLOCKS_PER_MULTIPROCESSOR);
  limits_.max_threads_per_block = get(CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_BLOCK);
  limits_.max_grid_x = get(CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_X);
}

std::shared_ptr<const Kernel> GpuDevice::load(const Binary& binary, std::int64_t shared_bytes) {
  const std::lock_guard lock(mutex_);
  std::erase_if(kernels_, [](const auto& entry) { return entry.second.expired(); });
  std::weak_ptr<const Kernel>& place = kernels_[binary.key];
  std::shared_ptr<const Kernel> kernel = place.lock();
  if (!kernel) place = kernel = std::make_shared<const Kernel>(driver_, binary, shared_bytes);
  return kernel;
}

void GpuDevice::require_context() const {
  driver_->require_not_forked();
  CUcontext current = nullptr;
  driver_->check(driver_->cuCtxGetCurrent(&current), "cuCtxGetCurrent");
  if (current == context_) [[likely]] {
    return;
  }
  if (current) {
    throw InvalidArgument(
        fmt::format("another CUDA context is current on this thread; this belongs to a context of "
                    "GPU {} ({}), make that one current",
                    ordinal_, name_));
  }
  driver_->check(driver_->cuCtxSetCurrent(context_), "cuCtxSetCurrent");
}

void* GpuDevice::allocate(std::size_t bytes) {
  if (bytes == 0) return nullptr;
  require_context();
  const OutsideCapture outside_capture(*driver_);
  CUdeviceptr data = 0;
  driver_->check(driver_->cuMemAlloc(&data, bytes), fmt::format("cuMemAlloc({} bytes)", bytes));
  return std::bit_cast<void*>(data);
}

// From any thread, with any context current; what fails now has failed before.
template <typename Function>
void GpuDevice::in_context(const Function& call) noexcept {
  if (driver_->forked() || driver_->cuCtxPushCurrent(context_) != CUDA_SUCCESS) return;
  const OutsideCapture outside_capture(*driver_);
  call();
  CUcontext popped = nullptr;
  driver_->cuCtxPopCurrent(&popped);
}

void GpuDevice::release(void* data) noexcept {
  if (data) in_context([&] { driver_->cuMemFree(address(data)); });
}

// To wait for a stream that is being captured would end the capture with an error, and what is
// copied would be copied at each replay. The default stream cannot be asked while another one is
// captured that it would wait for.
void GpuDevice::refuse_captured(StreamHandle stream, std::string_view what) const {
  CUstreamCaptureStatus status = CU_STREAM_CAPTURE_STATUS_NONE;
  const CUresult result = driver_->cuStreamIsCapturing(stream, &status);
  if (result == CUDA_SUCCESS && status == CU_STREAM_CAPTURE_STATUS_NONE) return;
  if (result != CUDA_SUCCESS && result != CUDA_ERROR_STREAM_CAPTURE_IMPLICIT) {
    driver_->check(result, "cuStreamIsCapturing");
  }
  throw InvalidArgument(fmt::format(
      "a stream is being captured: {} waits for its stream, which a graph cannot; do it before or "
      "after the capture, or in a stream of cudaStreamNonBlocking that is not captured",
      what));
}

void GpuDevice::copy_in(void* device, const void* host, std::size_t bytes, StreamHandle stream) {
  if (bytes == 0) return;
  require_context();
  refuse_captured(stream, "a copy to the GPU");
  driver_->check(driver_->cuMemcpyHtoDAsync(address(device), host, bytes, stream),
                 fmt::format("cuMemcpyHtoDAsync({} bytes)", bytes));
  synchronize(stream);
}

void GpuDevice::copy_out(void* host, const void* device, std::size_t bytes, StreamHandle stream) {
  if (bytes == 0) return;
  require_context();
  refuse_captured(stream, "a copy from the GPU");
  driver_->check(driver_->cuMemcpyDtoHAsync(host, address(device), bytes, stream),
                 fmt::format("cuMemcpyDtoHAsync({} bytes)", bytes));
  synchronize(stream);
}

StreamHandle GpuDevice::create_stream() {
  require_context();
  CUstream stream = nullptr;
  driver_->check(driver_->cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING), "cuStreamCreate");
  return stream;
}

void GpuDevice::destroy_stream(StreamHandle stream) noexcept {
  if (stream) in_context([&] { driver_->cuStreamDestroy(stream); });
}

void GpuDevice::synchronize(StreamHandle stream) {
  require_context();
  refuse_captured(stream, "synchronization");
  driver_->check(driver_->cuStreamSynchronize(stream), "cuStreamSynchronize");
}

}  // namespace vnjit
