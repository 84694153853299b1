#pragma once

#include <memory>

#include "vnjit/runtime/device.hpp"
#include "vnjit/runtime/plan.hpp"

namespace vnjit {

/// The CPU as a device: memory is host memory, work is done when a call returns, and `threads`
/// threads share it (0: one a core). They start at the first run.
std::shared_ptr<Device> make_cpu_device(int threads);

/// A plan for the CPU backend; `device` comes from make_cpu_device. Throws InvalidArgument when
/// the problem does not validate.
std::shared_ptr<const Plan> make_cpu_plan(const Problem& problem,
                                          const std::shared_ptr<Device>& device);

}  // namespace vnjit
