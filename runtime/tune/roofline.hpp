#pragma once

#include <string>

#include "vnjit/codegen/device_limits.hpp"
#include "vnjit/codegen/problem.hpp"

namespace vnjit {

/// The least time that a device could take for a problem, by its products and its memory alone: the
/// work of making noise comes on top.
struct Roofline {
  double seconds = 0;  ///< 0 where the device is not known
  std::string bound;   ///< "products" or "memory", with the figures, in words
};

/// From dense rates of NVIDIA's data sheets, in operations a clock and multiprocessor, and their
/// memory bandwidth, for the devices that DeviceLimits::preset names.
Roofline roofline(const Problem& problem, const DeviceLimits& limits);

}  // namespace vnjit
