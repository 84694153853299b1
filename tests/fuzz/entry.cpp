#include "fuzz_target.hpp"
#include "vnjit/runtime/binary.hpp"
#include "vnjit/runtime/error.hpp"

// Cache entries: any bytes are an entry, which then makes the same bytes again, or an Error.

int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace vnjit;
  const std::string_view bytes = fuzz::text_of(data, size);
  try {
    const Binary binary = from_entry(bytes);
    fuzz::require(to_entry(binary) == bytes);
  } catch (const Error&) {
  }
  // The checksum keeps nearly all bytes out: behind it, they are metadata.
  Binary around;
  around.cubin = bytes.substr(0, size / 2);
  around.log = bytes.substr(size / 2);
  fuzz::require(from_entry(to_entry(around)) == around);
  static_cast<void>(parse_resource_usage(bytes));
  return 0;
}
