#include "vnjit/runtime/tune/recorded_problems.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>
#include <fstream>
#include <system_error>

#include "vnjit/runtime/file_descriptor.hpp"
#include "vnjit/runtime/tune/problem_json.hpp"

namespace vnjit {
namespace {

constexpr std::size_t kMostLines = 100'000;  // that are remembered

}  // namespace

RecordedProblems::RecordedProblems(std::filesystem::path file, Report report)
    : file_(std::move(file)), report_(std::move(report)) {}

void RecordedProblems::add(const Problem& problem) {
  if (file_.empty()) return;
  const std::string line = to_json(problem);
  const std::lock_guard lock(mutex_);
  if (failed_) return;
  if (!std::exchange(opened_, true)) {
    std::ifstream lines(file_);
    for (std::string known; known_.size() < kMostLines && std::getline(lines, known);) {
      known_.insert(known);
    }
  }
  if (known_.insert(line).second) append(line + '\n');
}

// One write: lines of processes that append at once do not mix.
void RecordedProblems::append(const std::string& line) {
  const FileDescriptor file(::open(file_.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0644));
  if (file && ::write(file.get(), line.data(), line.size()) == static_cast<ssize_t>(line.size())) {
    return;
  }
  failed_ = true;
  if (!report_) return;
  report_(Severity::warning, fmt::format("problems are not recorded in {}: {}", file_.string(),
                                         std::generic_category().message(errno)));
}

}  // namespace vnjit
