#include "vnjit/runtime/gpu/noise_rate.hpp"

#include <utility>

#include "params/noise_rate.cuh"

namespace vnjit {

NoiseRate::NoiseRate(const KernelSource& source, const Binary& binary,
                     std::shared_ptr<const Driver> driver, const std::shared_ptr<Device>& device)
    : driver_(std::move(driver)),
      block_threads_(static_cast<unsigned>(source.threads)),
      blocks_(static_cast<unsigned>(device->limits().sm_count * kNoiseRateBlocksPerSm)),
      folds_(device, std::size_t{blocks_} * block_threads_),
      kernel_(driver_, binary, source.shared_bytes) {}

void NoiseRate::run(std::uint64_t first_seed, unsigned seeds) const {
  NoiseRateParams params{.folds = folds_.data(), .first_seed = first_seed, .seeds = seeds};
  void* arguments[] = {&params};
  driver_->check(driver_->cuLaunchKernel(kernel_.function(), blocks_, 1, 1, block_threads_, 1, 1, 0,
                                         nullptr, arguments, nullptr),
                 "cuLaunchKernel");
}

}  // namespace vnjit
