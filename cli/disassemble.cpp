#include "disassemble.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <cstdlib>
#include <system_error>
#include <vector>

#include "files.hpp"
#include "vnjit/codegen/error.hpp"
#include "vnjit/runtime/file_descriptor.hpp"

extern char** environ;

namespace vnjit::cli {
namespace {

namespace fs = std::filesystem;

constexpr std::chrono::seconds kPatience{60};

bool is_program(const fs::path& path) {
  std::error_code failed;
  return fs::is_regular_file(path, failed) && ::access(path.c_str(), X_OK) == 0;
}

/// The folders of nvidia/*/bin below one of Python's.
std::vector<fs::path> wheel_folders(const fs::path& site) {
  std::vector<fs::path> folders;
  std::error_code failed;
  for (fs::directory_iterator entry(site / "nvidia", failed), end; entry != end;
       entry.increment(failed)) {
    folders.push_back(entry->path() / "bin");
    if (failed) break;
  }
  return folders;
}

std::vector<fs::path> places(const Options& options) {
  std::vector<fs::path> folders;
  const char* path = std::getenv("PATH");
  std::string_view rest = path ? path : "";
  while (!rest.empty()) {
    const std::size_t end = std::min(rest.find(':'), rest.size());
    if (end > 0) folders.emplace_back(rest.substr(0, end));
    rest.remove_prefix(std::min(end + 1, rest.size()));
  }
  for (const fs::path& toolkit : options.toolkit_dirs) folders.push_back(toolkit / "bin");
  folders.emplace_back("/usr/local/cuda/bin");
  std::error_code failed;
  const fs::path self = fs::read_symlink("/proc/self/exe", failed).parent_path();
  folders.push_back(self / "cuda/bin");
  std::vector<fs::path> sites = options.python_dirs;
  sites.push_back(self / "disassembler");
  for (const fs::path& site : sites) {
    for (const fs::path& folder : wheel_folders(site)) folders.push_back(folder);
  }
  return folders;
}

/// A file that is there while this lives.
class TemporaryFile {
 public:
  explicit TemporaryFile(std::string_view bytes)
      : path_((fs::temp_directory_path() / "vnjit-XXXXXX").string()) {
    const FileDescriptor file(::mkostemp(path_.data(), O_CLOEXEC));
    if (!file ||
        ::write(file.get(), bytes.data(), bytes.size()) != static_cast<ssize_t>(bytes.size())) {
      const int error = errno;
      if (file) ::unlink(path_.c_str());
      throw FileError(
          fmt::format("cannot write {}: {}", path_, std::generic_category().message(error)));
    }
  }
  ~TemporaryFile() { ::unlink(path_.c_str()); }
  TemporaryFile(const TemporaryFile&) = delete;
  TemporaryFile& operator=(const TemporaryFile&) = delete;
  const std::string& path() const { return path_; }

 private:
  std::string path_;
};

}  // namespace

fs::path find_nvdisasm(const Options& options) {
  if (const char* own = std::getenv("VNJIT_NVDISASM"); own && *own) {
    if (is_program(own)) return own;
    throw InvalidArgument(fmt::format("VNJIT_NVDISASM is {}; there is no such program", own));
  }
  for (const fs::path& folder : places(options)) {
    if (is_program(folder / "nvdisasm")) return folder / "nvdisasm";
  }
  return {};
}

std::string disassemble(const fs::path& nvdisasm, std::string_view cubin) {
  const TemporaryFile file(cubin);
  int ends[2];
  if (::pipe2(ends, O_CLOEXEC) != 0) throw Error("pipe failed");
  const FileDescriptor from(ends[0]);
  FileDescriptor to(ends[1]);
  posix_spawn_file_actions_t actions;
  ::posix_spawn_file_actions_init(&actions);
  ::posix_spawn_file_actions_adddup2(&actions, to.get(), STDOUT_FILENO);
  ::posix_spawn_file_actions_adddup2(&actions, to.get(), STDERR_FILENO);
  std::string arguments[] = {nvdisasm.string(), "--print-code", "--print-line-info", file.path()};
  char* const pointers[] = {arguments[0].data(), arguments[1].data(), arguments[2].data(),
                            arguments[3].data(), nullptr};
  pid_t child = -1;
  const int error = ::posix_spawn(&child, pointers[0], &actions, nullptr, pointers, environ);
  ::posix_spawn_file_actions_destroy(&actions);
  if (error != 0) {
    throw Error(fmt::format("{} cannot be started: {}", nvdisasm.string(),
                            std::generic_category().message(error)));
  }
  to = FileDescriptor();
  const auto deadline = std::chrono::steady_clock::now() + kPatience;
  std::string output;
  bool ended = false;
  while (!ended && std::chrono::steady_clock::now() < deadline) {
    pollfd event{.fd = from.get(), .events = POLLIN, .revents = 0};
    if (::poll(&event, 1, 1000) <= 0) continue;
    char bytes[1 << 16];
    const ssize_t got = ::read(from.get(), bytes, sizeof(bytes));
    if (got < 0 && errno == EINTR) continue;
    ended = got <= 0;
    if (got > 0) output.append(bytes, static_cast<std::size_t>(got));
  }
  if (!ended) ::kill(child, SIGKILL);
  int status = 0;
  ::waitpid(child, &status, 0);
  if (!ended) {
    throw Error(fmt::format("{} did not end within {} s", nvdisasm.string(), kPatience.count()));
  }
  if (!WIFEXITED(status) || WEXITSTATUS(status) != 0) {
    throw Error(
        fmt::format("{} failed: {}", nvdisasm.string(), output.substr(0, output.find('\n'))));
  }
  return output;
}

}  // namespace vnjit::cli
