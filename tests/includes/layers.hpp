#pragma once

#include <filesystem>
#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace vnjit::tests {

/// Why a file at `path` (relative to the source tree) may not include `header` (as written between
/// quotes or angle brackets); empty where it may.
std::string refusal(std::string_view path, std::string_view header);

struct Include {
  std::string header;
  int line = 0;
};

/// The #include directives of a source text, conditional ones too.
std::vector<Include> includes_of(const std::string& text);
std::vector<Include> includes_of_file(const std::filesystem::path& path);

/// Sources below the folder `layer` of the tree, relative to `root`.
std::vector<std::filesystem::path> sources_of(const std::filesystem::path& root,
                                              std::string_view layer);

/// Headers that `header` (`vnjit/vnjit.hpp`) includes, directly or not, itself among them.
std::set<std::string> reached_headers(const std::filesystem::path& root, const std::string& header);

}  // namespace vnjit::tests
