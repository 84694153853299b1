#include "vnjit/runtime/disk_cache.hpp"

#include <fcntl.h>
#include <fmt/format.h>

#include <algorithm>
#include <cerrno>
#include <system_error>
#include <thread>
#include <utility>

#include "vnjit/runtime/error.hpp"
#include "vnjit/runtime/hash.hpp"

namespace vnjit {
namespace {

std::string error_text(int error) { return std::generic_category().message(error); }

}  // namespace

DiskCache::DiskCache(CacheFolder folder, Report report, const Bounds& bounds)
    : folder_(std::move(folder)), report_(std::move(report)), bounds_(bounds) {}

void DiskCache::tell(std::string_view message) const {
  if (report_) report_(Severity::warning, message);
}

void DiskCache::warn_once(std::string_view reason) {
  if (warned_.exchange(true)) return;
  tell(
      fmt::format("the kernel cache {} cannot be used: {}. Kernels are kept in memory only; set "
                  "VNJIT_CACHE_DIR to a directory of your own",
                  folder_.path().string(), reason));
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
  if (folder_.path().empty()) return false;
  if (access == Access::write) {
    if (const int error = folder_.create()) {
      warn_once(fmt::format("it cannot be created ({})", error_text(error)));
      return false;
    }
  }
  const std::string reason = folder_.why_unusable();
  if (!reason.empty()) warn_once(reason);
  return reason.empty();
}

std::optional<Binary> DiskCache::find(const std::string& key) {
  if (!usable(Access::read)) return std::nullopt;
  std::string why;
  const std::optional<std::string> bytes = folder_.read(key, why);
  if (!bytes) {
    if (!why.empty()) reject(key, why);
    return std::nullopt;
  }
  try {
    Binary binary = from_entry(*bytes);
    if (binary.key == key) return binary;
    reject(key, fmt::format("cache entry: it is that of key {}", binary.key));
  } catch (const Error& damage) {
    reject(key, damage.what());
  }
  return std::nullopt;
}

std::filesystem::path DiskCache::publish(const Binary& binary, std::string_view source) {
  if (!usable(Access::write)) return {};
  const std::string entry = to_entry(binary);
  if (const int error = folder_.write(binary.key, entry, source)) {
    warn_once(fmt::format("an entry cannot be written ({})", error_text(error)));
    return {};
  }
  stay_within_bound(binary, static_cast<std::int64_t>(entry.size() + source.size()));
  return entry_path(binary.key);
}

// The folder is looked through once a process and where the bound is reached: what other processes
// have added in between is found then.
void DiskCache::stay_within_bound(const Binary& published, std::int64_t bytes) {
  if (bounds_.bytes == 0) return;
  const std::lock_guard lock(mutex_);
  if (bytes_ && *bytes_ + bytes <= bounds_.bytes) {
    *bytes_ += bytes;
    return;
  }
  bytes_ = folder_.evict(bounds_.bytes, bounds_.bytes / 10 * 9, published.key);
}

// One byte of one file a key: locks leave nothing behind that would have to be removed (removing
// a lock file races with those who just opened it), and no two keys wait for each other. The lock
// belongs to the open file, so it holds between threads too, and the kernel drops it when its
// process dies.
FileDescriptor DiskCache::lock(const std::string& key) {
  if (!usable(Access::write)) return {};
  FileDescriptor file(::open((folder_.path() / "lock").c_str(),
                             O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK, 0600));
  if (!file) return {};
  struct flock byte {};
  byte.l_type = F_WRLCK;
  byte.l_whence = SEEK_SET;
  byte.l_start = static_cast<off_t>(hash64(key) >> 2);
  byte.l_len = 1;

  constexpr std::chrono::milliseconds kLongestPause{50};
  std::chrono::milliseconds pause{1};
  const auto deadline = std::chrono::steady_clock::now() + bounds_.lock_wait;
  while (::fcntl(file.get(), F_OFD_SETLK, &byte) != 0) {
    if (errno == EINTR) continue;
    if (errno != EAGAIN && errno != EACCES) return {};
    if (std::chrono::steady_clock::now() >= deadline) {
      tell(fmt::format("waited {} ms for another compilation of {}; compiling it here too",
                       bounds_.lock_wait.count(), entry_path(key).string()));
      return {};
    }
    std::this_thread::sleep_for(pause);
    pause = std::min(2 * pause, kLongestPause);
  }
  return file;
}

}  // namespace vnjit
