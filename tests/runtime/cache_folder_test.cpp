#include "vnjit/runtime/cache_folder.hpp"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <sys/stat.h>
#include <unistd.h>

#include <chrono>
#include <thread>

#include "temp_dir.hpp"
#include "vnjit/runtime/file_descriptor.hpp"

namespace vnjit {
namespace {

namespace fs = std::filesystem;
using testing::ElementsAre;
using testing::IsEmpty;
using testing::UnorderedElementsAre;

std::string key_of(char digit) { return std::string(32, digit); }

class CacheFolderTest : public testing::Test {
 protected:
  void SetUp() override { ASSERT_EQ(folder.create(), 0); }

  void write(char digit, std::size_t bytes) {
    ASSERT_EQ(folder.write(key_of(digit), std::string(bytes, 'e'), "s"), 0);
  }
  /// Seconds since the entry was used, as far as the file says.
  void set_age(const fs::path& file, std::int64_t seconds) {
    const timespec then{.tv_sec = ::time(nullptr) - seconds, .tv_nsec = 0};
    const timespec times[] = {then, then};
    ASSERT_EQ(::utimensat(AT_FDCWD, file.c_str(), times, 0), 0);
  }
  std::int64_t age(char digit) {
    struct stat status {};
    EXPECT_EQ(::stat(folder.entry_path(key_of(digit)).c_str(), &status), 0);
    return ::time(nullptr) - status.st_mtime;
  }
  std::vector<char> left() const {
    std::vector<char> digits;
    for (const CacheEntry& entry : folder.entries()) digits.push_back(entry.key.front());
    return digits;
  }
  std::vector<std::string> files() const {
    std::vector<std::string> names;
    for (const auto& entry : fs::directory_iterator(folder.path())) {
      names.push_back(entry.path().filename());
    }
    return names;
  }
  std::string reason(char digit) {
    std::string why = "not set";
    EXPECT_EQ(folder.read(key_of(digit), why), std::nullopt);
    return why;
  }

  tests::TempDir parent;
  CacheFolder folder{parent / "cache"};
};

TEST_F(CacheFolderTest, ReadsWhatWasWritten) {
  write('a', 100);
  std::string why;
  EXPECT_EQ(folder.read(key_of('a'), why), std::string(100, 'e'));
  EXPECT_EQ(why, "");
  EXPECT_EQ(reason('b'), "");
  EXPECT_THAT(files(), UnorderedElementsAre(key_of('a') + ".cubin", key_of('a') + ".cu"));
}

TEST_F(CacheFolderTest, ListsEntriesTheLeastRecentlyUsedFirst) {
  write('a', 100);
  write('b', 200);
  write('c', 300);
  set_age(folder.entry_path(key_of('b')), 50);
  set_age(folder.entry_path(key_of('a')), 10);
  tests::write_file(folder.path() / "notes.txt", "not the cache's");
  tests::write_file(folder.path() / "short.cubin", "no key");
  const std::vector<CacheEntry> entries = folder.entries();
  EXPECT_THAT(left(), ElementsAre('b', 'a', 'c'));
  EXPECT_EQ(entries.at(0).key, key_of('b'));
  EXPECT_EQ(entries.at(0).bytes, 201);
  EXPECT_LT(entries.at(0).used, entries.at(1).used);
}

TEST_F(CacheFolderTest, EvictsTheLeastRecentlyUsedDownToTheTarget) {
  for (const char digit : {'a', 'b', 'c', 'd'}) write(digit, 99);
  set_age(folder.entry_path(key_of('c')), 300);
  set_age(folder.entry_path(key_of('a')), 200);
  set_age(folder.entry_path(key_of('b')), 100);
  EXPECT_EQ(folder.evict(400, 200), 400);
  EXPECT_THAT(left(), ElementsAre('c', 'a', 'b', 'd'));
  EXPECT_EQ(folder.evict(399, 250), 200);
  EXPECT_THAT(left(), ElementsAre('b', 'd'));
  EXPECT_FALSE(fs::exists(folder.source_path(key_of('c'))));
}

TEST_F(CacheFolderTest, NeverEvictsWhatIsToBeKeptOrIsNotItsOwn) {
  write('a', 99);
  write('b', 99);
  set_age(folder.entry_path(key_of('a')), 100);
  tests::write_file(folder.path() / "notes.txt", "not the cache's");
  tests::write_file(folder.records_path() / "record.json", "{}");
  EXPECT_EQ(folder.evict(1, 1, key_of('a')), 100);
  EXPECT_THAT(left(), ElementsAre('a'));
  EXPECT_TRUE(fs::exists(folder.path() / "notes.txt"));
  EXPECT_TRUE(fs::exists(folder.records_path() / "record.json"));
}

TEST_F(CacheFolderTest, AReaderKeepsWhatItOpenedWhileItIsEvicted) {
  write('a', 99);
  const FileDescriptor reader(::open(folder.entry_path(key_of('a')).c_str(), O_RDONLY));
  folder.evict(0, 0);
  std::string bytes(200, '\0');
  EXPECT_EQ(::read(reader.get(), bytes.data(), bytes.size()), 99);
  EXPECT_EQ(reason('a'), "");
}

TEST_F(CacheFolderTest, AReadMarksAnEntryAsUsedOnceAnHour) {
  write('a', 9);
  std::string why;
  set_age(folder.entry_path(key_of('a')), 3000);
  folder.read(key_of('a'), why);
  EXPECT_GE(age('a'), 3000);
  set_age(folder.entry_path(key_of('a')), 4000);
  folder.read(key_of('a'), why);
  EXPECT_LE(age('a'), 10);
}

TEST_F(CacheFolderTest, LeftoversAreRemovedOnceTheyAreOld) {
  write('a', 9);
  const fs::path young = folder.path() / (key_of('b') + ".cubin.aZ09xy");
  const fs::path old = folder.path() / (key_of('c') + ".cubin.aZ09xy");
  const fs::path old_source = folder.path() / (key_of('c') + ".cu.aZ09xy");
  const fs::path other = folder.path() / "notes.cubin.aZ09xy";
  for (const fs::path& file : {young, old, old_source, other}) tests::write_file(file, "half");
  for (const fs::path& file : {old, old_source, other}) set_age(file, 4000);
  folder.evict(1000, 1000);
  EXPECT_TRUE(fs::exists(young));
  EXPECT_FALSE(fs::exists(old));
  EXPECT_FALSE(fs::exists(old_source));
  EXPECT_TRUE(fs::exists(other));
  EXPECT_EQ(folder.remove_leftovers(0), 1);
  EXPECT_FALSE(fs::exists(young));
  EXPECT_THAT(left(), ElementsAre('a'));
}

TEST_F(CacheFolderTest, AnEntryThatOthersMayWriteToIsNotRead) {
  write('a', 9);
  for (const mode_t mode : {0620, 0602}) {
    ASSERT_EQ(::chmod(folder.entry_path(key_of('a')).c_str(), mode), 0);
    EXPECT_EQ(reason('a'), "its group or others may write to it (chmod go-w makes it usable)");
  }
}

TEST_F(CacheFolderTest, AnEntryOfAnotherUserIsNotRead) {
  if (::geteuid() != 0) GTEST_SKIP() << "only root gives files away";
  write('a', 9);
  ASSERT_EQ(::chown(folder.entry_path(key_of('a')).c_str(), 12345, 12345), 0);
  EXPECT_EQ(reason('a'), "it belongs to user 12345, not to user 0, who runs this");
}

TEST_F(CacheFolderTest, ALinkIsNotFollowed) {
  tests::write_file(parent / "elsewhere", "bytes");
  fs::create_symlink(parent / "elsewhere", folder.entry_path(key_of('a')));
  EXPECT_EQ(reason('a'), "it is a symbolic link");
  write('a', 9);
  std::string why;
  EXPECT_EQ(folder.read(key_of('a'), why), std::string(9, 'e'));
  EXPECT_EQ(tests::read_file(parent / "elsewhere"), "bytes");
}

TEST_F(CacheFolderTest, AHitIsOneRead) {
  write('a', 3'000'000);
  const auto reads = [] {
    const std::string io = tests::read_file("/proc/thread-self/io");
    return std::stol(io.substr(io.find("syscr: ") + 7));
  };
  if (!fs::exists("/proc/thread-self/io")) GTEST_SKIP() << "this kernel counts no reads";
  const long before = reads();
  const long of_counting = reads() - before;
  std::string why;
  const long start = reads();
  ASSERT_TRUE(folder.read(key_of('a'), why));
  EXPECT_EQ(reads() - start - of_counting, 1);
}

TEST_F(CacheFolderTest, NothingIsWrittenBelowALongName) {
  const CacheFolder deep(parent / std::string(300, 'x'));
  EXPECT_EQ(deep.create(), ENAMETOOLONG);
  EXPECT_EQ(deep.write(key_of('a'), "e", "s"), ENAMETOOLONG);
  EXPECT_THAT(deep.entries(), IsEmpty());
}

TEST(CacheKeyNames, AreThirtyTwoHexadecimalDigits) {
  EXPECT_TRUE(is_cache_key("0123456789abcdef0123456789abcdef"));
  EXPECT_FALSE(is_cache_key("0123456789abcdef0123456789abcde"));
  EXPECT_FALSE(is_cache_key("0123456789abcdef0123456789abcdeF"));
  EXPECT_FALSE(is_cache_key("../3456789abcdef0123456789abcdef"));
  EXPECT_FALSE(is_cache_key(""));
}

}  // namespace
}  // namespace vnjit
