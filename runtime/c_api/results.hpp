#pragma once

#include <fmt/format.h>

#include <algorithm>
#include <span>
#include <string>

#include "vnjit/runtime/c_api/error.hpp"

// How functions of the C API give back what they made.

namespace vnjit::c_api {

/// Makes a new handle of what `make` returns. The handle is null where something throws.
template <typename Handle, typename Make>
void create(Handle** handle, std::string_view name, const Make& make) {
  required(handle, name) = nullptr;
  *handle = new Handle{make()};
}

/// A result of any length, as vnjit.h says. Throws InvalidArgument where it does not fit.
template <typename T>
void give(std::span<const T> result, T* buffer, std::size_t capacity, std::size_t* needed) {
  if (needed != nullptr) *needed = result.size();
  if (buffer == nullptr || capacity == 0) return;
  if (capacity < result.size()) {
    throw InvalidArgument(
        fmt::format("capacity is {}; the result needs {}, or give a null buffer "
                    "to ask for that alone",
                    capacity, result.size()));
  }
  std::copy(result.begin(), result.end(), buffer);
}

inline void give_text(const std::string& text, char* buffer, std::size_t capacity,
                      std::size_t* needed) {
  give(std::span<const char>(text.c_str(), text.size() + 1), buffer, capacity, needed);
}

}  // namespace vnjit::c_api
