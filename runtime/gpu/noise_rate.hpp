#pragma once

#include <cstdint>
#include <memory>

#include "vnjit/codegen/emit.hpp"
#include "vnjit/runtime/device.hpp"
#include "vnjit/runtime/kernel.hpp"

namespace vnjit {

/// A kernel of emit_noise_rate(), loaded into the context of `device`, which becomes current where
/// none is, with the memory that it writes.
class NoiseRate {
 public:
  /// `binary` is `source` compiled. Throws CudaError.
  NoiseRate(const KernelSource& source, const Binary& binary, std::shared_ptr<const Driver> driver,
            const std::shared_ptr<Device>& device);

  /// Of all thread blocks: as many as the device holds at once.
  std::int64_t threads() const { return static_cast<std::int64_t>(folds_.size()); }

  /// Makes the noise of `seeds` seeds from `first_seed` on, on the default stream. Throws
  /// CudaError.
  void run(std::uint64_t first_seed, unsigned seeds) const;

  /// What the last run left: the exclusive or of all bits that each thread made.
  const Buffer<std::uint32_t>& folds() const { return folds_; }

 private:
  std::shared_ptr<const Driver> driver_;
  unsigned block_threads_;
  unsigned blocks_;
  Buffer<std::uint32_t> folds_;  // allocated first: makes the context current for the kernel
  Kernel kernel_;
};

}  // namespace vnjit
