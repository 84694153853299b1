#pragma once

/// The whole public C++ API.

#include "vnjit/codegen/candidates.hpp"
#include "vnjit/codegen/config.hpp"
#include "vnjit/codegen/device_limits.hpp"
#include "vnjit/codegen/emit.hpp"
#include "vnjit/codegen/noise_spec.hpp"
#include "vnjit/codegen/pipeline_depth.hpp"
#include "vnjit/codegen/problem.hpp"
#include "vnjit/runtime/arguments.hpp"
#include "vnjit/runtime/binary.hpp"
#include "vnjit/runtime/cache_archive.hpp"
#include "vnjit/runtime/cpu/noise.hpp"
#include "vnjit/runtime/device.hpp"
#include "vnjit/runtime/error.hpp"
#include "vnjit/runtime/explain_key.hpp"
#include "vnjit/runtime/operations.hpp"
#include "vnjit/runtime/options.hpp"
#include "vnjit/runtime/plan.hpp"
#include "vnjit/runtime/runtime.hpp"
