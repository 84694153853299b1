#pragma once

#include <filesystem>
#include <functional>
#include <mutex>
#include <set>
#include <string>
#include <string_view>

#include "vnjit/codegen/problem.hpp"
#include "vnjit/runtime/options.hpp"

namespace vnjit {

/// The problems that a host program makes plans for, one JSON line each in a file that many
/// processes may append to. Thread-safe; never throws for what the disk does, and says so once.
class RecordedProblems {
 public:
  using Report = std::function<void(Severity, std::string_view)>;

  /// An empty file records nothing.
  RecordedProblems(std::filesystem::path file, Report report);

  /// Appends a problem that the file did not hold when it was first used here.
  void add(const Problem& problem);

 private:
  void append(const std::string& line);

  std::filesystem::path file_;
  Report report_;
  std::mutex mutex_;  // of what follows
  bool opened_ = false;
  bool failed_ = false;
  std::set<std::string> known_;  // lines
};

}  // namespace vnjit
