#include "vnjit/runtime/tune/worker_process.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <system_error>
#include <thread>

#include "vnjit/runtime/error.hpp"

extern char** environ;

namespace vnjit {
namespace {

using Clock = std::chrono::steady_clock;

constexpr std::size_t kLongestAnswer = std::size_t{1} << 20;

/// How a process ended, in words.
std::string ending(int status) {
  if (WIFSIGNALED(status)) {
    return fmt::format("the worker was killed by signal {} ({})", WTERMSIG(status),
                       ::strsignal(WTERMSIG(status)));
  }
  return fmt::format("the worker ended with status {}", WEXITSTATUS(status));
}

}  // namespace

// Sockets rather than pipes: to write to one whose reader died is an error there, and no signal
// for the host program.
WorkerProcess::WorkerProcess(const std::vector<std::string>& command) {
  int in[2];
  int out[2];
  if (::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, in) != 0) {
    throw Error(
        fmt::format("a worker cannot be started: {}", std::generic_category().message(errno)));
  }
  to_ = FileDescriptor(in[0]);
  const FileDescriptor child_in(in[1]);
  if (::pipe2(out, O_CLOEXEC) != 0) {
    throw Error(
        fmt::format("a worker cannot be started: {}", std::generic_category().message(errno)));
  }
  from_ = FileDescriptor(out[0]);
  const FileDescriptor child_out(out[1]);

  posix_spawn_file_actions_t actions;
  posix_spawnattr_t attributes;
  ::posix_spawn_file_actions_init(&actions);
  ::posix_spawnattr_init(&attributes);
  ::posix_spawn_file_actions_adddup2(&actions, child_in.get(), STDIN_FILENO);
  ::posix_spawn_file_actions_adddup2(&actions, child_out.get(), STDOUT_FILENO);
  ::posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETPGROUP);
  std::vector<char*> arguments;
  for (const std::string& argument : command) {
    arguments.push_back(const_cast<char*>(argument.c_str()));
  }
  arguments.push_back(nullptr);
  const int error =
      ::posix_spawn(&process_, arguments[0], &actions, &attributes, arguments.data(), environ);
  ::posix_spawn_file_actions_destroy(&actions);
  ::posix_spawnattr_destroy(&attributes);
  if (error == 0) return;
  process_ = -1;
  throw Error(fmt::format("the worker {} cannot be started: {}", command.front(),
                          std::generic_category().message(error)));
}

// With its input closed a worker ends after what it is at.
WorkerProcess::~WorkerProcess() {
  if (!alive()) return;
  to_ = FileDescriptor();
  constexpr int kTries = 50;
  for (int n = 0; n < kTries; ++n) {
    if (::waitpid(process_, nullptr, WNOHANG) == process_) return;
    std::this_thread::sleep_for(std::chrono::milliseconds(2));
  }
  ::kill(process_, SIGKILL);
  ::waitpid(process_, nullptr, 0);
}

/// Waits for a worker that has closed its output, or kills one that is only silent.
void WorkerProcess::bury(const std::string& unless_dead) {
  int status = 0;
  constexpr int kTries = 100;
  bool ended = false;
  for (int n = 0; n < kTries && !ended; ++n) {
    ended = ::waitpid(process_, &status, WNOHANG) == process_;
    if (!ended && unless_dead.empty()) std::this_thread::sleep_for(std::chrono::milliseconds(2));
    if (!unless_dead.empty()) break;
  }
  if (!ended) {
    ::kill(process_, SIGKILL);
    ::waitpid(process_, &status, 0);
  }
  process_ = -1;
  throw Error(ended || unless_dead.empty() ? ending(status) : unless_dead);
}

std::string WorkerProcess::ask(const std::string& line, std::chrono::milliseconds patience) {
  if (!alive()) throw Error("the worker is dead");
  std::string_view rest = line;
  const std::string with_end = fmt::format("{}\n", line);
  rest = with_end;
  while (!rest.empty()) {
    const ssize_t sent = ::send(to_.get(), rest.data(), rest.size(), MSG_NOSIGNAL);
    if (sent < 0 && errno == EINTR) continue;
    if (sent < 0) bury("");
    rest.remove_prefix(static_cast<std::size_t>(sent));
  }
  const auto deadline = Clock::now() + patience;
  for (;;) {
    if (const std::size_t end = read_.find('\n'); end != std::string::npos) {
      std::string answer = read_.substr(0, end);
      read_.erase(0, end + 1);
      return answer;
    }
    const auto left = std::chrono::ceil<std::chrono::milliseconds>(deadline - Clock::now());
    if (left.count() <= 0 || read_.size() > kLongestAnswer) {
      bury(fmt::format("nothing was heard of the worker for {:g} s",
                       static_cast<double>(patience.count()) / 1000));
    }
    pollfd event{.fd = from_.get(), .events = POLLIN, .revents = 0};
    if (::poll(&event, 1, static_cast<int>(left.count())) <= 0) continue;
    char bytes[4096];
    const ssize_t got = ::read(from_.get(), bytes, sizeof(bytes));
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) bury("");
    read_.append(bytes, static_cast<std::size_t>(got));
  }
}

}  // namespace vnjit
