#pragma once

#include <fmt/format.h>

#include <bit>
#include <string_view>

#include "vnjit/codegen/error.hpp"

// How configs are checked. Internal.

namespace vnjit {

/// `message` makes the text: a config that holds, of the thousands a choice looks at, makes none.
template <typename Message>
void require(bool holds, const Message& message) {
  if (!holds) throw ConfigError(message());
}

inline bool is_power_of_two(int value) {
  return value > 0 && std::has_single_bit(static_cast<unsigned>(value));
}

inline void require_tile(std::string_view name, int value, int least, int most) {
  require(is_power_of_two(value) && value >= least && value <= most, [&] {
    return fmt::format("{} is {}; it is a power of two from {} to {}", name, value, least, most);
  });
}

}  // namespace vnjit
