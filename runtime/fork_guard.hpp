#pragma once

namespace vnjit {

/// Tells whether the process that asks is a child, by fork(), of the one that made this. Asking
/// costs a load.
class ForkGuard {
 public:
  ForkGuard();
  bool forked() const;

 private:
  int forks_;
};

}  // namespace vnjit
