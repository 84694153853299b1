#pragma once

#include <string>
#include <string_view>

#include "vnjit/codegen/error.hpp"

namespace vnjit::cli {

/// A file or a standard stream that cannot be read or written; `what()` names it and says why.
class FileError : public Error {
 public:
  using Error::Error;
};

/// Opens what is closed of descriptors 0, 1 and 2, so that no file opened later takes their place
/// and receives what was meant for them. Writing to a standard output that was closed still fails.
void occupy_standard_descriptors();

/// Writes all of `text` to standard output; throws FileError.
void write_output(std::string_view text);

/// Writes `text` and a line end to standard error. Nobody can be told when that fails.
void write_note(std::string_view text);

/// All bytes of a file or a pipe; throws FileError, also for a device, which may have no end.
std::string read_file(const std::string& path);

/// Throws FileError for a file that could not be written, before it costs an hour to find out. An
/// empty path is none.
void require_writable(std::string_view flag, const std::string& path);

/// Makes `path` hold `bytes`, or leaves it as it was and throws FileError: a file is replaced by
/// one rename. A device or a pipe is written to as it is; a directory is refused.
void write_file(const std::string& path, std::string_view bytes);

}  // namespace vnjit::cli
