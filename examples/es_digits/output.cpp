#include "output.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <system_error>

namespace es_digits {
namespace {

[[noreturn]] void fail(int error) {
  throw OutputError(
      fmt::format("cannot write standard output: {}", std::generic_category().message(error)));
}

}  // namespace

void require_output() {
  if (fcntl(STDOUT_FILENO, F_GETFD) < 0) fail(errno);
}

void print(std::string_view text) {
  const bool taken = std::fwrite(text.data(), 1, text.size(), stdout) == text.size();
  if (!taken || std::fflush(stdout) != 0) fail(errno);
}

}  // namespace es_digits
