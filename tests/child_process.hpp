#pragma once

#include <sys/wait.h>
#include <unistd.h>

#include <stdexcept>

namespace vnjit::tests {

/// Starts `work` in a child process, whose exit status is what `work` returns (255 where it
/// throws). Returns the child's number, for exit_status().
template <typename Work>
pid_t start_child(Work work) {
  const pid_t child = ::fork();
  if (child < 0) throw std::runtime_error("fork failed");
  if (child == 0) {
    int status = 255;
    try {
      status = work();
    } catch (...) {
    }
    ::_exit(status);
  }
  return child;
}

/// Waits for a child; -1 when it did not exit by itself.
inline int exit_status(pid_t child) {
  int status = 0;
  if (::waitpid(child, &status, 0) != child || !WIFEXITED(status)) return -1;
  return WEXITSTATUS(status);
}

}  // namespace vnjit::tests
