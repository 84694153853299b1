#include "vnjit/runtime/cuda_version.hpp"

#include <fmt/format.h>

#include "vnjit/runtime/error.hpp"

namespace vnjit {

void require_driver_for(CudaVersion nvrtc, CudaVersion driver) {
  if (driver.major >= nvrtc.major) return;
  throw Unavailable(
      fmt::format("NVRTC is of CUDA {}.{}, but the driver supports CUDA up to {}.{}; update the "
                  "driver, or set VNJIT_NVRTC to a libnvrtc of CUDA {}",
                  nvrtc.major, nvrtc.minor, driver.major, driver.minor, driver.major));
}

}  // namespace vnjit
