#include "fuzz_target.hpp"
#include "vnjit/runtime/byte_stream.hpp"
#include "vnjit/runtime/cache_archive.hpp"
#include "vnjit/runtime/hash.hpp"

// Cache archives: any bytes are refused before something is written, or hold files of legal names.

int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace vnjit;
  // A folder that nobody can create: what passes every check fails there, and not before.
  const CacheFolder nowhere("/proc/vnjit");
  const auto import = [&](std::string_view archive) {
    try {
      import_cache(nowhere, archive);
    } catch (const Error&) {
    }
  };
  const std::string_view bytes = fuzz::text_of(data, size);
  import(bytes);
  std::string checked = "VNJITARC";
  checked += bytes;
  put_number(checked, hash64(checked));
  import(checked);
  return 0;
}
