#pragma once

#include <string_view>

#include "vnjit/codegen/error.hpp"
#include "vnjit/vnjit.h"

// How functions of the C API fail.

namespace vnjit::c_api {

/// Fills *error in, where there is one and its struct_size is at least that of the first version.
/// A message that does not fit is cut before the character that would be split. Returns `status`.
vnjit_status report(vnjit_error* error, vnjit_status status, std::string_view message,
                    int cuda_result = 0) noexcept;

/// Reports the exception that is being handled.
vnjit_status report_exception(vnjit_error* error) noexcept;

/// Runs `action`: the status of what it throws, or VNJIT_OK.
template <typename Action>
vnjit_status guarded(vnjit_error* error, const Action& action) noexcept {
  try {
    action();
  } catch (...) {
    return report_exception(error);
  }
  return report(error, VNJIT_OK, {});
}

/// Throws InvalidArgument: `NAME is null; it must be given`.
[[noreturn]] void refuse_null(std::string_view name);

/// What an argument points to; throws as refuse_null.
template <typename T>
T& required(T* pointer, std::string_view name) {
  if (pointer == nullptr) refuse_null(name);
  return *pointer;
}

}  // namespace vnjit::c_api
