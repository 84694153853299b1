#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "vnjit/runtime/cache_folder.hpp"

// A cache in one file: what one machine compiled and tuned, others with the same GPUs start with.
//
//   "VNJITARC", format version (32 bits), number of files (64 bits)
//   each file:  kind (8 bits: 0 entry, 1 source, 2 tuning record), name, bytes
//   64-bit XXH3 of everything before itself
//
// Numbers are little-endian; a name and bytes are texts after their 64-bit length.

namespace vnjit {

struct CacheExport {
  std::string archive;
  int kernels = 0;
  int records = 0;
  int damaged = 0;  ///< entries that were left out
};

/// The cache's intact entries with their sources, and its tuning records; of entries only those of
/// one architecture (`sm_90`, which means sm_90a too) unless `arch` is empty. In the order of their
/// names: the same cache gives the same bytes. Throws Error when the folder must not be used.
CacheExport export_cache(const CacheFolder& folder, std::string_view arch = {});

struct CacheImport {
  int kernels = 0;  ///< that were new
  int records = 0;
  int known = 0;  ///< kernels and records that were there already; they stay
};

/// Adds an archive's files to a cache, which is created if need be. Everything is checked first:
/// the archive, every entry and every name; then each file is published as a compiler does it.
/// Throws InvalidArgument saying what is wrong with the archive, and then nothing is written; Error
/// saying what could not be written, and then what was is whole.
CacheImport import_cache(const CacheFolder& folder, std::string_view archive);

}  // namespace vnjit
