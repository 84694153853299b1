#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace vnjit {

/// XXH3, 64 bits.
std::uint64_t hash64(std::string_view bytes);

/// XXH3, 128 bits, as 32 hexadecimal digits.
std::string hash128_hex(std::string_view bytes);

}  // namespace vnjit
