#pragma once

#include <string>
#include <string_view>

#include "vnjit/codegen/problem.hpp"

namespace vnjit {

/// A problem as one line of JSON with every field by name and `operation` first, for example
/// {"operation":"reduce-metric","noise":"philox:uniform8:7","antithetic":false,"input":"f32",…}.
/// The same problem gives the same bytes.
std::string to_json(const Problem& problem);

/// Inverse of to_json; fields that are left out take their defaults. Throws InvalidArgument naming
/// the field, its value and what is allowed, for text that is no such JSON, an unknown or repeated
/// field, a value of another type or out of range, and a problem that validate() refuses.
Problem problem_from_json(std::string_view text);

}  // namespace vnjit
