#pragma once

#include <sys/types.h>

#include <chrono>
#include <filesystem>
#include <string>
#include <vector>

#include "vnjit/runtime/file_descriptor.hpp"

namespace vnjit {

/// A child process that answers each line on its standard input with one on its standard output. It
/// is no part of the terminal's foreground group, so that Ctrl-C is the parent's alone. Not
/// thread-safe.
class WorkerProcess {
 public:
  /// Starts it. Throws Error when that fails.
  explicit WorkerProcess(const std::vector<std::string>& command);
  /// Ends it, by force if it does not end by itself.
  ~WorkerProcess();
  WorkerProcess(const WorkerProcess&) = delete;
  WorkerProcess& operator=(const WorkerProcess&) = delete;

  /// Throws Error where it died, saying of what, or was silent for `patience`; it is dead then.
  std::string ask(const std::string& line, std::chrono::milliseconds patience);

  bool alive() const { return process_ > 0; }

 private:
  [[noreturn]] void bury(const std::string& unless_dead);

  pid_t process_ = -1;
  FileDescriptor to_;
  FileDescriptor from_;
  std::string read_;  // and not asked for yet
};

}  // namespace vnjit
