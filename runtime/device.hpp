#pragma once

#include <cstddef>
#include <limits>
#include <memory>
#include <new>
#include <string>
#include <utility>

#include "vnjit/codegen/device_limits.hpp"

struct CUstream_st;

namespace vnjit {

/// A CUDA stream (CUstream or cudaStream_t); null is the default stream. The CPU backend takes
/// null only.
using StreamHandle = CUstream_st*;

/// Where plans run: a GPU, in one CUDA context, or the CPU backend. A cheap handle.
class Device {
 public:
  virtual ~Device() = default;

  virtual bool is_gpu() const = 0;
  virtual int ordinal() const = 0;  ///< CUDA device number; -1 for the CPU
  virtual const std::string& name() const = 0;
  virtual const DeviceLimits& limits() const = 0;  ///< of a GPU; the CPU answers DeviceLimits{}

  /// Memory of this device, 256-byte aligned. Throws CudaError or std::bad_alloc.
  virtual void* allocate(std::size_t bytes) = 0;
  virtual void release(void* data) noexcept = 0;

  /// Copies in the order of `stream` and returns when the data has arrived.
  virtual void copy_in(void* device, const void* host, std::size_t bytes,
                       StreamHandle stream = nullptr) = 0;
  virtual void copy_out(void* host, const void* device, std::size_t bytes,
                        StreamHandle stream = nullptr) = 0;

  virtual StreamHandle create_stream() = 0;
  virtual void destroy_stream(StreamHandle stream) noexcept = 0;

  /// Returns when all work of `stream` is done; throws CudaError if some of it failed.
  virtual void synchronize(StreamHandle stream = nullptr) = 0;
};

/// Memory of a device, owned. Move-only.
template <typename T>
class Buffer {
 public:
  Buffer() = default;
  Buffer(std::shared_ptr<Device> device, std::size_t count)
      : device_(std::move(device)),
        count_(count),
        data_(count ? static_cast<T*>(device_->allocate(bytes_of(count))) : nullptr) {}
  /// A copy of `count` host elements.
  Buffer(std::shared_ptr<Device> device, const T* host, std::size_t count)
      : Buffer(std::move(device), count) {
    copy_from(host);
  }
  Buffer(Buffer&& other) noexcept
      : device_(std::move(other.device_)),
        count_(std::exchange(other.count_, 0)),
        data_(std::exchange(other.data_, nullptr)) {}
  Buffer& operator=(Buffer&& other) noexcept {
    std::swap(device_, other.device_);
    std::swap(count_, other.count_);
    std::swap(data_, other.data_);
    return *this;
  }
  ~Buffer() {
    if (data_) device_->release(data_);
  }

  T* data() const { return data_; }
  std::size_t size() const { return count_; }

  /// Copies size() elements from or to host memory.
  void copy_from(const T* host) {
    if (count_) device_->copy_in(data_, host, count_ * sizeof(T));
  }
  void copy_to(T* host) const {
    if (count_) device_->copy_out(host, data_, count_ * sizeof(T));
  }

 private:
  static std::size_t bytes_of(std::size_t count) {
    if (count > std::numeric_limits<std::size_t>::max() / sizeof(T)) {
      throw std::bad_array_new_length();
    }
    return count * sizeof(T);
  }

  std::shared_ptr<Device> device_;
  std::size_t count_ = 0;
  T* data_ = nullptr;
};

}  // namespace vnjit
