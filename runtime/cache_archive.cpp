#include "vnjit/runtime/cache_archive.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cerrno>
#include <fstream>
#include <iterator>
#include <map>
#include <system_error>
#include <vector>

#include "vnjit/runtime/binary.hpp"
#include "vnjit/runtime/byte_stream.hpp"
#include "vnjit/runtime/hash.hpp"

namespace vnjit {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kMagic = "VNJITARC";
constexpr std::uint32_t kVersion = 1;
constexpr std::size_t kChecksumBytes = 8;
constexpr const char* kCutShort = "cache archive: it is cut short";
constexpr std::size_t kMaxRecordName = 200;

enum class Kind : std::uint8_t { entry, source, record };

struct Files {
  std::map<std::string, std::string, std::less<>> entries;  // by key
  std::map<std::string, std::string, std::less<>> sources;
  std::map<std::string, std::string, std::less<>> records;  // by file name
};

std::map<std::string, std::string, std::less<>>& of_kind(Files& files, std::uint8_t kind,
                                                         std::string_view name) {
  switch (static_cast<Kind>(kind)) {
    case Kind::entry:
      return files.entries;
    case Kind::source:
      return files.sources;
    case Kind::record:
      return files.records;
  }
  throw Error(fmt::format("cache archive: file {} is of unknown kind {}", name, kind));
}

void put_files(std::string& bytes, Kind kind,
               const std::map<std::string, std::string, std::less<>>& files) {
  for (const auto& [name, content] : files) {
    put_number(bytes, static_cast<std::uint8_t>(kind));
    put_text(bytes, name);
    put_text(bytes, content);
  }
}

std::string to_archive(const Files& files) {
  std::string bytes(kMagic);
  put_number(bytes, kVersion);
  put_number<std::uint64_t>(bytes,
                            files.entries.size() + files.sources.size() + files.records.size());
  put_files(bytes, Kind::entry, files.entries);
  put_files(bytes, Kind::source, files.sources);
  put_files(bytes, Kind::record, files.records);
  put_number(bytes, hash64(bytes));
  return bytes;
}

Files from_archive(std::string_view bytes) {
  if (!bytes.starts_with(kMagic)) throw Error("cache archive: it is not one of vnjit's");
  if (bytes.size() < kMagic.size() + kChecksumBytes) throw Error(kCutShort);
  const std::string_view body = bytes.substr(0, bytes.size() - kChecksumBytes);
  ByteReader checksum(bytes.substr(body.size()), kCutShort);
  if (checksum.number<std::uint64_t>() != hash64(body)) {
    throw Error("cache archive: its checksum does not match its bytes; it is cut short or damaged");
  }
  ByteReader reader(body.substr(kMagic.size()), kCutShort);
  const auto version = reader.number<std::uint32_t>();
  if (version != kVersion) {
    throw Error(fmt::format("cache archive: its format version is {}, not {}", version, kVersion));
  }
  Files files;
  for (auto left = reader.number<std::uint64_t>(); left > 0; --left) {
    const auto kind = reader.number<std::uint8_t>();
    std::string name(reader.text());
    std::string content(reader.text());
    auto& of_its_kind = of_kind(files, kind, name);
    if (!of_its_kind.emplace(name, std::move(content)).second) {
      throw Error(fmt::format("cache archive: it holds {} twice", name));
    }
  }
  if (!reader.at_end()) throw Error("cache archive: its files are followed by other bytes");
  return files;
}

bool is_record_name(std::string_view name) {
  return name.size() <= kMaxRecordName && name.ends_with(".json") && name.front() != '.' &&
         std::ranges::all_of(name, [](char c) {
           return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
                  c == '-' || c == '_' || c == '.';
         });
}

/// Throws Error for a file that must not be written under its name.
void check(const Files& files) {
  for (const auto& [key, bytes] : files.entries) {
    if (!is_cache_key(key)) throw Error(fmt::format("cache archive: '{}' is no cache key", key));
    const std::string in_entry = from_entry(bytes).key;
    if (in_entry != key) {
      throw Error(fmt::format("cache archive: the entry of {} is that of {}", key, in_entry));
    }
  }
  for (const auto& [key, text] : files.sources) {
    if (!files.entries.contains(key)) {
      throw Error(fmt::format("cache archive: '{}' is a source without an entry", key));
    }
  }
  for (const auto& [name, text] : files.records) {
    if (!is_record_name(name)) {
      throw Error(fmt::format("cache archive: '{}' is no name of a tuning record", name));
    }
  }
}

Files checked_files(std::string_view archive) {
  try {
    Files files = from_archive(archive);
    check(files);
    return files;
  } catch (const Error& damage) {
    throw InvalidArgument(damage.what());
  }
}

void require_usable(const CacheFolder& folder) {
  const std::string why = folder.why_unusable();
  if (why.empty()) return;
  throw Error(fmt::format("the kernel cache {} cannot be used: {}", folder.path().string(), why));
}

void require_written(const fs::path& file, int error) {
  if (error == 0) return;
  throw Error(fmt::format("{} cannot be written: {}", file.string(),
                          std::generic_category().message(error)));
}

/// None where it cannot be read.
std::optional<std::string> content_of(const fs::path& path) {
  std::ifstream file(path, std::ios::binary);
  if (!file) return std::nullopt;
  std::string text((std::istreambuf_iterator<char>(file)), std::istreambuf_iterator<char>());
  return file.bad() ? std::nullopt : std::optional(std::move(text));
}

bool is_of_arch(const Binary& binary, std::string_view arch) {
  return arch.empty() || binary.arch == arch || binary.arch == fmt::format("{}a", arch);
}

}  // namespace

CacheExport export_cache(const CacheFolder& folder, std::string_view arch) {
  require_usable(folder);
  CacheExport result;
  Files files;
  for (const CacheEntry& entry : folder.entries()) {
    std::string why;
    std::optional<std::string> bytes = folder.read(entry.key, why);
    try {
      if (!bytes) throw Error(why);
      const Binary binary = from_entry(*bytes);
      if (binary.key != entry.key) throw Error("it is that of another key");
      if (!is_of_arch(binary, arch)) continue;
    } catch (const Error&) {
      ++result.damaged;
      continue;
    }
    files.entries.emplace(entry.key, std::move(*bytes));
    if (auto source = content_of(folder.source_path(entry.key))) {
      files.sources.emplace(entry.key, std::move(*source));
    }
  }
  for (const fs::path& record : folder.records()) {
    if (!is_record_name(record.filename().string())) continue;
    if (auto text = content_of(record)) files.records.emplace(record.filename(), std::move(*text));
  }
  result.kernels = static_cast<int>(files.entries.size());
  result.records = static_cast<int>(files.records.size());
  result.archive = to_archive(files);
  return result;
}

CacheImport import_cache(const CacheFolder& folder, std::string_view archive) {
  const Files files = checked_files(archive);
  require_written(folder.path(), folder.create());
  require_usable(folder);
  CacheImport result;
  for (const auto& [key, bytes] : files.entries) {
    std::string why;
    if (const auto there = folder.read(key, why); there && *there == bytes) {
      ++result.known;
      continue;
    }
    const auto source = files.sources.find(key);
    require_written(folder.entry_path(key),
                    folder.write(key, bytes, source == files.sources.end() ? "" : source->second));
    ++result.kernels;
  }
  for (const auto& [name, text] : files.records) {
    const fs::path file = folder.records_path() / name;
    if (fs::exists(fs::symlink_status(file))) {
      ++result.known;
      continue;
    }
    require_written(file, CacheFolder(folder.records_path()).create());
    require_written(file, publish_file(file, text));
    ++result.records;
  }
  return result;
}

}  // namespace vnjit
