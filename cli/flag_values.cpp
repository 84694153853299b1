#include "flag_values.hpp"

#include <fmt/format.h>

#include <charconv>

namespace vnjit::cli {

std::int64_t parse_integer(std::string_view flag, std::string_view text) {
  std::int64_t value = 0;
  const char* end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data(), end, value);
  if (error == std::errc::result_out_of_range) {
    throw InvalidArgument(fmt::format("{}: {} does not fit a 64-bit integer", flag, text));
  }
  if (error != std::errc() || stop != end) {
    throw InvalidArgument(
        fmt::format("{}: '{}' is not a whole decimal number, such as 64", flag, text));
  }
  return value;
}

std::int64_t parse_count(std::string_view flag, std::string_view text, std::string_view noun) {
  const std::int64_t value = parse_integer(flag, text);
  if (value < 0) {
    throw InvalidArgument(fmt::format("{}: {} is negative; {} is 0 or more", flag, value, noun));
  }
  return value;
}

void require_name(std::string_view flag, std::string_view name) {
  if (name.empty()) {
    throw InvalidArgument(fmt::format("{}: the name is empty; give that of a file", flag));
  }
}

}  // namespace vnjit::cli
