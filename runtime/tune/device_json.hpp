#pragma once

#include "vnjit/codegen/device_limits.hpp"
#include "vnjit/runtime/tune/json_fields.hpp"

namespace vnjit {

/// Limits as an object with every field by name, and back. `where` is the path to it in its
/// document. Throws InvalidArgument naming the field.
Json limits_to_json(const DeviceLimits& limits);
DeviceLimits limits_from_json(const Json& json, std::string_view where);

}  // namespace vnjit
