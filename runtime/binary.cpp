#include "vnjit/runtime/binary.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <system_error>

#include "vnjit/runtime/byte_stream.hpp"
#include "vnjit/runtime/error.hpp"
#include "vnjit/runtime/hash.hpp"

// An entry, all numbers little-endian:
//   the ELF image, first, so that tools which read cubins take the file as it is
//   metadata: entry, arch, log and key, each as a 64-bit length and its bytes; six 32-bit usage
//   numbers trailer:  magic (8 bytes), version (32 bits), 64-bit sizes of image and metadata, and
//   the
//             64-bit XXH3 of everything before itself

namespace vnjit {
namespace {

constexpr std::string_view kMagic = "VNJITBIN";
constexpr std::size_t kChecksumBytes = 8;
constexpr std::size_t kTrailerBytes = kMagic.size() + 4 + 8 + 8 + kChecksumBytes;

constexpr const char* kCutShort = "cache entry: its metadata is cut short";

/// The largest number that stands right before `phrase` anywhere in the log, 0 without one. A
/// report has a line for each function of the kernel that was not inlined.
int largest_before(std::string_view log, std::string_view phrase) {
  int largest = 0;
  for (auto at = log.find(phrase); at != std::string_view::npos; at = log.find(phrase, at + 1)) {
    const std::string_view head = log.substr(0, at);
    const auto before = head.find_last_not_of("0123456789");
    const auto begin = before == std::string_view::npos ? 0 : before + 1;
    int value = 0;
    const auto parsed = std::from_chars(head.data() + begin, head.data() + at, value);
    if (parsed.ec == std::errc()) largest = std::max(largest, value);
  }
  return largest;
}

}  // namespace

ResourceUsage parse_resource_usage(std::string_view log) {
  ResourceUsage usage;
  usage.registers = largest_before(log, " registers");
  usage.stack_bytes = largest_before(log, " bytes stack frame");
  usage.spill_store_bytes = largest_before(log, " bytes spill stores");
  usage.spill_load_bytes = largest_before(log, " bytes spill loads");
  usage.static_shared_bytes = largest_before(log, " bytes smem");
  usage.barriers = largest_before(log, " barriers");
  return usage;
}

std::string to_entry(const Binary& binary) {
  std::string metadata;
  for (const std::string* text : {&binary.entry, &binary.arch, &binary.log, &binary.key}) {
    put_text(metadata, *text);
  }
  const ResourceUsage& usage = binary.usage;
  for (const int number : {usage.registers, usage.stack_bytes, usage.spill_store_bytes,
                           usage.spill_load_bytes, usage.static_shared_bytes, usage.barriers}) {
    put_number(metadata, static_cast<std::uint32_t>(number));
  }
  std::string bytes = binary.cubin + metadata;
  bytes += kMagic;
  put_number<std::uint32_t>(bytes, kEntryFormatVersion);
  put_number<std::uint64_t>(bytes, binary.cubin.size());
  put_number<std::uint64_t>(bytes, metadata.size());
  put_number(bytes, hash64(bytes));
  return bytes;
}

Binary from_entry(std::string_view bytes) {
  if (bytes.size() < kTrailerBytes) {
    throw Error(fmt::format("cache entry: {} bytes are too few", bytes.size()));
  }
  const std::string_view body = bytes.substr(0, bytes.size() - kTrailerBytes);
  ByteReader trailer(bytes.substr(body.size()), kCutShort);
  if (trailer.take(kMagic.size()) != kMagic) throw Error("cache entry: it has no trailer");
  const auto version = trailer.number<std::uint32_t>();
  const auto cubin_bytes = trailer.number<std::uint64_t>();
  const auto metadata_bytes = trailer.number<std::uint64_t>();
  if (trailer.number<std::uint64_t>() != hash64(bytes.substr(0, bytes.size() - kChecksumBytes))) {
    throw Error("cache entry: its checksum does not match its bytes");
  }
  if (version != kEntryFormatVersion) {
    throw Error(
        fmt::format("cache entry: its format version is {}, not {}", version, kEntryFormatVersion));
  }
  if (cubin_bytes > body.size() || metadata_bytes != body.size() - cubin_bytes) {
    throw Error(fmt::format("cache entry: sizes {} and {} do not add up to {} bytes", cubin_bytes,
                            metadata_bytes, body.size()));
  }

  Binary binary;
  binary.cubin = body.substr(0, cubin_bytes);
  ByteReader metadata(body.substr(cubin_bytes), kCutShort);
  for (std::string* text : {&binary.entry, &binary.arch, &binary.log, &binary.key}) {
    *text = metadata.text();
  }
  ResourceUsage& usage = binary.usage;
  for (int* number : {&usage.registers, &usage.stack_bytes, &usage.spill_store_bytes,
                      &usage.spill_load_bytes, &usage.static_shared_bytes, &usage.barriers}) {
    *number = static_cast<int>(metadata.number<std::uint32_t>());
  }
  if (!metadata.at_end()) throw Error("cache entry: its metadata is followed by other bytes");
  return binary;
}

}  // namespace vnjit
