#pragma once

#include <ctime>
#include <filesystem>
#include <functional>
#include <map>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <string_view>

#include "vnjit/runtime/cache_folder.hpp"
#include "vnjit/runtime/options.hpp"
#include "vnjit/runtime/tune/tuning_record.hpp"

namespace vnjit {

/// The records in a folder, one JSON file each: `KIND-SIZES.json`, where KIND is a hash of the
/// problem without its sizes, the kind of device and the noise contract's version, and SIZES are
/// the sizes in words (`pop256-batch128-in1024-out1024`). Merging two folders is copying files.
/// Thread-safe; never throws for what the disk does; what is damaged is not used and is reported
/// once through `report`.
class RecordStore {
 public:
  using Report = std::function<void(Severity, std::string_view)>;

  /// An empty folder holds nothing. Touches nothing yet.
  RecordStore(std::filesystem::path folder, Report report);

  /// The config to use for a problem: of the record of exactly these sizes, else of the nearest
  /// sizes (the least sum of |log2| of the ratios of sizes, at most kFarthest) whose config
  /// validates for this problem and device. None without such a record. With an index in memory
  /// that is renewed when the folder changes, it costs a plan no more than 50 microseconds.
  struct Match {
    TuningRecord record;
    bool exact = false;
    std::filesystem::path file;
  };
  std::optional<Match> find(const Problem& problem, const DeviceLimits& limits);

  /// Publishes by one rename, replacing a record of the same problem and kind. Returns its file;
  /// throws Error saying why it could not be written.
  std::filesystem::path put(const TuningRecord& record);

  static constexpr double kFarthest = 2.0;

 private:
  void renew_index();
  const TuningRecord* read(const std::string& name, const std::string& kind);
  void tell_once(const std::string& file, std::string_view what);

  CacheFolder folder_;
  Report report_;
  std::mutex mutex_;  // of what follows
  timespec seen_{};   // the folder's last change, when names_ was read
  std::set<std::string> names_;
  std::map<std::string, std::optional<TuningRecord>> records_;  // by name, once read
  std::set<std::string> told_;
};

/// The name of the record's file.
std::string record_file_name(const Problem& problem, const DeviceLimits& limits);

}  // namespace vnjit
