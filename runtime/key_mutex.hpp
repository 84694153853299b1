#pragma once

#include <chrono>
#include <condition_variable>
#include <mutex>
#include <set>
#include <string>

namespace vnjit {

/// A mutex for each key: threads with different keys do not wait for each other.
class KeyMutex {
 public:
  /// False where another thread has held the key for as long as `wait`.
  bool try_lock_for(const std::string& key, std::chrono::milliseconds wait) {
    std::unique_lock lock(mutex_);
    return released_.wait_for(lock, wait, [&] { return held_.insert(key).second; });
  }

  void unlock(const std::string& key) {
    {
      const std::lock_guard lock(mutex_);
      held_.erase(key);
    }
    released_.notify_all();
  }

 private:
  std::mutex mutex_;
  std::condition_variable released_;
  std::set<std::string> held_;
};

/// Holds one key while it lives, unless another thread does not let go of it for as long as `wait`:
/// a compiler that hangs in one thread does not hang the others.
class KeyLock {
 public:
  KeyLock(KeyMutex& mutex, const std::string& key, std::chrono::milliseconds wait)
      : mutex_(mutex), key_(key), held_(mutex.try_lock_for(key, wait)) {}
  ~KeyLock() {
    if (held_) mutex_.unlock(key_);
  }
  KeyLock(const KeyLock&) = delete;
  KeyLock& operator=(const KeyLock&) = delete;

 private:
  KeyMutex& mutex_;
  std::string key_;
  bool held_;
};

}  // namespace vnjit
