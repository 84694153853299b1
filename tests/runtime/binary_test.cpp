#include "vnjit/runtime/binary.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "vnjit/runtime/error.hpp"
#include "vnjit/runtime/hash.hpp"

namespace vnjit {
namespace {

using testing::HasSubstr;

Binary some_binary() {
  return {.cubin = std::string("\x7F"
                               "ELF\0\1\2\3 image",
                               14),
          .entry = "vnjit_kernel",
          .arch = "sm_90a",
          .usage = {.registers = 40,
                    .stack_bytes = 232,
                    .spill_store_bytes = 228,
                    .spill_load_bytes = 408,
                    .static_shared_bytes = 1024,
                    .barriers = 2},
          .log = "ptxas info : Used 40 registers\n\xC3\xA9",
          .key = "0123456789abcdef0123456789abcdef"};
}

constexpr std::size_t kTrailerBytes = 36;

/// Replaces the trailer's version and sizes, with a checksum that is right.
std::string with_trailer(std::string bytes, std::uint32_t version, std::uint64_t cubin_bytes,
                         std::uint64_t metadata_bytes) {
  const auto put = [&](std::size_t at, std::uint64_t value, std::size_t size) {
    for (std::size_t i = 0; i < size; ++i) bytes[at + i] = static_cast<char>(value >> (8 * i));
  };
  const std::size_t trailer = bytes.size() - kTrailerBytes;
  put(trailer + 8, version, 4);
  put(trailer + 12, cubin_bytes, 8);
  put(trailer + 20, metadata_bytes, 8);
  put(trailer + 28, hash64(std::string_view(bytes).substr(0, bytes.size() - 8)), 8);
  return bytes;
}

std::string refusal_of(std::string_view bytes) {
  try {
    from_entry(bytes);
  } catch (const Error& refusal) {
    return refusal.what();
  }
  return "nothing was refused";
}

TEST(ResourceUsage, IsReadFromTheReportOfCuda13) {
  const ResourceUsage usage = parse_resource_usage(
      "ptxas info    : 0 bytes gmem\n"
      "ptxas info    : Compiling entry function 'k' for 'sm_90'\n"
      "ptxas info    : Function properties for k\n"
      "ptxas         .     232 bytes stack frame, 228 bytes spill stores, 408 bytes spill loads\n"
      "ptxas info    : Used 255 registers, used 1 barriers, 232 bytes cumulative stack size, "
      "1024 bytes smem\n"
      "ptxas info    : Compile time = 145.532 ms\n");
  EXPECT_EQ(usage, (ResourceUsage{.registers = 255,
                                  .stack_bytes = 232,
                                  .spill_store_bytes = 228,
                                  .spill_load_bytes = 408,
                                  .static_shared_bytes = 1024,
                                  .barriers = 1}));
}

TEST(ResourceUsage, IsReadFromTheReportOfCuda12) {
  const ResourceUsage usage = parse_resource_usage(
      "ptxas info    : Function properties for k\n"
      "    0 bytes stack frame, 0 bytes spill stores, 0 bytes spill loads\n"
      "ptxas info    : Used 14 registers, 380 bytes cmem[0]\n");
  EXPECT_EQ(usage, (ResourceUsage{.registers = 14}));
}

TEST(ResourceUsage, IsTheLargestOfSeveralFunctions) {
  const ResourceUsage usage = parse_resource_usage(
      "    8 bytes stack frame, 4 bytes spill stores, 4 bytes spill loads\n"
      "    16 bytes stack frame, 0 bytes spill stores, 0 bytes spill loads\n"
      "Used 90 registers, used 1 barriers\n");
  EXPECT_EQ(usage.stack_bytes, 16);
  EXPECT_EQ(usage.spill_store_bytes, 4);
  EXPECT_EQ(usage.registers, 90);
}

TEST(ResourceUsage, IsZeroWithoutAReport) {
  EXPECT_EQ(parse_resource_usage(""), ResourceUsage{});
  EXPECT_EQ(parse_resource_usage(" registers, x bytes smem, 99999999999999 barriers"),
            ResourceUsage{});
}

TEST(CacheEntry, RoundTrips) {
  EXPECT_EQ(from_entry(to_entry(some_binary())), some_binary());
  EXPECT_EQ(from_entry(to_entry(Binary{})), Binary{});
}

TEST(CacheEntry, BeginsWithTheElfImage) {
  EXPECT_TRUE(to_entry(some_binary()).starts_with(some_binary().cubin));
}

TEST(CacheEntry, EveryTruncationIsRefused) {
  const std::string entry = to_entry(some_binary());
  for (std::size_t size = 0; size < entry.size(); ++size) {
    EXPECT_THROW(from_entry(std::string_view(entry).substr(0, size)), Error) << size;
  }
  EXPECT_EQ(refusal_of(""), "cache entry: 0 bytes are too few");
  EXPECT_EQ(refusal_of(std::string_view(entry).substr(0, entry.size() - 1)),
            "cache entry: it has no trailer");
}

TEST(CacheEntry, EveryFlippedBitIsRefused) {
  const std::string entry = to_entry(some_binary());
  for (std::size_t bit = 0; bit < 8 * entry.size(); ++bit) {
    std::string damaged = entry;
    damaged[bit / 8] = static_cast<char>(damaged[bit / 8] ^ (1 << bit % 8));
    EXPECT_THROW(from_entry(damaged), Error) << "bit " << bit;
  }
}

TEST(CacheEntry, AddedBytesAreRefused) {
  const std::string entry = to_entry(some_binary());
  EXPECT_EQ(refusal_of(entry + '\0'), "cache entry: it has no trailer");
  EXPECT_EQ(refusal_of('\0' + entry), "cache entry: its checksum does not match its bytes");
  EXPECT_EQ(refusal_of(entry + entry), "cache entry: its checksum does not match its bytes");
}

TEST(CacheEntry, AnotherVersionIsNamed) {
  EXPECT_EQ(refusal_of(with_trailer(to_entry(Binary{}), 7, 0, 56)),
            "cache entry: its format version is 7, not 2");
}

TEST(CacheEntry, SizesThatCannotBeAreRefusedWhateverTheChecksum) {
  const std::string entry = to_entry(Binary{});  // its metadata has 4·8 + 6·4 bytes
  EXPECT_EQ(from_entry(with_trailer(entry, 2, 0, 56)), Binary{});
  EXPECT_EQ(refusal_of(with_trailer(entry, 2, 0, 55)),
            "cache entry: sizes 0 and 55 do not add up to 56 bytes");
  for (const std::uint64_t huge : {std::uint64_t{57}, ~std::uint64_t{0}, std::uint64_t{1} << 63}) {
    EXPECT_THAT(refusal_of(with_trailer(entry, 2, huge, 56)), HasSubstr("do not add up"));
    EXPECT_THAT(refusal_of(with_trailer(entry, 2, huge, 56 - huge)), HasSubstr("do not add up"));
    EXPECT_THAT(refusal_of(with_trailer(entry, 2, 0, huge)), HasSubstr("do not add up"));
  }
  EXPECT_EQ(refusal_of(with_trailer(entry, 2, 8, 48)), "cache entry: its metadata is cut short");
}

TEST(CacheEntry, MetadataLengthsThatCannotBeAreRefusedWhateverTheChecksum) {
  std::string entry = to_entry(Binary{});
  entry[7] = '\x7F';  // the top byte of the first text's length
  EXPECT_EQ(refusal_of(with_trailer(entry, 2, 0, 56)), "cache entry: its metadata is cut short");
  entry = std::string(8, '\0') + to_entry(Binary{});
  EXPECT_EQ(refusal_of(with_trailer(entry, 2, 0, 64)),
            "cache entry: its metadata is followed by other bytes");
}

}  // namespace
}  // namespace vnjit
