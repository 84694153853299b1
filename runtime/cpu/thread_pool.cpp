#include "vnjit/runtime/cpu/thread_pool.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <condition_variable>
#include <exception>
#include <mutex>
#include <system_error>
#include <thread>
#include <vector>

#include "vnjit/codegen/error.hpp"
#include "vnjit/runtime/options.hpp"

namespace vnjit::cpu {

/// One parallel_for, on its caller's stack.
struct ThreadPool::Loop {
  const void* callable;
  Call call;
  std::int64_t count;
  std::atomic<std::int64_t> next{0};
  int helpers = 0;             ///< threads in it besides the caller; guarded by Shared::mutex
  std::exception_ptr error{};  ///< the first; guarded by Shared::mutex
};

struct ThreadPool::Shared {
  std::mutex mutex;
  std::condition_variable work_ready;
  std::condition_variable helper_left;
  std::vector<std::thread> helpers;
  std::vector<Loop*> open;  ///< loops that may have indices left, the newest last
  bool stopping = false;

  ~Shared();
  void start(int threads);
  void help();
  void work(Loop& loop);
  void close(Loop& loop) { std::erase(open, &loop); }
};

ThreadPool::Shared::~Shared() {
  {
    const std::lock_guard lock(mutex);
    stopping = true;
  }
  work_ready.notify_all();
  for (std::thread& helper : helpers) helper.join();
}

/// Needs the mutex. A process short of threads goes on with those it got.
void ThreadPool::Shared::start(int threads) {
  helpers.reserve(static_cast<std::size_t>(threads));
  try {
    while (static_cast<int>(helpers.size()) < threads) helpers.emplace_back([this] { help(); });
  } catch (const std::system_error&) {
  }
}

void ThreadPool::Shared::help() {
  std::unique_lock lock(mutex);
  while (true) {
    work_ready.wait(lock, [this] { return stopping || !open.empty(); });
    if (stopping) return;
    Loop& loop = *open.back();
    ++loop.helpers;
    lock.unlock();
    work(loop);
    lock.lock();
    close(loop);
    if (--loop.helpers == 0) helper_left.notify_all();
  }
}

void ThreadPool::Shared::work(Loop& loop) {
  while (true) {
    const std::int64_t index = loop.next.fetch_add(1, std::memory_order_relaxed);
    if (index >= loop.count) return;
    try {
      loop.call(loop.callable, index);
    } catch (...) {
      loop.next.store(loop.count, std::memory_order_relaxed);
      const std::lock_guard lock(mutex);
      if (!loop.error) loop.error = std::current_exception();
    }
  }
}

namespace {

int thread_count(int threads) {
  if (threads < 0 || threads > kMaxCpuThreads) {
    throw InvalidArgument(
        fmt::format("the number of CPU threads is {}; use 1 to {}, or 0 for one a core", threads,
                    kMaxCpuThreads));
  }
  return threads > 0 ? threads : std::max(1, static_cast<int>(std::thread::hardware_concurrency()));
}

}  // namespace

ThreadPool::ThreadPool(int threads)
    : threads_(thread_count(threads)), process_(getpid()), shared_(std::make_unique<Shared>()) {}

ThreadPool::~ThreadPool() {
  // A forked child has none of the threads, and the mutex in whatever state it was: nothing of
  // this can be joined or destroyed there.
  if (getpid() != process_) static_cast<void>(shared_.release());
}

void ThreadPool::run(std::int64_t count, const void* callable, Call call) {
  if (threads_ == 1 || count <= 1 || getpid() != process_) {
    for (std::int64_t index = 0; index < count; ++index) call(callable, index);
    return;
  }
  Loop loop{.callable = callable, .call = call, .count = count};
  Shared& shared = *shared_;
  {
    const std::lock_guard lock(shared.mutex);
    shared.start(threads_ - 1);
    shared.open.push_back(&loop);
  }
  shared.work_ready.notify_all();
  shared.work(loop);
  std::unique_lock lock(shared.mutex);
  shared.close(loop);
  shared.helper_left.wait(lock, [&loop] { return loop.helpers == 0; });
  if (loop.error) std::rethrow_exception(loop.error);
}

}  // namespace vnjit::cpu
