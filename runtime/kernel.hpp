#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "vnjit/runtime/binary.hpp"
#include "vnjit/runtime/driver.hpp"

namespace vnjit {

/// A binary loaded into the CUDA context that was current at the time, unloaded from it by the
/// destructor. The context must outlive it; where it does not, nothing is unloaded.
class Kernel {
 public:
  /// `shared_bytes`: the dynamic shared memory of a block it will be launched with. Throws
  /// CudaError naming the kernel.
  Kernel(std::shared_ptr<const Driver> driver, const Binary& binary, std::int64_t shared_bytes);
  ~Kernel();
  Kernel(const Kernel&) = delete;
  Kernel& operator=(const Kernel&) = delete;

  CUfunction function() const { return function_; }
  CUcontext context() const { return context_; }
  const std::string& entry() const { return entry_; }
  const ResourceUsage& usage() const { return usage_; }

 private:
  void prepare(const Binary& binary, std::int64_t shared_bytes);
  void unload() noexcept;

  std::shared_ptr<const Driver> driver_;
  std::string entry_;
  ResourceUsage usage_;
  CUcontext context_ = nullptr;
  CUmodule module_ = nullptr;
  CUfunction function_ = nullptr;
};

}  // namespace vnjit
