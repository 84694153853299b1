#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

/// What libFuzzer calls, and the program that replays a corpus. Any bytes are legal; what must not
/// be aborts.
// NOLINTNEXTLINE(readability-identifier-naming): the name is libFuzzer's
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size);

namespace vnjit::fuzz {

inline std::string_view text_of(const std::uint8_t* data, std::size_t size) {
  return {reinterpret_cast<const char*>(data), size};
}

inline void require(bool holds) {
  if (!holds) __builtin_trap();
}

}  // namespace vnjit::fuzz
