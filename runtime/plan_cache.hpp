#pragma once

#include <cstddef>
#include <list>
#include <memory>
#include <mutex>
#include <optional>
#include <unordered_map>
#include <utility>

#include "vnjit/runtime/plan.hpp"

namespace vnjit {

/// What a plan is looked up by. `device` is compared by identity: one Device is one context.
struct PlanKey {
  const Device* device;
  Problem problem;
  std::optional<Config> config;

  friend bool operator==(const PlanKey&, const PlanKey&) = default;
};

struct PlanKeyHash {
  std::size_t operator()(const PlanKey& key) const;
};

/// The plans last used, at most `capacity`: the least recently used one is dropped first, and is
/// destroyed when its last user lets go of it. Thread-safe.
class PlanCache {
 public:
  explicit PlanCache(std::size_t capacity) : capacity_(capacity) {}

  /// Null where there is none.
  std::shared_ptr<const Plan> find(const PlanKey& key);

  /// The plan last used of the same device and of a problem that differs in sizes alone, which are
  /// no part of a plan unless they are baked in; null where there is none.
  std::shared_ptr<const Plan> find_in_other_sizes(const PlanKey& key);

  /// Keeps `plan`, or returns the one that another thread has put there in the meantime.
  std::shared_ptr<const Plan> insert(const PlanKey& key, std::shared_ptr<const Plan> plan);

 private:
  using Entry = std::pair<PlanKey, std::shared_ptr<const Plan>>;

  std::size_t capacity_;
  std::mutex mutex_;
  std::list<Entry> entries_;  // most recently used first
  std::unordered_map<PlanKey, std::list<Entry>::iterator, PlanKeyHash> index_;
};

}  // namespace vnjit
