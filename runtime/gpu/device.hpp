#pragma once

#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <unordered_map>

#include "vnjit/runtime/device.hpp"
#include "vnjit/runtime/driver.hpp"
#include "vnjit/runtime/kernel.hpp"

namespace vnjit {

/// A GPU in one CUDA context: the one current on this thread where it is of that GPU, else the
/// GPU's primary context, made current. The primary context is retained until destruction, which
/// leaves the thread without a current context; any other one has to outlive this. Copies and
/// synchronization throw InvalidArgument in a stream that is being captured.
class GpuDevice final : public Device {
 public:
  /// Throws Unavailable when there is no GPU of that number.
  GpuDevice(std::shared_ptr<const Driver> driver, int ordinal);
  ~GpuDevice() override;
  GpuDevice(const GpuDevice&) = delete;
  GpuDevice& operator=(const GpuDevice&) = delete;

  bool is_gpu() const override { return true; }
  int ordinal() const override { return ordinal_; }
  const std::string& name() const override { return name_; }
  const DeviceLimits& limits() const override { return limits_; }

  void* allocate(std::size_t bytes) override;
  void release(void* data) noexcept override;
  void copy_in(void* device, const void* host, std::size_t bytes, StreamHandle stream) override;
  void copy_out(void* host, const void* device, std::size_t bytes, StreamHandle stream) override;
  StreamHandle create_stream() override;
  void destroy_stream(StreamHandle stream) noexcept override;
  void synchronize(StreamHandle stream) override;

  const std::shared_ptr<const Driver>& driver() const { return driver_; }
  CUcontext context() const { return context_; }

  /// Makes this device's context current where none is; throws InvalidArgument where another is,
  /// Unavailable in a process that was forked after this was made.
  void require_context() const;

  /// A binary in this context: one that is loaded already as long as somebody holds it. Throws as
  /// Kernel does.
  std::shared_ptr<const Kernel> load(const Binary& binary, std::int64_t shared_bytes);

 private:
  void query_limits(CUdevice device);
  void refuse_captured(StreamHandle stream, std::string_view what) const;
  void choose_context();
  template <typename Function>
  void in_context(const Function& call) noexcept;

  std::shared_ptr<const Driver> driver_;
  int ordinal_;
  std::string name_;
  DeviceLimits limits_;
  CUcontext context_ = nullptr;
  bool primary_ = false;  // context_ is retained
  CUdevice device_ = 0;
  std::mutex mutex_;                                                      // of what follows
  std::unordered_map<std::string, std::weak_ptr<const Kernel>> kernels_;  // by key of the binary
};

/// Makes a device's context current on this thread while it lives.
class InContext {
 public:
  /// Throws CudaError, and Unavailable in a forked process.
  explicit InContext(const GpuDevice& device);
  ~InContext();
  InContext(const InContext&) = delete;
  InContext& operator=(const InContext&) = delete;

 private:
  const Driver& driver_;
};

/// Number of GPUs; throws Unavailable or CudaError.
int count_gpus(const Driver& driver);

}  // namespace vnjit
