#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace vnjit {

/// A kernel that lies in a cache's folder.
struct CacheEntry {
  std::string key;
  std::int64_t bytes = 0;                  ///< of the entry and of its source
  std::filesystem::file_time_type used{};  ///< when it was written or, to the hour, last read
};

/// The files of a kernel cache, safe against any number of readers and writers in this and other
/// processes:
///
///   KEY.cubin  an entry: to_entry's bytes
///   KEY.cu     its source, for people; not read
///   records/   tuning records
///   lock       of no content; DiskCache locks bytes of it
///
/// Files appear by one rename and vanish by one unlink, so a reader sees all of one or none.
class CacheFolder {
 public:
  /// Touches nothing. `before_rename` is called when a file is complete under its temporary name;
  /// it is for tests that end the process there.
  explicit CacheFolder(std::filesystem::path path, std::function<void()> before_rename = {});

  const std::filesystem::path& path() const { return path_; }
  std::filesystem::path entry_path(const std::string& key) const;
  std::filesystem::path source_path(const std::string& key) const;
  std::filesystem::path records_path() const { return path_ / "records"; }

  /// Why the folder must not be used: it is no directory, it belongs to another user, or its group
  /// or others may write to it. Empty where it may, and where there is none yet.
  std::string why_unusable() const;

  /// Creates the folder and those above it, for their owner alone. Returns 0 or errno.
  int create() const;

  /// The bytes of an entry, by one open and one read; none without it. Where there is an entry that
  /// must not be used or cannot be read, none, and `why` says so. Marks it as used.
  std::optional<std::string> read(const std::string& key, std::string& why) const;

  /// Puts an entry and its source in place. Both have reached the disk when this returns, or 0 is
  /// not what it returns but errno, and what was there before is as it was.
  int write(const std::string& key, std::string_view entry, std::string_view source) const;

  /// Removes an entry and its source; false where there was none or it cannot be removed.
  bool remove(const std::string& key) const;

  /// What lies here, the least recently used first.
  std::vector<CacheEntry> entries() const;

  /// Tuning records, by name.
  std::vector<std::filesystem::path> records() const;

  /// Where the entries take more than `most` bytes, removes those used least recently until they
  /// take at most `target`, but never `kept`. Also removes what killed processes left half-written.
  /// Returns the bytes of what is left.
  std::int64_t evict(std::int64_t most, std::int64_t target, std::string_view kept = {}) const;

  /// Removes files that were being written more than `age_seconds` ago. Returns how many.
  int remove_leftovers(std::int64_t age_seconds = 3600) const;

 private:
  std::filesystem::path path_;
  std::function<void()> before_rename_;
};

/// Whether `name` is a cache key: 32 hexadecimal digits of lower case.
bool is_cache_key(std::string_view name);

/// Why a file or folder of this owner and mode must not be trusted; empty where it may be.
std::string distrust(unsigned owner, unsigned mode);

/// Makes `path` hold `bytes`, for its owner alone, by a temporary file beside it, fsync, one
/// rename, and fsync of the folder. `before_rename` as above. Returns 0 or errno, and then leaves
/// what was there.
int publish_file(const std::filesystem::path& path, std::string_view bytes,
                 const std::function<void()>& before_rename = {});

}  // namespace vnjit
