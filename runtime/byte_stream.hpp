#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "vnjit/runtime/error.hpp"

// Numbers and texts in files: little-endian numbers, texts after their 64-bit length.

namespace vnjit {

template <typename T>
void put_number(std::string& bytes, T value) {
  for (std::size_t i = 0; i < sizeof(T); ++i) bytes += static_cast<char>(value >> (8 * i));
}

inline void put_text(std::string& bytes, std::string_view text) {
  put_number<std::uint64_t>(bytes, text.size());
  bytes += text;
}

/// Takes values off the front of bytes. Throws Error, with what it was given to say, where there
/// are too few.
class ByteReader {
 public:
  ByteReader(std::string_view bytes, const char* cut_short)
      : bytes_(bytes), cut_short_(cut_short) {}

  std::string_view take(std::uint64_t size) {
    if (size > bytes_.size()) throw Error(cut_short_);
    const std::string_view part = bytes_.substr(0, size);
    bytes_.remove_prefix(size);
    return part;
  }

  template <typename T>
  T number() {
    T value = 0;
    const std::string_view part = take(sizeof(T));
    for (std::size_t i = 0; i < sizeof(T); ++i) {
      value = static_cast<T>(value | T{static_cast<unsigned char>(part[i])} << (8 * i));
    }
    return value;
  }

  std::string_view text() { return take(number<std::uint64_t>()); }

  bool at_end() const { return bytes_.empty(); }

 private:
  std::string_view bytes_;
  const char* cut_short_;
};

}  // namespace vnjit
