#pragma once

#include <chrono>
#include <memory>

#include "vnjit/runtime/plan.hpp"

namespace vnjit {

/// A plan that is being made. A cheap handle: copies are of one request, and it may be let go of at
/// any time, which leaves the plan to the Runtime's cache. Thread-safe.
class PlanRequest {
 public:
  struct State;
  explicit PlanRequest(std::shared_ptr<State> state) : state_(std::move(state)) {}

  /// Whether get() answers at once: the plan is there, or making it failed.
  bool ready() const;

  void wait() const;

  /// ready(), after waiting for at most `duration`.
  bool wait_for(std::chrono::nanoseconds duration) const;

  /// The plan, once it is there. Throws what Runtime::plan would have thrown, each time, and
  /// Unavailable where the Runtime was destroyed before it began.
  std::shared_ptr<const Plan> get() const;

  /// A plan of the same device that can run the problem now, without waiting: the plan itself, else
  /// one with a general kernel that was ready first, else one of the same problem in other sizes
  /// that the Runtime has; null where there is none of these, or making the plan failed (get()
  /// says why). All have the same noise bits. The CPU backend, Runtime::cpu(), takes host memory
  /// and has its plans ready at all times.
  std::shared_ptr<const Plan> now() const;

 private:
  std::shared_ptr<State> state_;
};

}  // namespace vnjit
