#include "vnjit/runtime/disk_cache.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <system_error>
#include <thread>
#include <utility>

#include "vnjit/runtime/error.hpp"
#include "vnjit/runtime/hash.hpp"

namespace vnjit {
namespace {

namespace fs = std::filesystem;

constexpr off_t kMaxEntryBytes = off_t{1} << 30;

std::string error_text(int error) { return std::generic_category().message(error); }

/// Creates a folder and those above it for their owner alone. Returns 0 or errno.
int make_folders(const fs::path& folder) {
  if (::mkdir(folder.c_str(), 0700) == 0 || errno == EEXIST) return 0;
  if (errno != ENOENT || !folder.has_relative_path()) return errno;
  if (const int error = make_folders(folder.parent_path())) return error;
  return ::mkdir(folder.c_str(), 0700) == 0 || errno == EEXIST ? 0 : errno;
}

/// Why a folder must not be used; empty when it may.
std::string distrust(const struct stat& status) {
  if (!S_ISDIR(status.st_mode)) return "it is not a directory";
  if (status.st_uid != ::geteuid()) {
    return fmt::format("it belongs to user {}, not to user {}, who runs this", status.st_uid,
                       ::geteuid());
  }
  if ((status.st_mode & (S_IWGRP | S_IWOTH)) != 0) {
    return "its group or others may write to it (chmod go-w makes it usable)";
  }
  return {};
}

/// Reads a whole file. Returns 0 or errno.
int read_file(const fs::path& path, std::string& bytes) {
  const FileDescriptor file(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
  struct stat status {};
  if (!file || ::fstat(file.get(), &status) != 0) return errno;
  if (!S_ISREG(status.st_mode)) return EINVAL;
  if (status.st_size > kMaxEntryBytes) return EFBIG;
  bytes.resize(static_cast<std::size_t>(status.st_size));
  std::size_t done = 0;
  while (done < bytes.size()) {
    const ssize_t got = ::read(file.get(), bytes.data() + done, bytes.size() - done);
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return errno;
    if (got == 0) break;
    done += static_cast<std::size_t>(got);
  }
  bytes.resize(done);
  return 0;
}

/// Returns 0 or errno.
int write_all(const FileDescriptor& file, std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t put = ::write(file.get(), bytes.data(), bytes.size());
    if (put < 0 && errno == EINTR) continue;
    if (put < 0) return errno;
    bytes.remove_prefix(static_cast<std::size_t>(put));
  }
  return 0;
}

enum class Durable { no, yes };

/// Puts a file in place by one rename, so that a reader sees all of it or none. Returns 0 or
/// errno. A durable one reaches the disk before its name does.
int write_file(const fs::path& path, std::string_view bytes, Durable durable) {
  std::string temporary = path.string() + ".XXXXXX";
  const FileDescriptor file(::mkostemp(temporary.data(), O_CLOEXEC));  // exclusive, mode 0600
  if (!file) return errno;
  int error = write_all(file, bytes);
  if (!error && durable == Durable::yes && ::fsync(file.get()) != 0) error = errno;
  if (!error && ::rename(temporary.c_str(), path.c_str()) != 0) error = errno;
  if (error) ::unlink(temporary.c_str());
  return error;
}

}  // namespace

DiskCache::DiskCache(fs::path folder, Report report, std::chrono::milliseconds lock_wait)
    : folder_(std::move(folder)), report_(std::move(report)), lock_wait_(lock_wait) {}

fs::path DiskCache::entry_path(const std::string& key) const { return folder_ / (key + ".cubin"); }

void DiskCache::tell(std::string_view message) const {
  if (report_) report_(Severity::warning, message);
}

void DiskCache::warn_once(std::string_view reason) {
  if (warned_.exchange(true)) return;
  tell(
      fmt::format("the kernel cache {} cannot be used: {}. Kernels are kept in memory only; set "
                  "VNJIT_CACHE_DIR to a directory of your own",
                  folder_.string(), reason));
}

void DiskCache::reject(const std::string& key, std::string_view reason) {
  {
    const std::lock_guard lock(mutex_);
    if (!rejected_.insert(key).second) return;
  }
  tell(fmt::format("{} is not used and will be replaced: {}", entry_path(key).string(), reason));
}

// Asked anew each time: a folder may appear, vanish or change hands while a program runs, and the
// answer costs a microsecond.
bool DiskCache::usable(Access access) {
  if (folder_.empty()) return false;
  if (access == Access::write) {
    if (const int error = make_folders(folder_)) {
      warn_once(fmt::format("it cannot be created ({})", error_text(error)));
      return false;
    }
  }
  struct stat status {};
  if (::stat(folder_.c_str(), &status) != 0) {
    if (errno != ENOENT) warn_once(error_text(errno));
    return false;
  }
  const std::string reason = distrust(status);
  if (!reason.empty()) warn_once(reason);
  return reason.empty();
}

std::optional<Binary> DiskCache::find(const std::string& key) {
  if (!usable(Access::read)) return std::nullopt;
  std::string bytes;
  if (const int error = read_file(entry_path(key), bytes)) {
    if (error != ENOENT) reject(key, error_text(error));
    return std::nullopt;
  }
  try {
    return from_entry(bytes);
  } catch (const Error& damage) {
    reject(key, damage.what());
    return std::nullopt;
  }
}

fs::path DiskCache::publish(const std::string& key, const Binary& binary, std::string_view source) {
  if (!usable(Access::write)) return {};
  // The source first: whoever sees an entry finds its source beside it.
  int error = write_file(folder_ / (key + ".cu"), source, Durable::no);
  if (!error) error = write_file(entry_path(key), to_entry(binary), Durable::yes);
  if (!error) return entry_path(key);
  warn_once(fmt::format("an entry cannot be written ({})", error_text(error)));
  return {};
}

// One byte of one file a key: locks leave nothing behind that would have to be removed (removing
// a lock file races with those who just opened it), and no two keys wait for each other. The lock
// belongs to the open file, so it holds between threads too, and the kernel drops it when its
// process dies.
FileDescriptor DiskCache::lock(const std::string& key) {
  if (!usable(Access::write)) return {};
  FileDescriptor file(
      ::open((folder_ / "lock").c_str(), O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600));
  if (!file) return {};
  struct flock byte {};
  byte.l_type = F_WRLCK;
  byte.l_whence = SEEK_SET;
  byte.l_start = static_cast<off_t>(hash64(key) >> 2);
  byte.l_len = 1;

  constexpr std::chrono::milliseconds kLongestPause{50};
  std::chrono::milliseconds pause{1};
  const auto deadline = std::chrono::steady_clock::now() + lock_wait_;
  while (::fcntl(file.get(), F_OFD_SETLK, &byte) != 0) {
    if (errno == EINTR) continue;
    if (errno != EAGAIN && errno != EACCES) return {};
    if (std::chrono::steady_clock::now() >= deadline) {
      tell(fmt::format("waited {} ms for another compilation of {}; compiling it here too",
                       lock_wait_.count(), entry_path(key).string()));
      return {};
    }
    std::this_thread::sleep_for(pause);
    pause = std::min(2 * pause, kLongestPause);
  }
  return file;
}

}  // namespace vnjit
