#pragma once

#include <functional>

#include "vnjit/runtime/driver.hpp"

namespace vnjit {

struct Timing {
  double seconds = 0;  ///< of one run, the median of the samples
  int samples = 0;
  int runs = 1;  ///< in a row between the two events of a sample
};

/// Device time of `run`, which enqueues on the default stream of the current context. Warms up,
/// then samples for about `seconds`, 20 samples at least, without a pause between them, so that the
/// time the host takes to launch is hidden where it is shorter than the run. Of a run below 50 us
/// several make one sample: an event costs the device some time. Throws CudaError.
Timing time_on_device(const Driver& driver, const std::function<void()>& run, double seconds);

}  // namespace vnjit
