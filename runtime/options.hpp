#pragma once

#include <filesystem>
#include <functional>
#include <string>
#include <string_view>

namespace vnjit {

enum class Severity { info, warning };

/// Everything a Runtime takes from its surroundings, read once. Defaults touch nothing.
struct Options {
  std::filesystem::path cache_dir;  ///< of compiled kernels; empty: memory only
  std::filesystem::path nvrtc;      ///< libnvrtc or a folder holding it; empty: search
  int cpu_threads = 0;              ///< of the CPU backend; 0: one a core
  std::size_t cached_plans = 1024;  ///< plans kept in memory, least recently used dropped first
  std::function<void(Severity, std::string_view)> report;  ///< progress and warnings; may be empty

  /// cache_dir from VNJIT_CACHE_DIR, else XDG_CACHE_HOME/vnjit, else HOME/.cache/vnjit; nvrtc from
  /// VNJIT_NVRTC; cpu_threads from VNJIT_CPU_THREADS. Warnings go to standard error. Throws
  /// InvalidArgument for a value that makes no sense.
  static Options from_environment();
};

}  // namespace vnjit
