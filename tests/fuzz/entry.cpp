#include "fuzz_target.hpp"
#include "vnjit/runtime/binary.hpp"
#include "vnjit/runtime/byte_stream.hpp"
#include "vnjit/runtime/error.hpp"
#include "vnjit/runtime/hash.hpp"

// Cache entries: any bytes are an entry, which then makes the same bytes again, or an Error.

int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace vnjit;
  const auto read = [](std::string_view entry) {
    try {
      fuzz::require(to_entry(from_entry(entry)) == entry);
    } catch (const Error&) {
    }
  };
  const std::string_view bytes = fuzz::text_of(data, size);
  read(bytes);
  // The checksum keeps nearly all bytes out, so here they get theirs.
  std::string checked(bytes);
  put_number(checked, hash64(checked));
  read(checked);

  Binary around;
  around.cubin = bytes.substr(0, size / 2);
  around.log = bytes.substr(size / 2);
  fuzz::require(from_entry(to_entry(around)) == around);
  static_cast<void>(parse_resource_usage(bytes));
  return 0;
}
