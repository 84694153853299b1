#pragma once

#include <compare>

namespace vnjit {

/// A version of CUDA: 12.8 is {12, 8}.
struct CudaVersion {
  int major = 0;
  int minor = 0;

  friend auto operator<=>(const CudaVersion&, const CudaVersion&) = default;
};

/// Whether a driver takes what an NVRTC compiled: a driver takes binaries of its own major version
/// and of older ones. Throws Unavailable naming both versions where it does not.
void require_driver_for(CudaVersion nvrtc, CudaVersion driver);

}  // namespace vnjit
