#pragma once

#include <string>
#include <string_view>

namespace es_digits {

/// A message of several lines as one.
inline std::string one_line(std::string_view message) {
  std::string line;
  for (const char c : message) {
    const bool space = c == '\n' || c == ' ';
    if (!space) line += c;
    if (space && !line.empty() && line.back() != ' ') line += ' ';
  }
  return line;
}

}  // namespace es_digits
