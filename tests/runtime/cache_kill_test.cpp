#include <gmock/gmock.h>
#include <poll.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <filesystem>
#include <random>
#include <thread>

#include "child_process.hpp"
#include "temp_dir.hpp"
#include "vnjit/runtime/disk_cache.hpp"
#include "vnjit/runtime/hash.hpp"

// Processes that die while they fill the cache.

namespace vnjit {
namespace {

namespace fs = std::filesystem;

constexpr int kKills = 200;
constexpr int kAtFailpoint = 40;  // of them, between temporary file and rename

Binary binary_of(int number) {
  return {.cubin = std::string(200'000, static_cast<char>('a' + number % 26)),
          .entry = "kernel",
          .arch = "sm_90",
          .usage = {},
          .log = "log",
          .key = hash128_hex(std::to_string(number))};
}

/// A child that publishes, under the key's lock as a compiler does.
class Publisher {
 public:
  /// It says so and stops when its file `stop_at` (1: the source, 2: the entry) is complete but not
  /// in place; 0: it goes through.
  Publisher(const fs::path& folder, int number, int stop_at) {
    int ends[2];
    if (::pipe(ends) != 0) throw std::runtime_error("pipe failed");
    reached_ = FileDescriptor(ends[0]);
    const FileDescriptor tell(ends[1]);
    child_ = tests::start_child([&] {
      int files = 0;
      const auto stop = [&] {
        if (++files != stop_at) return;
        if (::write(tell.get(), "x", 1) != 1) ::_exit(3);
        for (;;) ::pause();
      };
      DiskCache cache(CacheFolder(folder, stop), {}, {.lock_wait = std::chrono::seconds(10)});
      const Binary binary = binary_of(number);
      const FileDescriptor lock = cache.lock(binary.key);
      return cache.publish(binary, "source").empty() ? 1 : 0;
    });
  }

  /// Whether the failpoint was reached, which is waited for.
  bool at_failpoint() const {
    pollfd event{.fd = reached_.get(), .events = POLLIN, .revents = 0};
    return ::poll(&event, 1, 10'000) == 1 && (event.revents & POLLIN) != 0;
  }

  /// Kills it with SIGKILL; whether that is what it died of.
  bool kill() const {
    ::kill(child_, SIGKILL);
    int status = 0;
    return ::waitpid(child_, &status, 0) == child_ && WIFSIGNALED(status) &&
           WTERMSIG(status) == SIGKILL;
  }

 private:
  FileDescriptor reached_;
  pid_t child_ = -1;
};

int leftovers(const fs::path& folder) {
  int count = 0;
  for (const auto& entry : fs::directory_iterator(folder)) {
    const std::string suffix = entry.path().extension();
    count += suffix != ".cubin" && suffix != ".cu" && entry.path().filename() != "lock";
  }
  return count;
}

TEST(CacheKill, ACacheWorksAfterTwoHundredProcessesWereKilledWhileTheyFilledIt) {
  const tests::TempDir parent;
  const fs::path folder = parent / "cache";
  ASSERT_EQ(CacheFolder(folder).create(), 0);
  std::mt19937 engine(1);
  std::uniform_int_distribution<int> microseconds(0, 3000);
  int between = 0;
  int early = 0;
  for (int number = 0; number < kKills; ++number) {
    const bool stop = number < kAtFailpoint;
    const Publisher publisher(folder, number, stop ? 1 + number % 2 : 0);
    if (stop) {
      ASSERT_TRUE(publisher.at_failpoint());
    } else {
      std::this_thread::sleep_for(std::chrono::microseconds(microseconds(engine)));
    }
    const bool killed = publisher.kill();
    if (stop && killed) ++between;
    if (!stop && killed) ++early;
  }
  EXPECT_EQ(between, kAtFailpoint);
  EXPECT_GT(early, 0);  // the others were done, or stopped wherever they were
  EXPECT_GE(leftovers(folder), kAtFailpoint);

  std::vector<std::string> reports;
  DiskCache cache(CacheFolder(folder),
                  [&](Severity, std::string_view text) { reports.emplace_back(text); },
                  {.lock_wait = std::chrono::milliseconds(0)});
  for (int number = 0; number < kKills; ++number) {
    const Binary binary = binary_of(number);
    if (const auto found = cache.find(binary.key)) {
      EXPECT_EQ(*found, binary) << number;
    }
    EXPECT_TRUE(cache.lock(binary.key)) << number;
    EXPECT_EQ(cache.publish(binary, "source"), cache.entry_path(binary.key)) << number;
    EXPECT_EQ(cache.find(binary.key), binary) << number;
  }
  EXPECT_THAT(reports, testing::IsEmpty());
  EXPECT_GE(CacheFolder(folder).remove_leftovers(0), kAtFailpoint);
  EXPECT_EQ(leftovers(folder), 0);
  EXPECT_EQ(CacheFolder(folder).entries().size(), static_cast<std::size_t>(kKills));
}

}  // namespace
}  // namespace vnjit
