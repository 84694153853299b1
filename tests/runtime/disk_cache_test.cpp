#include "vnjit/runtime/disk_cache.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/stat.h>

#include <thread>
#include <vector>

#include "child_process.hpp"
#include "temp_dir.hpp"

namespace vnjit {
namespace {

namespace fs = std::filesystem;
using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;
using testing::UnorderedElementsAre;

Binary some_binary(char filling = 'x', std::string key = "key") {
  return {.cubin = std::string(20'000, filling),
          .entry = "kernel",
          .arch = "sm_90",
          .usage = {.registers = 32},
          .log = "log",
          .key = std::move(key)};
}

class DiskCacheTest : public testing::Test {
 protected:
  DiskCache::Report report() {
    return [this](Severity, std::string_view message) { reports.emplace_back(message); };
  }
  std::vector<std::string> files() const {
    std::vector<std::string> names;
    for (const auto& entry : fs::directory_iterator(folder)) {
      names.push_back(entry.path().filename());
    }
    return names;
  }
  mode_t mode(const fs::path& path) const {
    struct stat status {};
    EXPECT_EQ(::stat(path.c_str(), &status), 0) << path;
    return status.st_mode & 07777;
  }
  /// A cache in `place` keeps nothing on disk and says so once, with `reason`.
  void expect_unused(const fs::path& place, const std::string& reason) {
    DiskCache cache(place, report());
    for (int i = 0; i < 2; ++i) {
      EXPECT_EQ(cache.find("k"), std::nullopt);
      EXPECT_FALSE(cache.lock("k"));
      EXPECT_EQ(cache.publish(some_binary('x', "k"), "source"), "");
    }
    EXPECT_THAT(reports, ElementsAre(AllOf(HasSubstr(place.string()), HasSubstr(reason),
                                           HasSubstr("Kernels are kept in memory only"),
                                           HasSubstr("set VNJIT_CACHE_DIR"))));
  }

  tests::TempDir parent;
  fs::path folder = parent / "new/cache dir";
  std::vector<std::string> reports;
};

TEST_F(DiskCacheTest, FindsWhatWasPublished) {
  DiskCache cache(folder, report());
  EXPECT_EQ(cache.find("key"), std::nullopt);
  EXPECT_EQ(cache.publish(some_binary(), "the source"), folder / "key.cubin");
  EXPECT_EQ(cache.find("key"), some_binary());
  EXPECT_EQ(cache.find("other"), std::nullopt);
  EXPECT_EQ(DiskCache(folder, report()).find("key"), some_binary());
  EXPECT_THAT(reports, IsEmpty());
}

TEST_F(DiskCacheTest, AnEntryIsOneFileWithItsSourceBesideIt) {
  DiskCache(folder, report()).publish(some_binary(), "the source");
  EXPECT_THAT(files(), UnorderedElementsAre("key.cubin", "key.cu"));
  EXPECT_EQ(tests::read_file(folder / "key.cu"), "the source");
  EXPECT_EQ(from_entry(tests::read_file(folder / "key.cubin")), some_binary());
  fs::remove(folder / "key.cu");
  EXPECT_EQ(DiskCache(folder, report()).find("key"), some_binary());
}

TEST_F(DiskCacheTest, TouchesNothingBeforeAKernelIsCompiled) {
  DiskCache cache(folder, report());
  EXPECT_EQ(cache.find("key"), std::nullopt);
  EXPECT_FALSE(fs::exists(parent / "new"));
}

TEST_F(DiskCacheTest, FoldersAndFilesAreForTheirOwnerAlone) {
  const mode_t umask_before = ::umask(0);
  DiskCache(folder, report()).publish(some_binary(), "source");
  ::umask(umask_before);
  EXPECT_EQ(mode(parent / "new"), 0700u);
  EXPECT_EQ(mode(folder), 0700u);
  EXPECT_EQ(mode(folder / "key.cubin"), 0600u);
}

TEST_F(DiskCacheTest, WithoutAFolderHoldsNothingAndSaysNothing) {
  DiskCache cache("", report());
  EXPECT_EQ(cache.publish(some_binary(), "source"), "");
  EXPECT_EQ(cache.find("key"), std::nullopt);
  EXPECT_FALSE(cache.lock("key"));
  EXPECT_THAT(reports, IsEmpty());
}

TEST_F(DiskCacheTest, ADamagedEntryIsAMissIsReportedOnceAndIsReplaced) {
  DiskCache cache(folder, report());
  cache.publish(some_binary(), "source");
  const std::string whole = tests::read_file(folder / "key.cubin");
  std::string flipped = whole;
  flipped[100] = 'y';
  const std::vector<std::pair<std::string, std::string>> damages{
      {"", "0 bytes are too few"},
      {whole.substr(0, whole.size() / 2), "it has no trailer"},
      {flipped, "its checksum does not match its bytes"},
      {"plain text that is long enough to be an entry", "it has no trailer"}};
  for (const auto& [bytes, reason] : damages) {
    reports.clear();
    DiskCache reader(folder, report());
    tests::write_file(folder / "key.cubin", bytes);
    EXPECT_EQ(reader.find("key"), std::nullopt);
    EXPECT_EQ(reader.find("key"), std::nullopt);
    EXPECT_THAT(reports,
                ElementsAre(AllOf(HasSubstr((folder / "key.cubin").string()), HasSubstr(reason),
                                  HasSubstr("is not used and will be replaced"))));
    reader.publish(some_binary('z'), "source");
    EXPECT_EQ(reader.find("key"), some_binary('z'));
  }
}

TEST_F(DiskCacheTest, AnEntryThatIsNoFileIsAMissAndIsReportedOnce) {
  fs::create_directories(folder);
  ASSERT_EQ(::mkfifo((folder / "fifo.cubin").c_str(), 0600), 0);
  fs::create_directory(folder / "folder.cubin");
  DiskCache cache(folder, report());
  for (const char* key : {"fifo", "folder", "fifo", "folder"}) {
    EXPECT_EQ(cache.find(key), std::nullopt);
  }
  EXPECT_THAT(reports, SizeIs(2));
}

TEST_F(DiskCacheTest, AFileInPlaceOfTheFolderLeavesTheCacheInMemory) {
  tests::write_file(parent / "file", "");
  expect_unused(parent / "file", "it is not a directory");
}

TEST_F(DiskCacheTest, AFolderBelowAFileLeavesTheCacheInMemory) {
  tests::write_file(parent / "file", "");
  expect_unused(parent / "file/cache", "Not a directory");
}

TEST_F(DiskCacheTest, AFolderThatCannotBeCreatedLeavesTheCacheInMemory) {
  expect_unused("/proc/vnjit/cache", "it cannot be created (No such file or directory)");
}

TEST_F(DiskCacheTest, AFolderOfAnotherUserIsNotUsed) {
  fs::path other = "/usr";
  if (::geteuid() == 0) {
    other = parent / "other";
    fs::create_directory(other);
    tests::write_file(other / "k.cubin", to_entry(some_binary('x', "k")));
    ASSERT_EQ(::chown(other.c_str(), 12345, 12345), 0);
  }
  expect_unused(other, "it belongs to user " + std::string(::geteuid() == 0 ? "12345" : "0"));
}

TEST_F(DiskCacheTest, AFolderThatOthersMayWriteToIsNotUsed) {
  fs::create_directory(parent / "open");
  tests::write_file(parent / "open/k.cubin", to_entry(some_binary('x', "k")));
  for (const fs::perms writer : {fs::perms::group_write, fs::perms::others_write}) {
    reports.clear();
    fs::permissions(parent / "open", fs::perms::owner_all | writer);
    expect_unused(parent / "open", "its group or others may write to it (chmod go-w");
  }
  fs::permissions(parent / "open", fs::perms::owner_all);
  EXPECT_EQ(DiskCache(parent / "open", report()).find("k"), some_binary('x', "k"));
}

TEST_F(DiskCacheTest, AFailedWriteLeavesNoFileAndKeepsWhatIsThere) {
  DiskCache cache(folder, report());
  cache.publish(some_binary('x', "old"), "source");
  // A limit on file sizes fails as a full disk does: in the middle of the write.
  rlimit before{};
  ASSERT_EQ(::getrlimit(RLIMIT_FSIZE, &before), 0);
  const auto handler = ::signal(SIGXFSZ, SIG_IGN);
  const rlimit small{10'000, before.rlim_max};
  ASSERT_EQ(::setrlimit(RLIMIT_FSIZE, &small), 0);
  const fs::path first = cache.publish(some_binary('x', "new"), "source");
  const fs::path second = cache.publish(some_binary('x', "new"), "source");
  ::setrlimit(RLIMIT_FSIZE, &before);
  ::signal(SIGXFSZ, handler);

  EXPECT_EQ(first, "");
  EXPECT_EQ(second, "");
  EXPECT_THAT(reports, ElementsAre(HasSubstr("an entry cannot be written (File too large)")));
  EXPECT_THAT(files(), UnorderedElementsAre("old.cubin", "old.cu", "new.cu"));
  EXPECT_EQ(cache.find("old"), some_binary('x', "old"));
  EXPECT_EQ(cache.publish(some_binary('x', "new"), "source"), folder / "new.cubin");
}

TEST_F(DiskCacheTest, AFolderThatVanishedIsMadeAgain) {
  DiskCache cache(folder, report());
  cache.publish(some_binary(), "source");
  fs::remove_all(parent / "new");
  EXPECT_EQ(cache.find("key"), std::nullopt);
  EXPECT_EQ(cache.publish(some_binary(), "source"), folder / "key.cubin");
  EXPECT_THAT(reports, IsEmpty());
}

TEST_F(DiskCacheTest, ReadersSeeAWholeEntryOrNoneWhileThreadsAndProcessesPublishIt) {
  constexpr int kRounds = 50;
  const auto publish_and_read = [&](DiskCache& cache, char filling) {
    int bad = 0;
    for (int round = 0; round < kRounds; ++round) {
      bad += cache.publish(some_binary(filling), "source") != folder / "key.cubin";
      const auto found = cache.find("key");
      bad += !found || *found != some_binary(found->cubin.front());
    }
    return bad;
  };
  const auto in_process = [&](char filling) {
    return [&, filling] {
      DiskCache cache(folder, report());
      return publish_and_read(cache, filling) + static_cast<int>(reports.size());
    };
  };
  const pid_t first = tests::start_child(in_process('a'));
  const pid_t second = tests::start_child(in_process('b'));

  DiskCache cache(folder, [](Severity, std::string_view) { ADD_FAILURE(); });
  std::vector<int> bad(8);
  std::vector<std::thread> threads;
  for (std::size_t i = 0; i < bad.size(); ++i) {
    threads.emplace_back([&, i] { bad[i] = publish_and_read(cache, static_cast<char>('c' + i)); });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_THAT(bad, testing::Each(0));
  EXPECT_EQ(tests::exit_status(first), 0);
  EXPECT_EQ(tests::exit_status(second), 0);
  EXPECT_THAT(files(), UnorderedElementsAre("key.cubin", "key.cu"));
}

TEST_F(DiskCacheTest, ALockKeepsOtherHoldersOfItsKeyWaiting) {
  DiskCache cache(folder, report());
  std::atomic<bool> released = false;
  FileDescriptor held = cache.lock("key");
  ASSERT_TRUE(held);
  std::thread waiter([&] {
    const FileDescriptor lock = DiskCache(folder, report()).lock("key");
    EXPECT_TRUE(lock);
    EXPECT_TRUE(released);
  });
  EXPECT_TRUE(cache.lock("another key"));
  std::this_thread::sleep_for(std::chrono::milliseconds(30));
  released = true;
  held = FileDescriptor();
  waiter.join();
  EXPECT_THAT(reports, IsEmpty());
  EXPECT_THAT(files(), ElementsAre("lock"));
}

TEST_F(DiskCacheTest, AProcessWaitsForALockOnlySoLong) {
  DiskCache cache(folder, report());
  const FileDescriptor held = cache.lock("key");
  const pid_t child = tests::start_child([&] {
    DiskCache impatient(CacheFolder(folder), report(),
                        {.lock_wait = std::chrono::milliseconds(20)});
    const bool locked = static_cast<bool>(impatient.lock("key"));
    return !locked && reports.size() == 1 &&
                   reports[0] == "waited 20 ms for another compilation of " +
                                     (folder / "key.cubin").string() + "; compiling it here too"
               ? 0
               : 1;
  });
  EXPECT_EQ(tests::exit_status(child), 0);
}

TEST_F(DiskCacheTest, ALockIsFreeOnceItsProcessIsDead) {
  const pid_t child = tests::start_child([&] {
    new FileDescriptor(DiskCache(folder, report()).lock("key"));
    return 0;
  });
  ASSERT_EQ(tests::exit_status(child), 0);
  EXPECT_TRUE(DiskCache(CacheFolder(folder), report(), {.lock_wait = std::chrono::milliseconds(0)})
                  .lock("key"));
}

TEST_F(DiskCacheTest, GoesOnWhereThereIsNothingToLock) {
  fs::create_directories(folder / "lock");
  EXPECT_FALSE(DiskCache(folder, report()).lock("key"));
  EXPECT_THAT(reports, IsEmpty());
}

}  // namespace
}  // namespace vnjit
