#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "vnjit/codegen/error.hpp"

// Values of flags, from the text that the user typed. All throw InvalidArgument that begins with
// the flag.

namespace vnjit::cli {

/// What --noise takes, for help texts.
inline constexpr std::string_view kNoiseHelp =
    "GENERATOR[:DISTRIBUTION[:ROUNDS]]: triton, splitmix64, or philox with\nuniform, uniform8, "
    "rademacher or normal and 7 or 10 rounds";

/// A whole decimal number of 64 bits, and nothing else in `text`.
std::int64_t parse_integer(std::string_view flag, std::string_view text);

/// parse_integer, 0 or more; `noun` names what is counted ("a size").
std::int64_t parse_count(std::string_view flag, std::string_view text, std::string_view noun);

/// Refuses an empty name of a file.
void require_name(std::string_view flag, std::string_view name);

/// parse(text), whose complaints then begin with the flag; of type E still.
template <typename E = InvalidArgument, typename Parse>
auto parse_with(std::string_view flag, std::string_view text, Parse parse) {
  try {
    return parse(text);
  } catch (const E& error) {
    throw E(std::string(flag) + ": " + error.what());
  }
}

}  // namespace vnjit::cli
