#pragma once

#include <string_view>

#include "vnjit/codegen/problem.hpp"
#include "vnjit/vnjit.h"

// Problems of the C API in the words of the C++ API. All that is here throws InvalidArgument
// naming the field, its value and what is allowed.

namespace vnjit::c_api {

NoiseSpec noise_of(const vnjit_noise& given);
vnjit_noise to_c(const NoiseSpec& noise);

/// The problem whose base is given; not validated.
Problem problem_of(const vnjit_problem* given);

/// `owner` is what has the operation: `problem` or `arguments`.
[[noreturn]] void refuse_operation(std::string_view owner, vnjit_operation operation);

}  // namespace vnjit::c_api
