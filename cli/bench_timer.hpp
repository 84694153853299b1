#pragma once

#include <functional>

#include "bench_row.hpp"
#include "vnjit/runtime/driver.hpp"

namespace vnjit::cli {

/// Device time of `run`, which enqueues on the default stream of the current context. Warms up,
/// then samples for about `seconds`, 20 samples at least, without a pause between them, so that the
/// time the host takes to launch is hidden where it is shorter than the run. Of a run below 50 us
/// several make one sample: an event costs the device some time. Throws CudaError.
Timing time_on_device(const Driver& driver, const std::function<void()>& run, double seconds);

}  // namespace vnjit::cli
