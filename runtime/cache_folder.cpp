#include "vnjit/runtime/cache_folder.hpp"

#include <dirent.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <memory>
#include <system_error>
#include <tuple>

#include "vnjit/runtime/file_descriptor.hpp"

namespace vnjit {
namespace {

namespace fs = std::filesystem;

constexpr off_t kMaxEntryBytes = off_t{1} << 30;
constexpr time_t kTouchedEvery = 3600;  // seconds: reading stays reading
constexpr std::string_view kEntrySuffix = ".cubin";
constexpr std::string_view kSourceSuffix = ".cu";
constexpr std::string_view kTemporary = ".XXXXXX";  // mkostemp's

std::string error_text(int error) { return std::generic_category().message(error); }

int make_folders(const fs::path& folder) {
  if (::mkdir(folder.c_str(), 0700) == 0 || errno == EEXIST) return 0;
  if (errno != ENOENT || !folder.has_relative_path()) return errno;
  if (const int error = make_folders(folder.parent_path())) return error;
  return ::mkdir(folder.c_str(), 0700) == 0 || errno == EEXIST ? 0 : errno;
}

/// Fills `bytes`; one read for a regular file. Returns 0 or errno.
int read_all(const FileDescriptor& file, std::string& bytes) {
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

/// A name reaches the disk with its folder. Some file systems sync no folders, and then there is
/// nothing more to do.
void sync_folder(const fs::path& folder) {
  const FileDescriptor descriptor(::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (descriptor) ::fsync(descriptor.get());
}

/// The file's key, or nothing.
std::string_view key_of(std::string_view name) {
  if (!name.ends_with(kEntrySuffix)) return {};
  name.remove_suffix(kEntrySuffix.size());
  return is_cache_key(name) ? name : std::string_view();
}

/// Whether write() gives this name to a file that is not complete.
bool is_temporary(std::string_view name) {
  if (name.size() <= kTemporary.size()) return false;
  const std::string_view suffix = name.substr(name.size() - kTemporary.size());
  name.remove_suffix(kTemporary.size());
  if (suffix.front() != '.') return false;
  if (name.ends_with(kSourceSuffix)) return is_cache_key(name.substr(0, name.size() - 3));
  return !key_of(name).empty();
}

/// Calls use(name, status) for each regular file of the folder.
template <typename Use>
void for_each_file(const fs::path& folder, const Use& use) {
  const std::unique_ptr<DIR, int (*)(DIR*)> directory(::opendir(folder.c_str()), ::closedir);
  if (!directory) return;
  const int descriptor = ::dirfd(directory.get());
  while (const dirent* entry = ::readdir(directory.get())) {
    struct stat status {};
    if (::fstatat(descriptor, entry->d_name, &status, AT_SYMLINK_NOFOLLOW) != 0) continue;
    if (S_ISREG(status.st_mode)) use(std::string_view(entry->d_name), status, descriptor);
  }
}

fs::file_time_type to_file_time(const timespec& time) {
  const auto since_epoch =
      std::chrono::seconds(time.tv_sec) + std::chrono::nanoseconds(time.tv_nsec);
  return std::chrono::file_clock::from_sys(
      std::chrono::sys_time<std::chrono::nanoseconds>(since_epoch));
}

}  // namespace

bool is_cache_key(std::string_view name) {
  constexpr std::size_t kDigits = 32;
  return name.size() == kDigits &&
         name.find_first_not_of("0123456789abcdef") == std::string_view::npos;
}

std::string distrust(unsigned owner, unsigned mode) {
  if (owner != ::geteuid()) {
    return fmt::format("it belongs to user {}, not to user {}, who runs this", owner, ::geteuid());
  }
  if ((mode & (S_IWGRP | S_IWOTH)) != 0) {
    return "its group or others may write to it (chmod go-w makes it usable)";
  }
  return {};
}

int publish_file(const fs::path& path, std::string_view bytes,
                 const std::function<void()>& before_rename) {
  std::string temporary = path.string() + std::string(kTemporary);
  const FileDescriptor file(::mkostemp(temporary.data(), O_CLOEXEC));  // exclusive, mode 0600
  if (!file) return errno;
  int error = write_all(file, bytes);
  if (!error && ::fsync(file.get()) != 0) error = errno;
  if (!error && before_rename) before_rename();
  if (!error && ::rename(temporary.c_str(), path.c_str()) != 0) error = errno;
  if (error) ::unlink(temporary.c_str());
  if (!error) sync_folder(path.parent_path());
  return error;
}

CacheFolder::CacheFolder(fs::path path, std::function<void()> before_rename)
    : path_(std::move(path)), before_rename_(std::move(before_rename)) {}

fs::path CacheFolder::entry_path(const std::string& key) const {
  return path_ / (key + std::string(kEntrySuffix));
}

fs::path CacheFolder::source_path(const std::string& key) const {
  return path_ / (key + std::string(kSourceSuffix));
}

std::string CacheFolder::why_unusable() const {
  struct stat status {};
  if (::stat(path_.c_str(), &status) != 0) return errno == ENOENT ? "" : error_text(errno);
  if (!S_ISDIR(status.st_mode)) return "it is not a directory";
  return distrust(status.st_uid, status.st_mode);
}

int CacheFolder::create() const { return make_folders(path_); }

std::optional<std::string> CacheFolder::read(const std::string& key, std::string& why) const {
  why.clear();
  const FileDescriptor file(
      ::open(entry_path(key).c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOFOLLOW));
  if (!file) {
    if (errno == ELOOP) why = "it is a symbolic link";
    if (errno != ELOOP && errno != ENOENT) why = error_text(errno);
    return std::nullopt;
  }
  struct stat status {};
  if (::fstat(file.get(), &status) != 0) {
    why = error_text(errno);
  } else if (!S_ISREG(status.st_mode)) {
    why = "it is not a file";
  } else if (status.st_size > kMaxEntryBytes) {
    why = error_text(EFBIG);
  } else {
    why = distrust(status.st_uid, status.st_mode);
  }
  if (!why.empty()) return std::nullopt;
  std::string bytes(static_cast<std::size_t>(status.st_size), '\0');
  if (const int error = read_all(file, bytes)) {
    why = error_text(error);
    return std::nullopt;
  }
  if (std::time(nullptr) - status.st_mtime > kTouchedEvery) ::futimens(file.get(), nullptr);
  return bytes;
}

int CacheFolder::write(const std::string& key, std::string_view entry,
                       std::string_view source) const {
  // The source first: an entry, once it is there, has one.
  if (const int error = publish_file(source_path(key), source, before_rename_)) return error;
  return publish_file(entry_path(key), entry, before_rename_);
}

// The entry first: a source without one is what a write that failed leaves too.
bool CacheFolder::remove(const std::string& key) const {
  const bool removed = ::unlink(entry_path(key).c_str()) == 0;
  ::unlink(source_path(key).c_str());
  return removed;
}

std::vector<CacheEntry> CacheFolder::entries() const {
  std::vector<CacheEntry> found;
  for_each_file(path_, [&](std::string_view name, const struct stat& status, int folder) {
    const std::string key(key_of(name));
    if (key.empty()) return;
    struct stat source {};
    if (::fstatat(folder, (key + std::string(kSourceSuffix)).c_str(), &source,
                  AT_SYMLINK_NOFOLLOW) != 0) {
      source.st_size = 0;
    }
    found.push_back({.key = key,
                     .bytes = std::int64_t{status.st_size} + source.st_size,
                     .used = to_file_time(status.st_mtim)});
  });
  std::ranges::sort(found, [](const CacheEntry& a, const CacheEntry& b) {
    return std::tie(a.used, a.key) < std::tie(b.used, b.key);
  });
  return found;
}

std::vector<fs::path> CacheFolder::records() const {
  std::vector<fs::path> found;
  for_each_file(records_path(), [&](std::string_view name, const struct stat&, int) {
    if (name.ends_with(".json")) found.push_back(records_path() / name);
  });
  std::ranges::sort(found);
  return found;
}

std::int64_t CacheFolder::evict(std::int64_t most, std::int64_t target,
                                std::string_view kept) const {
  remove_leftovers();
  const std::vector<CacheEntry> all = entries();
  std::int64_t left = 0;
  for (const CacheEntry& entry : all) left += entry.bytes;
  if (left <= most) return left;
  for (const CacheEntry& entry : all) {
    if (left <= target) break;
    if (entry.key != kept && remove(entry.key)) left -= entry.bytes;
  }
  return left;
}

int CacheFolder::remove_leftovers(std::int64_t age_seconds) const {
  int removed = 0;
  const time_t now = std::time(nullptr);
  for_each_file(path_, [&](std::string_view name, const struct stat& status, int folder) {
    if (!is_temporary(name) || now - status.st_mtime < age_seconds) return;
    if (::unlinkat(folder, std::string(name).c_str(), 0) == 0) ++removed;
  });
  return removed;
}

}  // namespace vnjit
