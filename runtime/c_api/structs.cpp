#include "vnjit/runtime/c_api/structs.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <cstring>

#include "vnjit/runtime/c_api/error.hpp"

namespace vnjit::c_api {
namespace {

// No version will be longer. A struct that says so was never initialized, and is not read.
constexpr std::size_t kLongest = 8192;

constexpr std::size_t kUnit = alignof(std::int64_t);  // all structs have members of that alignment

void check_size(const StructInfo& info, std::size_t given_size) {
  if (given_size < info.first_size || given_size > kLongest || given_size % kUnit != 0) {
    throw InvalidArgument(fmt::format(
        "{0}.struct_size is {1}; it must be from {2} to {3}, a multiple of {4}, and is set by "
        "{0}_init",
        info.name, given_size, info.first_size, kLongest, kUnit));
  }
}

template <typename T>
void initialize(void* data, std::size_t struct_size) {
  const T known = defaults<T>();
  std::memset(data, 0, struct_size);
  std::memcpy(data, &known, std::min(struct_size, sizeof(T)));
  std::memcpy(data, &struct_size, std::min(struct_size, sizeof(struct_size)));
}

}  // namespace

void adopt(const StructInfo& info, const void* given, void* known) {
  if (given == nullptr) refuse_null(info.name);
  std::size_t given_size = 0;
  std::memcpy(&given_size, given, sizeof(given_size));
  check_size(info, given_size);
  const auto* bytes = static_cast<const std::byte*>(given);
  const std::size_t common = std::min(given_size, info.size);
  if (!std::all_of(bytes + common, bytes + given_size,
                   [](std::byte b) { return b == std::byte{}; })) {
    throw InvalidArgument(
        fmt::format("{} has {} bytes, of which this library knows {}, and the rest is not zero; it "
                    "asks for what a later version of vnjit does",
                    info.name, given_size, info.size));
  }
  std::memcpy(known, given, common);
}

template <>
vnjit_error defaults() {
  return {};
}

template <>
vnjit_gradient_block defaults() {
  return {};
}

}  // namespace vnjit::c_api

void vnjit_init(vnjit_struct kind, void* data, size_t struct_size) {
  if (data == nullptr) return;
  switch (kind) {
#define VNJIT_INITIALIZE(kind, type, last) \
  case kind:                               \
    return vnjit::c_api::initialize<type>(data, struct_size);
    VNJIT_C_STRUCTS(VNJIT_INITIALIZE)
#undef VNJIT_INITIALIZE
    default:
      return;
  }
}
