#pragma once

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "vnjit/codegen/templates.hpp"

namespace vnjit {

enum class Severity { info, warning };

constexpr int kMaxCpuThreads = 1024;

/// Everything a Runtime takes from its surroundings, read once. Defaults touch nothing.
struct Options {
  std::filesystem::path cache_dir;                   ///< of compiled kernels; empty: memory only
  std::int64_t cache_bytes = std::int64_t{2} << 30;  ///< of cache_dir, least recently used dropped
                                                     ///< first; 0: no bound
  /// How long one compilation waits for another of the same kernel before it goes on alone.
  std::chrono::milliseconds cache_lock_wait = std::chrono::seconds(60);
  std::filesystem::path nvrtc;      ///< libnvrtc or a folder holding it; empty: search
  int cpu_threads = 0;              ///< of the CPU backend, at most kMaxCpuThreads; 0: one a core
  std::size_t cached_plans = 1024;  ///< plans kept in memory, least recently used dropped first
  std::function<void(Severity, std::string_view)> report;  ///< progress and warnings; may be
                                                           ///< empty; called from any thread

  bool use_records = true;  ///< whether plans take the configs of tuning records, cache_dir/records
  std::filesystem::path record_problems;  ///< gets a JSON line for each problem a plan is made for;
                                          ///< empty: none

  // For trying an idea without building the library again.
  std::shared_ptr<const TemplateFiles> templates{};  ///< in place of those built in, unless null
  /// Texts that are compiled in place of those generated, by the name of their kernel.
  std::map<std::string, std::string, std::less<>> sources{};

  // Where libnvrtc is searched for before the system's own folders (find_nvrtc.hpp has the order).
  std::vector<std::filesystem::path> library_dirs;  ///< folders that hold libraries
  std::vector<std::filesystem::path> toolkit_dirs;  ///< CUDA toolkits: lib64 and lib below them
  std::vector<std::filesystem::path> python_dirs;   ///< Python prefixes, or site-packages folders

  /// From these variables, of which an empty one counts as unset:
  ///   cache_dir        VNJIT_CACHE_DIR, else XDG_CACHE_HOME/vnjit, else HOME/.cache/vnjit
  ///   cache_bytes      VNJIT_CACHE_BYTES: a whole number, which K, M or G may follow
  ///   cache_lock_wait  VNJIT_CACHE_LOCK_SECONDS
  ///   use_records      VNJIT_RECORDS: 0 or 1
  ///   record_problems  VNJIT_RECORD_PROBLEMS
  ///   nvrtc            VNJIT_NVRTC
  ///   cpu_threads      VNJIT_CPU_THREADS
  ///   library_dirs     LD_LIBRARY_PATH
  ///   toolkit_dirs     CUDA_HOME, CUDA_PATH
  ///   python_dirs      VIRTUAL_ENV, PYTHONPATH, HOME/.local
  /// Relative paths are made absolute here; a relative HOME or XDG_CACHE_HOME is not used, as the
  /// XDG specification asks. Warnings go to standard error. Throws InvalidArgument for a value that
  /// makes no sense.
  static Options from_environment();
};

}  // namespace vnjit
