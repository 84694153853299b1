#pragma once

#include <atomic>
#include <chrono>
#include <filesystem>
#include <functional>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <string_view>

#include "vnjit/runtime/binary.hpp"
#include "vnjit/runtime/cache_folder.hpp"
#include "vnjit/runtime/file_descriptor.hpp"
#include "vnjit/runtime/options.hpp"

namespace vnjit {

/// Compiled kernels in a folder, shared by threads and processes. It never throws for what the disk
/// does: it can only miss, and says why through `report`, once.
///
/// The folder is created, for its owner alone, when the first kernel is about to be compiled. A
/// folder that is someone else's, or that group or others may write to, is not used at all.
class DiskCache {
 public:
  using Report = std::function<void(Severity, std::string_view)>;

  struct Bounds {
    std::chrono::milliseconds lock_wait = std::chrono::seconds(60);  ///< of lock()
    std::int64_t bytes = 0;  ///< of all entries and sources; 0: no bound
  };

  /// A folder with an empty path is a cache that holds nothing.
  DiskCache(CacheFolder folder, Report report, const Bounds& bounds);
  DiskCache(std::filesystem::path folder, Report report)
      : DiskCache(CacheFolder(std::move(folder)), std::move(report), Bounds{}) {}

  /// The entry; none when it is absent, damaged, of another key or not to be trusted.
  std::optional<Binary> find(const std::string& key);

  /// Writes the entry of binary.key and its source, replacing what was there; where all entries
  /// then take more than the bound, those used least recently go, to nine tenths of it. Returns
  /// the entry's path, or an empty one when it could not be written.
  std::filesystem::path publish(const Binary& binary, std::string_view source);

  /// Keeps other holders of this key's lock, in this process and others, waiting until the result
  /// is destroyed. Returns none when there is no such lock to have: no usable folder, no locks on
  /// that file system, or another holder for longer than the bound. The caller then goes on alone.
  FileDescriptor lock(const std::string& key);

  std::filesystem::path entry_path(const std::string& key) const { return folder_.entry_path(key); }

 private:
  enum class Access { read, write };
  bool usable(Access access);
  void stay_within_bound(const Binary& published, std::int64_t bytes);
  void reject(const std::string& key, std::string_view reason);
  void warn_once(std::string_view reason);
  void tell(std::string_view message) const;

  CacheFolder folder_;
  Report report_;
  Bounds bounds_;
  std::atomic<bool> warned_ = false;
  std::mutex mutex_;
  std::set<std::string> rejected_;     // keys whose damaged entry was reported
  std::optional<std::int64_t> bytes_;  // in the folder, when it was last looked at and since
};

}  // namespace vnjit
