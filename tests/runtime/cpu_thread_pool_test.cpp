#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <filesystem>
#include <memory>
#include <set>
#include <stdexcept>
#include <thread>
#include <vector>

#include "cpu_reference.hpp"
#include "vnjit/runtime/cpu/thread_pool.hpp"

namespace vnjit::cpu {
namespace {

int threads_of_process() {
  int threads = 0;
  for (const auto& entry : std::filesystem::directory_iterator("/proc/self/task")) {
    static_cast<void>(entry);
    ++threads;
  }
  return threads;
}

TEST(ThreadPool, RunsEveryIndexOnce) {
  for (const int threads : {1, 2, 5}) {
    ThreadPool pool(threads);
    for (const std::int64_t count : {0, 1, 2, 7, 1000}) {
      std::vector<std::atomic<int>> calls(static_cast<std::size_t>(count));
      pool.parallel_for(count,
                        [&](std::int64_t index) { ++calls[static_cast<std::size_t>(index)]; });
      for (const auto& times : calls) ASSERT_EQ(times, 1) << threads << " threads, " << count;
    }
  }
}

TEST(ThreadPool, SharesALoopBetweenItsThreads) {
  ThreadPool pool(3);
  std::atomic<int> inside = 0;
  // Each index waits until three threads are in the loop: fewer would never end it.
  pool.parallel_for(3, [&](std::int64_t) {
    ++inside;
    while (inside < 3) std::this_thread::yield();
  });
  EXPECT_EQ(inside, 3);
}

TEST(ThreadPool, StartsThreadsAtTheFirstLoopAndJoinsThem) {
  const int before = threads_of_process();
  {
    ThreadPool pool(4);
    EXPECT_EQ(pool.threads(), 4);
    EXPECT_EQ(threads_of_process(), before);
    pool.parallel_for(8, [](std::int64_t) {});
    EXPECT_EQ(threads_of_process(), before + 3);
  }
  // A joined thread stays listed for a moment.
  for (int wait = 0; wait < 1000 && threads_of_process() != before; ++wait) {
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
  }
  EXPECT_EQ(threads_of_process(), before);
}

TEST(ThreadPool, ThrowsTheTasksExceptionInTheCallerAndStaysUsable) {
  for (const int threads : {1, 4}) {
    ThreadPool pool(threads);
    std::atomic<int> calls = 0;
    const auto failing = [&](std::int64_t index) {
      ++calls;
      if (index == 3) throw std::runtime_error("index 3");
    };
    try {
      pool.parallel_for(100'000, failing);
      ADD_FAILURE() << "nothing thrown";
    } catch (const std::runtime_error& error) {
      EXPECT_STREQ(error.what(), "index 3");
    }
    EXPECT_LT(calls, 100'000);
    calls = 0;
    pool.parallel_for(10, [&](std::int64_t) { ++calls; });
    EXPECT_EQ(calls, 10);
  }
}

TEST(ThreadPool, TakesLoopsInsideLoops) {
  ThreadPool pool(3);
  std::atomic<int> calls = 0;
  pool.parallel_for(8, [&](std::int64_t) {
    pool.parallel_for(8,
                      [&](std::int64_t) { pool.parallel_for(2, [&](std::int64_t) { ++calls; }); });
  });
  EXPECT_EQ(calls, 128);
}

TEST(ThreadPool, TakesLoopsOfSeveralThreadsAtOnce) {
  ThreadPool pool(3);
  std::atomic<int> calls = 0;
  std::vector<std::thread> callers;
  for (int caller = 0; caller < 4; ++caller) {
    callers.emplace_back([&] {
      for (int loop = 0; loop < 200; ++loop) pool.parallel_for(5, [&](std::int64_t) { ++calls; });
    });
  }
  for (std::thread& caller : callers) caller.join();
  EXPECT_EQ(calls, 4 * 200 * 5);
}

TEST(ThreadPool, CountsCoresForZeroAndRefusesNegative) {
  EXPECT_EQ(ThreadPool(0).threads(), static_cast<int>(std::thread::hardware_concurrency()));
  EXPECT_EQ(tests::refusal_of([] { ThreadPool pool(-2); }),
            "the number of CPU threads is -2; use 1 to 1024, or 0 for one a core");
}

/// In a forked child: a loop, then the pool's end. 0 when all went as promised.
int loop_in_child(std::unique_ptr<ThreadPool> pool) {
  std::set<std::thread::id> threads;
  std::int64_t sum = 0;
  pool->parallel_for(100, [&](std::int64_t index) {
    threads.insert(std::this_thread::get_id());
    sum += index;
  });
  if (sum != 4950) return 1;
  if (threads != std::set{std::this_thread::get_id()}) return 2;
  pool.reset();
  return 0;
}

TEST(ThreadPool, RunsAloneInAForkedChildAndEndsThere) {
  for (const bool started : {false, true}) {
    auto pool = std::make_unique<ThreadPool>(4);
    if (started) pool->parallel_for(100, [](std::int64_t) {});
    const pid_t child = fork();
    ASSERT_GE(child, 0);
    if (child == 0) {
      alarm(30);
      _exit(loop_in_child(std::move(pool)));
    }
    int status = -1;
    ASSERT_EQ(waitpid(child, &status, 0), child);
    EXPECT_TRUE(WIFEXITED(status)) << "killed by signal " << WTERMSIG(status);
    EXPECT_EQ(WEXITSTATUS(status), 0);
    std::atomic<int> calls = 0;
    pool->parallel_for(10, [&](std::int64_t) { ++calls; });
    EXPECT_EQ(calls, 10);
  }
}

}  // namespace
}  // namespace vnjit::cpu
