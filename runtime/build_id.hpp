#pragma once

#include <filesystem>
#include <string>

namespace vnjit {

/// What tells one build of a library from another, read from the file without loading it: the
/// GNU build-id of its ELF notes in hexadecimal, or, for a file that has none, `xxh3:` and a hash
/// of its size, first and last MiB. Throws Unavailable when the file cannot be read.
std::string build_id(const std::filesystem::path& file);

}  // namespace vnjit
