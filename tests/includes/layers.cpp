#include "layers.hpp"

#include <algorithm>
#include <array>
#include <fstream>
#include <iterator>
#include <map>
#include <regex>
#include <stdexcept>

namespace vnjit::tests {
namespace {

namespace fs = std::filesystem;

struct Rule {
  std::string_view layer;
  std::string_view allowed;    ///< of the project's own headers
  std::string_view forbidden;  ///< of all others
};

constexpr std::string_view kOwn = "vnjit/.*|.*[.]cuh";
constexpr std::string_view kCuda = "cuda.*|nvrtc.*";
constexpr std::array kRules{
    Rule{"templates", ".*[.]cuh", ".*"},
    Rule{"codegen", "vnjit/codegen/.*|.*[.]cuh",
         "cuda.*|nvrtc.*|CLI/.*|nlohmann/.*|fstream|filesystem|chrono|ctime|thread|dlfcn.h|"
         "unistd.h|sys/.*"},
    Rule{"runtime", "vnjit/(codegen|runtime)/.*|vnjit/vnjit[.]h|.*[.]cuh", "CLI/.*"},
    Rule{"cli", "vnjit/.*", kCuda},
    Rule{"examples", "vnjit/vnjit[.](hpp|h)", kCuda},
    Rule{"bench", ".*", ""},
    Rule{"tests", ".*", ""},
};

bool matches(std::string_view text, std::string_view pattern) {
  return std::regex_match(text.begin(), text.end(),
                          std::regex(pattern.begin(), pattern.end(), std::regex::extended));
}

bool is_source(const fs::path& path) {
  static constexpr std::array kExtensions{".cpp", ".hpp", ".h", ".c", ".cuh"};
  return std::ranges::find(kExtensions, path.extension()) != kExtensions.end();
}

}  // namespace

std::string refusal(std::string_view path, std::string_view header) {
  const std::string_view layer = path.substr(0, path.find('/'));
  const auto rule = std::ranges::find(kRules, layer, &Rule::layer);
  if (rule == kRules.end()) return "no rule for the folder " + std::string(layer);
  const bool own = matches(header, kOwn);
  if (own ? matches(header, rule->allowed) : !matches(header, rule->forbidden)) return {};
  return std::string(layer) + "/ may not include " + std::string(header);
}

std::vector<Include> includes_of(const std::string& text) {
  static const std::regex directive(R"(^[ \t]*#[ \t]*include[ \t]*[<"]([^>"]+)[>"])");
  std::vector<Include> includes;
  int line = 1;
  for (std::size_t begin = 0; begin < text.size(); ++line) {
    const std::size_t end = std::min(text.find('\n', begin), text.size());
    std::smatch match;
    const std::string current = text.substr(begin, end - begin);
    if (std::regex_search(current, match, directive)) includes.push_back({match[1], line});
    begin = end + 1;
  }
  return includes;
}

std::vector<Include> includes_of_file(const fs::path& path) {
  std::ifstream file(path);
  if (!file) throw std::runtime_error("cannot read " + path.string());
  return includes_of({std::istreambuf_iterator<char>(file), {}});
}

std::vector<fs::path> sources_of(const fs::path& root, std::string_view layer) {
  std::vector<fs::path> sources;
  const fs::path folder = root / layer;
  if (!fs::is_directory(folder)) return sources;
  for (const fs::directory_entry& entry : fs::recursive_directory_iterator(folder)) {
    if (entry.is_regular_file() && is_source(entry.path())) {
      sources.push_back(fs::relative(entry.path(), root));
    }
  }
  std::ranges::sort(sources);
  return sources;
}

std::set<std::string> reached_headers(const fs::path& root, const std::string& header) {
  static const std::map<std::string, std::string> top{{"vnjit/vnjit.hpp", "runtime/vnjit.hpp"},
                                                      {"vnjit/vnjit.h", "runtime/vnjit.h"}};
  std::set<std::string> reached;
  std::vector<std::string> pending{header};
  while (!pending.empty()) {
    const std::string current = pending.back();
    pending.pop_back();
    if (!reached.insert(current).second || !current.starts_with("vnjit/")) continue;
    const auto moved = top.find(current);
    const std::string path = moved == top.end() ? current.substr(6) : moved->second;
    for (const Include& include : includes_of_file(root / path)) pending.push_back(include.header);
  }
  return reached;
}

}  // namespace vnjit::tests
