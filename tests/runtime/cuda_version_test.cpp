#include "vnjit/runtime/cuda_version.hpp"

#include <gtest/gtest.h>

#include "vnjit/runtime/error.hpp"

namespace vnjit {
namespace {

TEST(CudaVersion, ADriverTakesBinariesOfItsMajorVersionAndOlderOnes) {
  EXPECT_NO_THROW(require_driver_for({12, 9}, {12, 0}));
  EXPECT_NO_THROW(require_driver_for({12, 9}, {13, 0}));
}

TEST(CudaVersion, ADriverOfAnOlderMajorVersionIsNamedWithNvrtc) {
  try {
    require_driver_for({13, 0}, {12, 8});
    FAIL() << "nothing was refused";
  } catch (const Unavailable& refusal) {
    EXPECT_STREQ(refusal.what(),
                 "NVRTC is of CUDA 13.0, but the driver supports CUDA up to 12.8; update the "
                 "driver, or set VNJIT_NVRTC to a libnvrtc of CUDA 12");
  }
}

}  // namespace
}  // namespace vnjit
