#pragma once

#include <sys/types.h>

#include <condition_variable>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <thread>
#include <unordered_map>
#include <vector>

#include "vnjit/runtime/plan_cache.hpp"
#include "vnjit/runtime/plan_request.hpp"

namespace vnjit {

/// Makes plans, each once however many ask for it, on the thread of the first who cannot go on
/// without or on threads of its own; and keeps them. Thread-safe. In a child of fork() it starts
/// anew with the plans there are: what was being made is made again.
class PlanBuilder {
 public:
  /// Takes a plan that does for the time being. Null where a caller waits on the building thread.
  using Offer = std::function<void(std::shared_ptr<const Plan>)>;
  using Build = std::function<std::shared_ptr<const Plan>(
      const PlanKey& key, const std::shared_ptr<Device>& device, const Offer& offer)>;

  PlanBuilder(std::size_t cached_plans, Build build);
  /// Fails the requests that were not begun, and waits for the others.
  ~PlanBuilder();
  PlanBuilder(const PlanBuilder&) = delete;
  PlanBuilder& operator=(const PlanBuilder&) = delete;

  /// Throws what building throws; nothing is kept then.
  std::shared_ptr<const Plan> get(const PlanKey& key, const std::shared_ptr<Device>& device);

  /// Returns at once.
  PlanRequest request(const PlanKey& key, const std::shared_ptr<Device>& device);

 private:
  using StatePointer = std::shared_ptr<PlanRequest::State>;
  struct Threads;

  StatePointer find_or_begin(const PlanKey& key, const std::shared_ptr<Device>& device);
  void build(const StatePointer& state, const Offer& offer);
  void work(Threads& threads);
  void start_anew_after_fork();

  PlanCache cache_;
  Build build_;
  std::mutex mutex_;  // of what follows
  pid_t process_;
  std::unordered_map<PlanKey, StatePointer, PlanKeyHash> pending_;
  std::unique_ptr<Threads> threads_;  // none before the first request
};

}  // namespace vnjit
