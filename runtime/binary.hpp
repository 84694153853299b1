#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

namespace vnjit {

/// What ptxas said a kernel uses.
struct ResourceUsage {
  int registers = 0;            ///< a thread
  int stack_bytes = 0;          ///< a thread
  int spill_store_bytes = 0;    ///< a thread
  int spill_load_bytes = 0;     ///< a thread
  int static_shared_bytes = 0;  ///< a block
  int barriers = 0;

  friend bool operator==(const ResourceUsage&, const ResourceUsage&) = default;
};

/// A compiled kernel: an ELF image for one architecture, and what is known about it.
struct Binary {
  std::string cubin;  ///< the ELF image
  std::string entry;  ///< name of the kernel in it
  std::string arch;   ///< `sm_90`
  ResourceUsage usage;
  std::string log;  ///< of the compiler: warnings and resource report
  std::string key;  ///< what caches find it by: cache_key

  friend bool operator==(const Binary&, const Binary&) = default;
};

/// Reads the resource report that ptxas writes with -v.
ResourceUsage parse_resource_usage(std::string_view log);

/// Version of the layout below, in each entry and in every cache key.
inline constexpr int kEntryFormatVersion = 2;

/// The bytes of a cache entry: the ELF image, metadata, and a trailer with a checksum of all
/// before it.
std::string to_entry(const Binary& binary);

/// Inverse of to_entry; throws Error saying what is wrong with the bytes.
Binary from_entry(std::string_view bytes);

/// A binary and where it came from.
struct Compiled {
  Binary binary;
  bool cache_hit = false;
  double milliseconds = 0;            ///< of the compiler; 0 on a hit
  std::filesystem::path cached_file;  ///< empty where nothing is on disk
};

}  // namespace vnjit
