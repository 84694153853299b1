#include "files.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <filesystem>
#include <system_error>

namespace vnjit::cli {
namespace {

std::string reason(int error) { return std::generic_category().message(error); }

[[noreturn]] void fail_to_write(const std::string& path, int error) {
  throw FileError(fmt::format("cannot write {}: {}", path, reason(error)));
}

/// 0 or the errno of the first write that failed.
int write_all(int descriptor, std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t written = ::write(descriptor, bytes.data(), bytes.size());
    if (written < 0) {
      if (errno == EINTR) continue;
      return errno;
    }
    bytes.remove_prefix(static_cast<std::size_t>(written));
  }
  return 0;
}

int write_and_close(int descriptor, std::string_view bytes) {
  const int write_error = write_all(descriptor, bytes);
  const int close_error = ::close(descriptor) == 0 ? 0 : errno;
  return write_error != 0 ? write_error : close_error;
}

void write_in_place(const std::string& path, std::string_view bytes) {
  const int descriptor = ::open(path.c_str(), O_WRONLY | O_CLOEXEC);
  if (descriptor < 0) fail_to_write(path, errno);
  if (const int error = write_and_close(descriptor, bytes)) fail_to_write(path, error);
}

/// The permissions a newly created file gets from the surroundings.
mode_t default_mode() {
  const mode_t mask = ::umask(0);
  ::umask(mask);
  return 0666 & ~mask;
}

void replace(const std::string& path, std::string_view bytes, mode_t mode) {
  std::string temporary =
      (std::filesystem::path(path).parent_path() / ".vnjit-output-XXXXXX").string();
  const int descriptor = ::mkstemp(temporary.data());
  if (descriptor < 0) fail_to_write(path, errno);
  int error = ::fchmod(descriptor, mode) == 0 ? 0 : errno;
  if (const int write_error = write_and_close(descriptor, bytes)) error = write_error;
  if (error == 0 && ::rename(temporary.c_str(), path.c_str()) != 0) error = errno;
  if (error != 0) {
    ::unlink(temporary.c_str());
    fail_to_write(path, error);
  }
}

void refuse_device(const std::string& path) {
  struct stat status {};
  if (::stat(path.c_str(), &status) != 0) return;
  if (S_ISCHR(status.st_mode) || S_ISBLK(status.st_mode)) {
    throw FileError(fmt::format("cannot read {}: it is a device; use a file or a pipe", path));
  }
}

}  // namespace

void occupy_standard_descriptors() {
  constexpr int kModes[] = {O_RDONLY, O_RDONLY, O_WRONLY};
  for (int descriptor = 0; descriptor < 3; ++descriptor) {
    // open() answers the lowest free descriptor, which is the closed one: those below are open.
    if (::fcntl(descriptor, F_GETFD) < 0) ::open("/dev/null", kModes[descriptor]);
  }
}

void write_output(std::string_view text) {
  if (const int error = write_all(STDOUT_FILENO, text)) fail_to_write("standard output", error);
}

void write_note(std::string_view text) { write_all(STDERR_FILENO, std::string(text) + '\n'); }

std::string read_file(const std::string& path) {
  const auto fail = [&](int error) {
    throw FileError(fmt::format("cannot read {}: {}", path, reason(error)));
  };
  refuse_device(path);
  const int descriptor = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (descriptor < 0) fail(errno);
  std::string bytes;
  char block[1 << 16];
  for (;;) {
    const ssize_t count = ::read(descriptor, block, sizeof block);
    if (count == 0) break;
    if (count > 0) {
      bytes.append(block, static_cast<std::size_t>(count));
    } else if (errno != EINTR) {
      const int error = errno;
      ::close(descriptor);
      fail(error);
    }
  }
  ::close(descriptor);
  return bytes;
}

void require_writable(std::string_view flag, const std::string& path) {
  if (path.empty()) return;
  std::error_code failed;
  const std::filesystem::path folder = std::filesystem::absolute(path, failed).parent_path();
  const bool exists = std::filesystem::exists(path, failed);
  if (std::filesystem::is_directory(path, failed) ||
      ::access(exists ? path.c_str() : folder.c_str(), W_OK) != 0) {
    throw FileError(fmt::format("{}: {} cannot be written", flag, path));
  }
}

void write_file(const std::string& path, std::string_view bytes) {
  struct stat status {};
  if (::stat(path.c_str(), &status) != 0) {
    if (errno != ENOENT) fail_to_write(path, errno);
    return replace(path, bytes, default_mode());
  }
  if (S_ISDIR(status.st_mode)) fail_to_write(path, EISDIR);
  if (!S_ISREG(status.st_mode)) return write_in_place(path, bytes);
  if (::access(path.c_str(), W_OK) != 0) fail_to_write(path, errno);
  // What a symbolic link points to is replaced, not the link.
  std::error_code error;
  const std::filesystem::path target = std::filesystem::canonical(path, error);
  if (error) fail_to_write(path, error.value());
  replace(target.string(), bytes, status.st_mode & 07777);
}

}  // namespace vnjit::cli
