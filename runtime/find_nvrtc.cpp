#include "vnjit/runtime/find_nvrtc.hpp"

#include <fmt/format.h>
#include <glob.h>

#include <charconv>
#include <fstream>
#include <optional>
#include <set>
#include <string>
#include <system_error>
#include <vector>

#include "vnjit/runtime/error.hpp"

namespace vnjit {
namespace {

namespace fs = std::filesystem;

#if defined(__aarch64__)
constexpr const char* kMultiarch = "aarch64-linux-gnu";
#else
constexpr const char* kMultiarch = "x86_64-linux-gnu";
#endif

using LibraryVersion = std::vector<int>;  // 13 or 12.8.93; empty for a plain libnvrtc.so

struct Candidate {
  LibraryVersion version;
  fs::path file;
};

/// Folders to look in: `base`, taken literally, and below it a pattern that may hold `*`.
struct Place {
  fs::path base;
  std::string pattern;

  std::string name() const { return (pattern.empty() ? base : base / pattern).string(); }
};

/// The part after `libnvrtc.so` as numbers; nothing for any other file. The loader's `.alt` twins
/// of the library do not match.
std::optional<LibraryVersion> library_version(std::string_view name) {
  constexpr std::string_view kName = "libnvrtc.so";
  if (!name.starts_with(kName)) return std::nullopt;
  name.remove_prefix(kName.size());
  LibraryVersion version;
  while (!name.empty()) {
    int part = 0;
    const char* end = name.data() + name.size();
    const auto parsed = std::from_chars(name.data() + 1, end, part);
    if (name.front() != '.' || parsed.ec != std::errc()) return std::nullopt;
    version.push_back(part);
    name.remove_prefix(static_cast<std::size_t>(parsed.ptr - name.data()));
  }
  return version;
}

std::optional<Candidate> best_in(const fs::path& folder) {
  std::optional<Candidate> best;
  std::error_code failed;
  for (fs::directory_iterator entry(folder, failed), end; !failed && entry != end;
       entry.increment(failed)) {
    auto version = library_version(entry->path().filename().native());
    std::error_code broken_link;
    if (!version || !entry->is_regular_file(broken_link)) continue;
    if (!best || best->version < *version) best = Candidate{std::move(*version), entry->path()};
  }
  return best;
}

std::string escape_pattern(const std::string& literal) {
  std::string escaped;
  for (const char c : literal) {
    if (std::string_view("*?[]\\").find(c) != std::string_view::npos) escaped += '\\';
    escaped += c;
  }
  return escaped;
}

std::vector<fs::path> expand(const Place& place) {
  const std::string pattern = escape_pattern(place.base.string()) + '/' + place.pattern;
  glob_t found{};
  std::vector<fs::path> paths;
  if (glob(pattern.c_str(), 0, nullptr, &found) == 0) {
    paths.assign(found.gl_pathv, found.gl_pathv + found.gl_pathc);
  }
  globfree(&found);
  return paths;
}

std::optional<Candidate> best_at(const Place& place) {
  std::optional<Candidate> best;
  for (const fs::path& folder : expand(place)) {
    auto candidate = best_in(folder);
    if (candidate && (!best || best->version < candidate->version)) best = std::move(candidate);
  }
  return best;
}

void append_toolkit(std::vector<Place>& places, const fs::path& toolkit) {
  places.push_back({toolkit, "lib64"});
  places.push_back({toolkit, "lib"});
}

std::string trim(const std::string& text) {
  const auto begin = text.find_first_not_of(" \t\r");
  if (begin == std::string::npos) return {};
  return text.substr(begin, text.find_last_not_of(" \t\r") - begin + 1);
}

/// Appends the folders that an ld.so.conf names, with those of the files it includes, each file
/// once.
void append_loader_config(std::vector<Place>& places, const fs::path& root, const fs::path& config,
                          std::set<fs::path>& seen) {
  if (!seen.insert(config).second) return;
  std::ifstream lines(config);
  for (std::string line; std::getline(lines, line);) {
    line = trim(line.substr(0, line.find('#')));
    const bool include = line.starts_with("include ") || line.starts_with("include\t");
    const fs::path path = include ? trim(line.substr(8)) : line;
    if (!include) {
      if (path.is_absolute()) places.push_back({root / path.relative_path(), ""});
      continue;
    }
    const Place included = path.is_absolute() ? Place{root, path.relative_path().string()}
                                              : Place{config.parent_path(), path.string()};
    for (const fs::path& file : expand(included)) append_loader_config(places, root, file, seen);
  }
}

std::vector<Place> search_places(const Options& options, const fs::path& root,
                                 const fs::path& program_dir) {
  std::vector<Place> places;
  for (const fs::path& folder : options.library_dirs) places.push_back({folder, ""});
  append_toolkit(places, program_dir / "cuda");
  places.push_back({program_dir / "cuda", "nvidia/*/lib"});
  for (const fs::path& toolkit : options.toolkit_dirs) append_toolkit(places, toolkit);
  append_toolkit(places, root / "usr/local/cuda");
  std::set<fs::path> configs;
  append_loader_config(places, root, root / "etc/ld.so.conf", configs);
  for (const char* folder : {"lib", "usr/lib"}) places.push_back({root / folder / kMultiarch, ""});
  for (const char* folder : {"usr/lib64", "usr/lib"}) places.push_back({root / folder, ""});
  for (const fs::path& python : options.python_dirs) {
    places.push_back({python, "nvidia/*/lib"});
    places.push_back({python, "lib/python3*/site-packages/nvidia/*/lib"});
  }
  places.push_back({root / "usr/lib/python3/dist-packages", "nvidia/*/lib"});
  places.push_back({root / "usr/local/lib", "python3*/dist-packages/nvidia/*/lib"});
  places.push_back({root / "usr/local/lib", "python3*/site-packages/nvidia/*/lib"});
  return places;
}

fs::path named_nvrtc(const fs::path& named) {
  std::error_code failed;
  if (fs::is_regular_file(named, failed)) return named;
  if (const auto found = best_in(named)) return found->file;
  throw Unavailable(
      fmt::format("no NVRTC at {}; VNJIT_NVRTC (Options::nvrtc) takes a libnvrtc.so or the folder "
                  "that holds it, and unset it lets vnjit search",
                  named.string()));
}

fs::path program_folder() {
  std::error_code failed;
  return fs::read_symlink("/proc/self/exe", failed).parent_path();
}

}  // namespace

fs::path find_nvrtc(const Options& options) { return find_nvrtc(options, "/", program_folder()); }

fs::path find_nvrtc(const Options& options, const fs::path& root, const fs::path& program_dir) {
  if (!options.nvrtc.empty()) return named_nvrtc(options.nvrtc);
  std::set<std::string> seen;
  std::string tried;
  for (const Place& place : search_places(options, root, program_dir)) {
    if (!seen.insert(place.name()).second) continue;
    if (const auto found = best_at(place)) return found->file;
    tried += fmt::format("\n  {}", place.name());
  }
  throw Unavailable(
      fmt::format("NVRTC was not found: install CUDA's toolkit or the Python wheel "
                  "nvidia-cuda-nvrtc, or set VNJIT_NVRTC to a libnvrtc.so or its folder. These "
                  "folders hold no libnvrtc.so:{}",
                  tried));
}

}  // namespace vnjit
