#include "vnjit/runtime/fork_guard.hpp"

#include <pthread.h>

#include <atomic>

namespace vnjit {
namespace {

/// Forks between the first process and this one, since the first ForkGuard. Written only in a new
/// child, by the handler, which is given nothing and so needs it here.
std::atomic<int> forks_so_far{0};

void count_fork() { forks_so_far.fetch_add(1, std::memory_order_relaxed); }

int count_from_now_on() {
  static const int registered = ::pthread_atfork(nullptr, nullptr, count_fork);
  static_cast<void>(registered);  // it fails only for want of memory; then nothing is detected
  return forks_so_far.load(std::memory_order_relaxed);
}

}  // namespace

ForkGuard::ForkGuard() : forks_(count_from_now_on()) {}

bool ForkGuard::forked() const { return forks_ != forks_so_far.load(std::memory_order_relaxed); }

}  // namespace vnjit
