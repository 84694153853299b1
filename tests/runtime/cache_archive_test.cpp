#include "vnjit/runtime/cache_archive.hpp"

#include <gmock/gmock.h>
#include <sys/stat.h>

#include <functional>
#include <thread>

#include "temp_dir.hpp"
#include "vnjit/runtime/binary.hpp"
#include "vnjit/runtime/byte_stream.hpp"
#include "vnjit/runtime/error.hpp"
#include "vnjit/runtime/hash.hpp"

namespace vnjit {
namespace {

namespace fs = std::filesystem;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::StartsWith;

std::string key_of(char digit) { return std::string(32, digit); }

std::string entry_of(char digit, const std::string& arch = "sm_90") {
  return to_entry({.cubin = std::string(50, digit),
                   .entry = "kernel",
                   .arch = arch,
                   .usage = {},
                   .log = {},
                   .key = key_of(digit)});
}

struct File {
  std::uint8_t kind;  // 0 entry, 1 source, 2 record
  std::string name;
  std::string content;
};

/// An archive of any files, with a checksum that is right.
std::string archive_of(const std::vector<File>& files, std::uint32_t version = 1) {
  std::string bytes = "VNJITARC";
  put_number(bytes, version);
  put_number<std::uint64_t>(bytes, files.size());
  for (const File& file : files) {
    put_number(bytes, file.kind);
    put_text(bytes, file.name);
    put_text(bytes, file.content);
  }
  put_number(bytes, hash64(bytes));
  return bytes;
}

class CacheArchiveTest : public testing::Test {
 protected:
  void SetUp() override {
    ASSERT_EQ(from.create(), 0);
    for (const char digit : {'a', 'b'}) {
      ASSERT_EQ(from.write(key_of(digit), entry_of(digit), "source"), 0);
    }
    tests::write_file(from.records_path() / "one-two.json", "{\"a\": 1}\n");
  }
  /// What import says of an archive, of which nothing is then to be written.
  std::string refusal_of(std::string_view archive) {
    try {
      import_cache(to, archive);
    } catch (const InvalidArgument& refusal) {
      EXPECT_FALSE(fs::exists(to.path()));
      return refusal.what();
    }
    return "nothing was refused";
  }
  std::string read(const CacheFolder& folder, char digit) {
    std::string why;
    return folder.read(key_of(digit), why).value_or("none");
  }

  tests::TempDir parent;
  CacheFolder from{parent / "from"};
  CacheFolder to{parent / "to"};
};

TEST_F(CacheArchiveTest, CarriesKernelsSourcesAndRecordsToAnotherFolder) {
  const CacheExport made = export_cache(from);
  EXPECT_EQ(made.kernels, 2);
  EXPECT_EQ(made.records, 1);
  EXPECT_EQ(made.damaged, 0);
  const CacheImport done = import_cache(to, made.archive);
  EXPECT_EQ(done.kernels, 2);
  EXPECT_EQ(done.records, 1);
  EXPECT_EQ(done.known, 0);
  EXPECT_EQ(read(to, 'a'), entry_of('a'));
  EXPECT_EQ(read(to, 'b'), entry_of('b'));
  EXPECT_EQ(tests::read_file(to.source_path(key_of('a'))), "source");
  EXPECT_EQ(tests::read_file(to.records_path() / "one-two.json"), "{\"a\": 1}\n");
  EXPECT_EQ(export_cache(to).archive, made.archive);
  struct stat status {};
  ASSERT_EQ(::stat(to.records_path().c_str(), &status), 0);
  EXPECT_EQ(status.st_mode & 07777, 0700u);
}

TEST_F(CacheArchiveTest, WhatIsThereStays) {
  import_cache(to, export_cache(from).archive);
  tests::write_file(to.records_path() / "one-two.json", "{\"a\": 2}\n");
  ASSERT_EQ(to.write(key_of('b'), "damaged", ""), 0);
  const CacheImport done = import_cache(to, export_cache(from).archive);
  EXPECT_EQ(done.kernels, 1);
  EXPECT_EQ(done.records, 0);
  EXPECT_EQ(done.known, 2);
  EXPECT_EQ(read(to, 'b'), entry_of('b'));
  EXPECT_EQ(tests::read_file(to.records_path() / "one-two.json"), "{\"a\": 2}\n");
}

TEST_F(CacheArchiveTest, DamagedEntriesAndOtherFilesAreLeftOut) {
  ASSERT_EQ(from.write(key_of('c'), "damaged", ""), 0);
  ASSERT_EQ(from.write(key_of('d'), entry_of('a'), ""), 0);
  tests::write_file(from.path() / "notes.txt", "not the cache's");
  const CacheExport made = export_cache(from);
  EXPECT_EQ(made.kernels, 2);
  EXPECT_EQ(made.damaged, 2);
}

TEST_F(CacheArchiveTest, HoldsOneArchitectureOnRequest) {
  ASSERT_EQ(from.write(key_of('c'), entry_of('c', "sm_90a"), ""), 0);
  ASSERT_EQ(from.write(key_of('d'), entry_of('d', "sm_80"), ""), 0);
  EXPECT_EQ(export_cache(from, "sm_90").kernels, 3);
  EXPECT_EQ(export_cache(from, "sm_80").kernels, 1);
  EXPECT_EQ(export_cache(from, "sm_75").kernels, 0);
}

TEST_F(CacheArchiveTest, AnEmptyOrMissingCacheIsAnArchiveOfNothing) {
  const CacheExport made = export_cache(to);
  EXPECT_EQ(made.kernels, 0);
  EXPECT_FALSE(fs::exists(to.path()));
  EXPECT_EQ(import_cache(to, made.archive).kernels, 0);
}

TEST_F(CacheArchiveTest, EveryTruncationAndEveryFlippedBitIsRefused) {
  const std::string archive = archive_of({{0, key_of('a'), entry_of('a')}, {2, "r.json", "{}"}});
  for (std::size_t size = 0; size < archive.size(); ++size) {
    EXPECT_THAT(refusal_of(std::string_view(archive).substr(0, size)),
                StartsWith("cache archive: "))
        << size;
  }
  for (std::size_t bit = 0; bit < 8 * archive.size(); ++bit) {
    std::string damaged = archive;
    damaged[bit / 8] = static_cast<char>(damaged[bit / 8] ^ (1 << bit % 8));
    EXPECT_THAT(refusal_of(damaged), StartsWith("cache archive: ")) << bit;
  }
}

TEST_F(CacheArchiveTest, WhatMustNotBeWrittenIsRefusedByName) {
  const File good{0, key_of('a'), entry_of('a')};
  EXPECT_EQ(refusal_of(archive_of({good, {0, "../" + key_of('a').substr(3), entry_of('a')}})),
            "cache archive: '../aaaaaaaaaaaaaaaaaaaaaaaaaaaaa' is no cache key");
  EXPECT_EQ(refusal_of(archive_of({good, {0, key_of('b'), entry_of('a')}})),
            "cache archive: the entry of " + key_of('b') + " is that of " + key_of('a'));
  EXPECT_EQ(refusal_of(archive_of({good, {0, key_of('b'), "rubbish"}})),
            "cache entry: 7 bytes are too few");
  EXPECT_EQ(refusal_of(archive_of({good, good})),
            "cache archive: it holds " + key_of('a') + " twice");
  EXPECT_EQ(refusal_of(archive_of({good, {1, key_of('b'), "source"}})),
            "cache archive: '" + key_of('b') + "' is a source without an entry");
  for (const std::string name :
       {"../r.json", "a/b.json", ".hidden.json", "r.txt", ".json", "", "a b.json", "a\n.json"}) {
    EXPECT_EQ(refusal_of(archive_of({good, {2, name, "{}"}})),
              "cache archive: '" + name + "' is no name of a tuning record");
  }
  EXPECT_THAT(refusal_of(archive_of({good, {2, std::string(300, 'r') + ".json", "{}"}})),
              HasSubstr("is no name of a tuning record"));
  EXPECT_EQ(refusal_of(archive_of({good, {9, "x", "{}"}})),
            "cache archive: file x is of unknown kind 9");
  EXPECT_EQ(refusal_of(archive_of({good}, 2)), "cache archive: its format version is 2, not 1");
  EXPECT_EQ(refusal_of("some text"), "cache archive: it is not one of vnjit's");
}

TEST_F(CacheArchiveTest, SizesThatCannotBeAreRefusedWhateverTheChecksum) {
  std::string bytes = "VNJITARC";
  put_number<std::uint32_t>(bytes, 1);
  put_number<std::uint64_t>(bytes, ~std::uint64_t{0});
  put_number<std::uint8_t>(bytes, 0);
  put_number<std::uint64_t>(bytes, std::uint64_t{1} << 62);
  put_number(bytes, hash64(bytes));
  EXPECT_EQ(refusal_of(bytes), "cache archive: it is cut short");
}

TEST_F(CacheArchiveTest, AFolderThatMustNotBeUsedIsSaidAndLeftAlone) {
  ASSERT_EQ(to.create(), 0);
  ASSERT_EQ(::chmod(to.path().c_str(), 0777), 0);
  for (const auto& use : std::vector<std::function<void()>>{
           [&] { export_cache(to); }, [&] { import_cache(to, export_cache(from).archive); }}) {
    EXPECT_THAT(
        use, testing::ThrowsMessage<Error>(AllOf(
                 HasSubstr(to.path().string()), HasSubstr("its group or others may write to it"))));
  }
  EXPECT_THAT(to.entries(), IsEmpty());
}

TEST_F(CacheArchiveTest, EightThreadsImportAtOnce) {
  const std::string archive = export_cache(from).archive;
  std::vector<std::thread> threads;
  for (int n = 0; n < 8; ++n) threads.emplace_back([&] { import_cache(to, archive); });
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(export_cache(to).archive, archive);
  EXPECT_EQ(to.remove_leftovers(0), 0);
}

}  // namespace
}  // namespace vnjit
