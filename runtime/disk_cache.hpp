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
#include "vnjit/runtime/file_descriptor.hpp"
#include "vnjit/runtime/options.hpp"

namespace vnjit {

/// Compiled kernels in a folder, one file an entry, shared by threads and processes. It never
/// throws for what the disk does: it can only miss, and says why through `report`, once.
///
///   KEY.cubin  an entry: to_entry's bytes, published by one rename
///   KEY.cu     the source, for people; not read
///   lock       of no content; processes lock a byte of it for each key that they compile
///
/// The folder is created, for its owner alone, when the first kernel is about to be compiled. A
/// folder that is someone else's, or that group or others may write to, is not used at all.
class DiskCache {
 public:
  using Report = std::function<void(Severity, std::string_view)>;

  /// An empty `folder` is a cache that holds nothing. `lock_wait` bounds lock().
  DiskCache(std::filesystem::path folder, Report report,
            std::chrono::milliseconds lock_wait = std::chrono::seconds(60));

  /// The entry; none when it is absent or damaged.
  std::optional<Binary> find(const std::string& key);

  /// Writes the entry and its source, replacing what was there. Returns the entry's path, or an
  /// empty one when it could not be written.
  std::filesystem::path publish(const std::string& key, const Binary& binary,
                                std::string_view source);

  /// Keeps other holders of this key's lock, in this process and others, waiting until the result
  /// is destroyed. Returns none when there is no such lock to have: no usable folder, no locks on
  /// that file system, or another holder for longer than lock_wait. The caller then goes on alone.
  FileDescriptor lock(const std::string& key);

  std::filesystem::path entry_path(const std::string& key) const;

 private:
  enum class Access { read, write };
  bool usable(Access access);
  void reject(const std::string& key, std::string_view reason);
  void warn_once(std::string_view reason);
  void tell(std::string_view message) const;

  std::filesystem::path folder_;
  Report report_;
  std::chrono::milliseconds lock_wait_;
  std::atomic<bool> warned_ = false;
  std::mutex mutex_;
  std::set<std::string> rejected_;  // keys whose damaged entry was reported
};

}  // namespace vnjit
