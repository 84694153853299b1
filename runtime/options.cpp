#include "vnjit/runtime/options.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cstdio>
#include <cstdlib>
#include <limits>
#include <optional>
#include <system_error>

#include "vnjit/codegen/error.hpp"

namespace vnjit {
namespace {

std::optional<std::string> variable(const char* name) {
  const char* value = std::getenv(name);
  if (!value || !*value) return std::nullopt;
  return value;
}

std::filesystem::path absolute_path(const std::filesystem::path& path) {
  std::error_code failed;
  std::filesystem::path result = std::filesystem::absolute(path, failed);
  return failed ? path : result;
}

/// The folders of a list such as LD_LIBRARY_PATH. An empty part, which the loader takes for the
/// current directory, is left out: a library is not to be picked up from wherever one stands.
void append_paths(std::vector<std::filesystem::path>& paths, const char* name) {
  const std::string list = variable(name).value_or("");
  for (std::size_t begin = 0; begin < list.size();) {
    const std::size_t end = std::min(list.find(':', begin), list.size());
    if (end > begin) paths.push_back(absolute_path(list.substr(begin, end - begin)));
    begin = end + 1;
  }
}

std::filesystem::path absolute_variable(const char* name) {
  const std::filesystem::path path = variable(name).value_or("");
  return path.is_absolute() ? path : std::filesystem::path();
}

std::filesystem::path cache_dir() {
  if (const auto own = variable("VNJIT_CACHE_DIR")) return absolute_path(*own);
  if (const auto xdg = absolute_variable("XDG_CACHE_HOME"); !xdg.empty()) return xdg / "vnjit";
  if (const auto home = absolute_variable("HOME"); !home.empty()) return home / ".cache" / "vnjit";
  return {};
}

/// A whole number from 0 to `most`; none for any other text.
std::optional<std::int64_t> parse_number(std::string_view text, std::int64_t most) {
  std::int64_t value = -1;
  const char* end = text.data() + text.size();
  const auto parsed = std::from_chars(text.data(), end, value);
  if (parsed.ec != std::errc() || parsed.ptr != end || value < 0 || value > most) {
    return std::nullopt;
  }
  return value;
}

int cpu_threads() {
  const auto text = variable("VNJIT_CPU_THREADS");
  if (!text) return 0;
  const auto value = parse_number(*text, kMaxCpuThreads);
  if (value) return static_cast<int>(*value);
  throw InvalidArgument(
      fmt::format("VNJIT_CPU_THREADS is '{}'; use a whole number from 1 to {}, or 0 for one "
                  "thread a core",
                  *text, kMaxCpuThreads));
}

std::int64_t cache_bytes(std::int64_t unless_set) {
  const auto text = variable("VNJIT_CACHE_BYTES");
  if (!text) return unless_set;
  std::string_view number = *text;
  int shift = 0;
  if (const auto unit = std::string_view("KMG").find(number.back());
      unit != std::string_view::npos) {
    shift = 10 * static_cast<int>(unit + 1);
    number.remove_suffix(1);
  }
  const auto value = parse_number(number, std::numeric_limits<std::int64_t>::max() >> shift);
  if (value) return *value << shift;
  throw InvalidArgument(
      fmt::format("VNJIT_CACHE_BYTES is '{}'; use a whole number of bytes, such as 2147483648, or "
                  "one with K, M or G, such as 2G, or 0 for no bound",
                  *text));
}

bool use_records() {
  const auto text = variable("VNJIT_RECORDS");
  if (!text || *text == "1") return true;
  if (*text == "0") return false;
  throw InvalidArgument(fmt::format(
      "VNJIT_RECORDS is '{}'; use 1 to take configs from tuning records, or 0 not to", *text));
}

std::chrono::milliseconds cache_lock_wait(std::chrono::milliseconds unless_set) {
  constexpr std::int64_t kDay = 86'400;
  const auto text = variable("VNJIT_CACHE_LOCK_SECONDS");
  if (!text) return unless_set;
  if (const auto value = parse_number(*text, kDay)) return std::chrono::seconds(*value);
  throw InvalidArgument(fmt::format(
      "VNJIT_CACHE_LOCK_SECONDS is '{}'; use a whole number of seconds from 0 to {}", *text, kDay));
}

void report_to_standard_error(Severity severity, std::string_view message) {
  if (severity != Severity::warning) return;
  const std::string line = fmt::format("vnjit: warning: {}\n", message);
  std::fwrite(line.data(), 1, line.size(), stderr);
}

}  // namespace

Options Options::from_environment() {
  Options options;
  options.cache_dir = vnjit::cache_dir();
  options.cache_bytes = vnjit::cache_bytes(options.cache_bytes);
  options.cache_lock_wait = vnjit::cache_lock_wait(options.cache_lock_wait);
  options.use_records = vnjit::use_records();
  if (const auto file = variable("VNJIT_RECORD_PROBLEMS")) {
    options.record_problems = absolute_path(*file);
  }
  if (const auto nvrtc = variable("VNJIT_NVRTC")) options.nvrtc = absolute_path(*nvrtc);
  options.cpu_threads = vnjit::cpu_threads();
  options.report = report_to_standard_error;

  append_paths(options.library_dirs, "LD_LIBRARY_PATH");
  for (const char* name : {"CUDA_HOME", "CUDA_PATH"}) {
    if (const auto toolkit = variable(name))
      options.toolkit_dirs.push_back(absolute_path(*toolkit));
  }
  if (const auto prefix = variable("VIRTUAL_ENV")) {
    options.python_dirs.push_back(absolute_path(*prefix));
  }
  append_paths(options.python_dirs, "PYTHONPATH");
  if (const auto home = absolute_variable("HOME"); !home.empty()) {
    options.python_dirs.push_back(home / ".local");
  }
  return options;
}

}  // namespace vnjit
