#pragma once

#include <stdexcept>
#include <string_view>

namespace es_digits {

/// Standard output cannot take what is printed; `what()` says why.
class OutputError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// Throws OutputError where standard output is closed. To be called before any file is opened,
/// which would take its place.
void require_output();

/// Writes all of `text` to standard output at once; throws OutputError.
void print(std::string_view text);

}  // namespace es_digits
