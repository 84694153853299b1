#pragma once

#include <memory>

#include "vnjit/runtime/device.hpp"
#include "vnjit/runtime/plan.hpp"
#include "vnjit/runtime/runtime.hpp"
#include "vnjit/vnjit.h"

// What the opaque handles are. Devices and plans are shared: a handle is one reference.

// NOLINTBEGIN(readability-identifier-naming): declared in the C header
struct vnjit_runtime {
  vnjit::Runtime runtime;
};

struct vnjit_device {
  std::shared_ptr<vnjit::Device> device;
};

struct vnjit_plan {
  std::shared_ptr<const vnjit::Plan> plan;
};

struct vnjit_plan_request {
  vnjit::PlanRequest request;
};
// NOLINTEND(readability-identifier-naming)
