#include <gmock/gmock.h>
#include <grp.h>
#include <sched.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <functional>

#include "child_process.hpp"
#include "temp_dir.hpp"
#include "vnjit/runtime/disk_cache.hpp"

// What surrounds a cache and may hurt it: full disks, rights, odd names.

namespace vnjit {
namespace {

namespace fs = std::filesystem;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;

constexpr int kCannot = 77;  // exit status of a child that may not do what its test needs

Binary some_binary(char digit, std::size_t bytes = 20'000) {
  return {.cubin = std::string(bytes, 'x'),
          .entry = "kernel",
          .arch = "sm_90",
          .usage = {},
          .log = "log",
          .key = std::string(32, digit)};
}

struct Reports {
  std::vector<std::string> texts;
  DiskCache::Report report() {
    return [this](Severity, std::string_view text) { texts.emplace_back(text); };
  }
};

TEST(CacheSurroundings, AFullDiskLeavesTheCacheInMemoryWithOneWarning) {
  const tests::TempDir parent;
  const fs::path folder = parent / "small disk";
  fs::create_directory(folder);
  const pid_t child = tests::start_child([&] {
    const int space = CLONE_NEWNS | (::geteuid() == 0 ? 0 : CLONE_NEWUSER);
    if (::unshare(space) != 0) return kCannot;
    ::mount(nullptr, "/", nullptr, MS_REC | MS_PRIVATE, nullptr);
    if (::mount("none", folder.c_str(), "tmpfs", 0, "size=64k,mode=0700") != 0) return kCannot;
    Reports reports;
    DiskCache cache(folder, reports.report());
    if (cache.publish(some_binary('a'), "source").empty()) return 1;
    if (!cache.publish(some_binary('b', 200'000), "source").empty()) return 2;
    if (!cache.publish(some_binary('c', 200'000), "source").empty()) return 3;
    if (cache.find(std::string(32, 'a')) != some_binary('a')) return 4;
    if (cache.find(std::string(32, 'b'))) return 5;
    if (reports.texts.size() != 1) return 6;
    if (reports.texts[0].find("(No space left on device)") == std::string::npos) return 7;
    return CacheFolder(folder).remove_leftovers(0);  // 0: nothing half-written stays
  });
  const int status = tests::exit_status(child);
  if (status == kCannot) GTEST_SKIP() << "this user may not mount a file system of its own";
  EXPECT_EQ(status, 0);
}

TEST(CacheSurroundings, AReadOnlyFolderIsReadAndNotWrittenWithOneWarning) {
  const tests::TempDir parent;
  const fs::path folder = parent / "cache";
  const auto as_ordinary_user = [&] {
    if (::geteuid() != 0) return true;
    return ::chown(parent.path().c_str(), 12345, 12345) == 0 && ::setgroups(0, nullptr) == 0 &&
           ::setresgid(12345, 12345, 12345) == 0 && ::setresuid(12345, 12345, 12345) == 0;
  };
  const pid_t child = tests::start_child([&] {
    if (!as_ordinary_user()) return kCannot;
    Reports reports;
    DiskCache(folder, reports.report()).publish(some_binary('a'), "source");
    if (::chmod(folder.c_str(), 0500) != 0) return 1;
    DiskCache cache(folder, reports.report());
    if (cache.find(std::string(32, 'a')) != some_binary('a')) return 2;
    if (!cache.publish(some_binary('b'), "source").empty()) return 3;
    if (!cache.publish(some_binary('c'), "source").empty()) return 4;
    if (reports.texts.size() != 1) return 5;
    if (reports.texts[0].find("(Permission denied)") == std::string::npos) return 6;
    ::chmod(folder.c_str(), 0700);
    return 0;
  });
  const int status = tests::exit_status(child);
  if (status == kCannot) GTEST_SKIP() << "this process may not become another user";
  EXPECT_EQ(status, 0);
}

TEST(CacheSurroundings, AnEntryUnderTheNameOfAnotherKeyIsAMissReportedOnce) {
  const tests::TempDir parent;
  Reports reports;
  DiskCache cache(parent.path(), reports.report());
  cache.publish(some_binary('a'), "source");
  const std::string other(32, 'b');
  fs::copy_file(cache.entry_path(std::string(32, 'a')), cache.entry_path(other));
  EXPECT_EQ(cache.find(other), std::nullopt);
  EXPECT_EQ(cache.find(other), std::nullopt);
  EXPECT_THAT(reports.texts, SizeIs(1));
  EXPECT_THAT(reports.texts.front(),
              HasSubstr("will be replaced: cache entry: it is that of key aaaaaaaaaaaaaaaa"));
  cache.publish(some_binary('b'), "source");
  EXPECT_EQ(cache.find(other), some_binary('b'));
}

TEST(CacheSurroundings, PathsWithSpacesQuotesAndOtherLettersWork) {
  const tests::TempDir parent;
  for (const char* name :
       {"with space", "it's \"quoted\"", "d\xC3\xA9j\xC3\xA0 \xE6\xBC\xA2\xE5\xAD\x97", "new\nline",
        "-rf", "%s{}$HOME"}) {
    Reports reports;
    DiskCache cache(parent / name / "cache", reports.report());
    EXPECT_NE(cache.publish(some_binary('a'), "source"), "") << name;
    EXPECT_EQ(cache.find(std::string(32, 'a')), some_binary('a')) << name;
    EXPECT_THAT(reports.texts, IsEmpty()) << name;
  }
}

TEST(CacheSurroundings, StaysWithinItsBoundAndKeepsWhatItHasJustWritten) {
  const tests::TempDir parent;
  Reports reports;
  // Room for four entries of about 20,100 bytes; nine tenths of it hold three.
  DiskCache cache(CacheFolder(parent.path()), reports.report(), {.bytes = 85'000});
  for (const char digit : {'1', '2', '3', '4', '5', '6', '7', '8', '9'}) {
    ASSERT_NE(cache.publish(some_binary(digit), "source"), "");
    EXPECT_EQ(cache.find(std::string(32, digit)), some_binary(digit));
    EXPECT_LE(CacheFolder(parent.path()).entries().size(), 4u);
  }
  ASSERT_NE(cache.publish(some_binary('a', 200'000), "source"), "");
  EXPECT_EQ(cache.find(std::string(32, 'a')), some_binary('a', 200'000));
  EXPECT_THAT(CacheFolder(parent.path()).entries(), SizeIs(1));
  EXPECT_THAT(reports.texts, IsEmpty());
}

TEST(CacheSurroundings, TwoProcessesStayWithinOneBoundTogether) {
  const tests::TempDir parent;
  const auto publish = [&](char first) {
    DiskCache cache(CacheFolder(parent.path()), {}, {.bytes = 85'000});
    for (int n = 0; n < 40; ++n) {
      if (cache.publish(some_binary(static_cast<char>(first + n % 5)), "source").empty()) return 1;
    }
    return 0;
  };
  const pid_t one = tests::start_child([&] { return publish('0'); });
  const pid_t other = tests::start_child([&] { return publish('5'); });
  EXPECT_EQ(tests::exit_status(one), 0);
  EXPECT_EQ(tests::exit_status(other), 0);
  DiskCache cache(CacheFolder(parent.path()), {}, {.bytes = 85'000});
  EXPECT_NE(cache.publish(some_binary('a'), "source"), "");
  EXPECT_LE(CacheFolder(parent.path()).entries().size(), 4u);
}

}  // namespace
}  // namespace vnjit
