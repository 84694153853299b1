#pragma once

#include <sys/types.h>

#include <cstdint>
#include <memory>

namespace vnjit::cpu {

/// A few threads that share loops. Started at the first loop, joined by the destructor. Any number
/// of threads may call parallel_for at once, and its function may call it again; all these loops
/// share the same threads. A loop started in a child after fork() runs on the calling thread alone.
class ThreadPool {
 public:
  /// `threads` counts the caller of a loop; 0: one a core. Throws InvalidArgument when negative.
  explicit ThreadPool(int threads);
  /// No loop may be running.
  ~ThreadPool();
  ThreadPool(const ThreadPool&) = delete;
  ThreadPool& operator=(const ThreadPool&) = delete;

  int threads() const { return threads_; }

  /// Calls function(index) once for every index in [0, count), in any order and on any of the
  /// threads, and returns when all are done. After an exception no further index is started, and
  /// the first one is thrown here.
  template <typename Function>
  void parallel_for(std::int64_t count, const Function& function) {
    run(count, &function, [](const void* callable, std::int64_t index) {
      (*static_cast<const Function*>(callable))(index);
    });
  }

 private:
  using Call = void (*)(const void* callable, std::int64_t index);
  struct Loop;
  struct Shared;

  void run(std::int64_t count, const void* callable, Call call);

  int threads_;
  pid_t process_;
  std::unique_ptr<Shared> shared_;
};

}  // namespace vnjit::cpu
