#pragma once

#include <condition_variable>
#include <mutex>
#include <set>
#include <string>

namespace vnjit {

/// A mutex for each key: threads with different keys do not wait for each other.
class KeyMutex {
 public:
  void lock(const std::string& key) {
    std::unique_lock lock(mutex_);
    released_.wait(lock, [&] { return held_.insert(key).second; });
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

/// Holds one key while it lives.
class KeyLock {
 public:
  KeyLock(KeyMutex& mutex, const std::string& key) : mutex_(mutex), key_(key) { mutex_.lock(key_); }
  ~KeyLock() { mutex_.unlock(key_); }
  KeyLock(const KeyLock&) = delete;
  KeyLock& operator=(const KeyLock&) = delete;

 private:
  KeyMutex& mutex_;
  std::string key_;
};

}  // namespace vnjit
