#pragma once

#include <algorithm>
#include <string>
#include <string_view>
#include <vector>

namespace vnjit::cli {

/// Calls use(line) for each line of a text, without its end.
template <typename Use>
void for_each_line(std::string_view text, const Use& use) {
  while (!text.empty()) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    use(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
}

inline std::vector<std::string> lines_of(std::string_view text) {
  std::vector<std::string> lines;
  for_each_line(text, [&](std::string_view line) { lines.emplace_back(line); });
  return lines;
}

}  // namespace vnjit::cli
