#include "vnjit/runtime/build_id.hpp"

#include <elf.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstring>
#include <string_view>

#include "temp_dir.hpp"
#include "vnjit/runtime/error.hpp"

namespace vnjit {
namespace {

using testing::StartsWith;

template <typename T>
std::string bytes_of(const T& value) {
  return {reinterpret_cast<const char*>(&value), sizeof(T)};
}

std::string note(std::string_view name, std::uint32_t type, std::string_view content) {
  const Elf64_Nhdr header{static_cast<Elf64_Word>(name.size()),
                          static_cast<Elf64_Word>(content.size()), type};
  std::string bytes = bytes_of(header);
  for (const std::string_view part : {name, content}) {
    bytes += part;
    bytes.resize((bytes.size() + 3) / 4 * 4);
  }
  return bytes;
}

/// An ELF file with one note segment of the given bytes.
std::string elf_with(const std::string& notes) {
  Elf64_Ehdr header{};
  std::memcpy(header.e_ident, ELFMAG, SELFMAG);
  header.e_ident[EI_CLASS] = ELFCLASS64;
  header.e_phoff = sizeof(Elf64_Ehdr);
  header.e_phentsize = sizeof(Elf64_Phdr);
  header.e_phnum = 2;
  Elf64_Phdr load{};
  load.p_type = PT_LOAD;
  Elf64_Phdr segment{};
  segment.p_type = PT_NOTE;
  segment.p_offset = sizeof(Elf64_Ehdr) + 2 * sizeof(Elf64_Phdr);
  segment.p_filesz = notes.size();
  return bytes_of(header) + bytes_of(load) + bytes_of(segment) + notes;
}

constexpr std::string_view kGnu("GNU\0", 4);

class BuildId : public testing::Test {
 protected:
  std::string id_of(const std::string& bytes, const char* name = "lib.so") {
    tests::write_file(folder / name, bytes);
    return build_id(folder / name);
  }

  tests::TempDir folder;
};

TEST_F(BuildId, IsTheNoteOfTheElfFile) {
  const std::string notes = note("stapsdt", 3, "abcdef") + note(kGnu, NT_GNU_ABI_TAG, "1234") +
                            note(kGnu, NT_GNU_BUILD_ID, "\x65\xBE\x0D\xFF\x01");
  EXPECT_EQ(id_of(elf_with(notes)), "65be0dff01");
}

TEST_F(BuildId, DoesNotDependOnThePath) {
  const std::string bytes = elf_with("");
  EXPECT_EQ(id_of(bytes, "a b.so"), id_of(bytes, "c.so"));
}

TEST_F(BuildId, WithoutANoteIsAHashOfTheContent) {
  const std::string plain = elf_with(note(kGnu, NT_GNU_ABI_TAG, "1234"));
  const std::string id = id_of(plain);
  EXPECT_THAT(id, StartsWith("xxh3:"));
  EXPECT_EQ(id.size(), 5u + 32u);
  EXPECT_NE(id_of(plain + "x"), id);
  EXPECT_NE(id_of("y" + plain), id);
  EXPECT_THAT(id_of(""), StartsWith("xxh3:"));
  EXPECT_THAT(id_of("plain text"), StartsWith("xxh3:"));
}

TEST_F(BuildId, ABrokenFileGivesAHashToo) {
  const std::string whole = elf_with(note(kGnu, NT_GNU_BUILD_ID, "12345678"));
  ASSERT_EQ(id_of(whole), "3132333435363738");
  for (std::size_t size = 0; size < whole.size(); ++size) {
    EXPECT_THAT(id_of(whole.substr(0, size)), StartsWith("xxh3:")) << size;
  }
  std::string endless = whole;
  std::memset(endless.data() + endless.size() - 24, 0xFF, 8);  // the note's two sizes
  EXPECT_THAT(id_of(endless), StartsWith("xxh3:"));
}

TEST_F(BuildId, AFileThatCannotBeReadIsNamed) {
  const auto refusal_of = [](const std::filesystem::path& path) -> std::string {
    try {
      return build_id(path);
    } catch (const Unavailable& refusal) {
      return refusal.what();
    }
  };
  EXPECT_EQ(refusal_of(folder / "absent.so"),
            "cannot read " + (folder / "absent.so").string() + ": No such file or directory");
  EXPECT_EQ(refusal_of(folder.path()), folder.path().string() + " is not a regular file");
}

}  // namespace
}  // namespace vnjit
