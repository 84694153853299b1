#include "vnjit/runtime/plan_cache.hpp"

#include <cstdint>

namespace vnjit {
namespace {

// Order-dependent mixing of small integers (the finalizer of MurmurHash3 a step).
class Hasher {
 public:
  template <typename Value>
  Hasher& add(Value value) {
    state_ ^= static_cast<std::uint64_t>(value);
    state_ *= 0xFF51AFD7ED558CCDull;
    state_ ^= state_ >> 33;
    return *this;
  }

  std::size_t result() const { return static_cast<std::size_t>(state_); }

 private:
  std::uint64_t state_ = 0x9E3779B97F4A7C15ull;
};

void add(Hasher& hasher, const NoiseSpec& noise) {
  hasher.add(noise.generator).add(noise.distribution).add(noise.rounds).add(noise.antithetic);
}

void add(Hasher& hasher, const PerturbedLinear& problem) {
  add(hasher, problem.noise);
  hasher.add(problem.input).add(problem.output).add(problem.precision);
  hasher.add(problem.bias).add(problem.layout);
  hasher.add(problem.pop).add(problem.batch).add(problem.in).add(problem.out);
  hasher.add(problem.bake_shape);
}

void add(Hasher& hasher, const Gradient& problem) {
  add(hasher, problem.noise);
  hasher.add(problem.normalize).add(problem.update).add(problem.vector);
  hasher.add(problem.pop).add(problem.rows).add(problem.columns);
}

void add(Hasher& hasher, const ReduceMetric& problem) {
  add(hasher, problem.noise);
  hasher.add(problem.input).add(problem.pop).add(problem.params);
}

void add(Hasher& hasher, const Config& config) {
  hasher.add(config.family).add(config.block_out).add(config.block_batch).add(config.block_in);
  hasher.add(config.stages).add(config.warps).add(config.blocks_per_sm);
}

}  // namespace

std::size_t PlanKeyHash::operator()(const PlanKey& key) const {
  Hasher hasher;
  hasher.add(reinterpret_cast<std::uintptr_t>(key.device)).add(key.problem.index());
  std::visit([&](const auto& operation) { add(hasher, operation); }, key.problem);
  if (key.config) add(hasher, *key.config);
  return hasher.result();
}

std::shared_ptr<const Plan> PlanCache::find(const PlanKey& key) {
  const std::lock_guard lock(mutex_);
  const auto found = index_.find(key);
  if (found == index_.end()) return nullptr;
  entries_.splice(entries_.begin(), entries_, found->second);
  return found->second->second;
}

std::shared_ptr<const Plan> PlanCache::find_in_other_sizes(const PlanKey& key) {
  const Problem sought = without_sizes(key.problem);
  const std::lock_guard lock(mutex_);
  for (const auto& [other, plan] : entries_) {
    if (other.device == key.device && without_sizes(other.problem) == sought) return plan;
  }
  return nullptr;
}

std::shared_ptr<const Plan> PlanCache::insert(const PlanKey& key,
                                              std::shared_ptr<const Plan> plan) {
  std::shared_ptr<const Plan> dropped;  // destroyed after the lock: that may unload a module
  const std::lock_guard lock(mutex_);
  if (capacity_ == 0) return plan;
  if (const auto found = index_.find(key); found != index_.end()) return found->second->second;
  if (entries_.size() == capacity_) {
    dropped = std::move(entries_.back().second);
    index_.erase(entries_.back().first);
    entries_.pop_back();
  }
  entries_.emplace_front(key, plan);
  index_.emplace(key, entries_.begin());
  return plan;
}

}  // namespace vnjit
