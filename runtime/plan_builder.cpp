#include "vnjit/runtime/plan_builder.hpp"

#include <unistd.h>

#include <exception>

#include "vnjit/runtime/error.hpp"

namespace vnjit {

struct PlanRequest::State {
  PlanKey key;
  std::shared_ptr<Device> device;

  std::mutex mutex;  // of what follows
  std::condition_variable changed;
  bool begun = false;
  bool done = false;
  std::shared_ptr<const Plan> plan;      // once done, unless it failed
  std::shared_ptr<const Plan> fallback;  // before
  std::exception_ptr failure;

  /// Whether the caller is the one to build it.
  bool begin() {
    const std::lock_guard lock(mutex);
    return !std::exchange(begun, true);
  }

  void finish(std::shared_ptr<const Plan> made, std::exception_ptr why) {
    std::shared_ptr<const Plan> unused;  // destroyed after the lock
    {
      const std::lock_guard lock(mutex);
      unused = std::move(fallback);
      plan = std::move(made);
      failure = std::move(why);
      done = true;
    }
    changed.notify_all();
  }
};

bool PlanRequest::ready() const {
  const std::lock_guard lock(state_->mutex);
  return state_->done;
}

void PlanRequest::wait() const {
  std::unique_lock lock(state_->mutex);
  state_->changed.wait(lock, [&] { return state_->done; });
}

bool PlanRequest::wait_for(std::chrono::nanoseconds duration) const {
  std::unique_lock lock(state_->mutex);
  return state_->changed.wait_for(lock, duration, [&] { return state_->done; });
}

std::shared_ptr<const Plan> PlanRequest::get() const {
  wait();
  const std::lock_guard lock(state_->mutex);
  if (state_->failure) std::rethrow_exception(state_->failure);
  return state_->plan;
}

std::shared_ptr<const Plan> PlanRequest::now() const {
  const std::lock_guard lock(state_->mutex);
  return state_->done ? state_->plan : state_->fallback;
}

// NVRTC compiles one source at a time; a second thread loads modules meanwhile.
struct PlanBuilder::Threads {
  static constexpr std::size_t kCount = 2;

  std::mutex mutex;  // of what follows
  std::condition_variable changed;
  std::deque<StatePointer> queue;
  bool stopped = false;
  std::vector<std::thread> threads;
};

PlanBuilder::PlanBuilder(std::size_t cached_plans, Build build)
    : cache_(cached_plans), build_(std::move(build)), process_(::getpid()) {}

PlanBuilder::~PlanBuilder() {
  start_anew_after_fork();
  if (!threads_) return;
  std::deque<StatePointer> waiting;
  {
    const std::lock_guard lock(threads_->mutex);
    threads_->stopped = true;
    waiting.swap(threads_->queue);
  }
  threads_->changed.notify_all();
  for (const StatePointer& state : waiting) {
    if (!state->begin()) continue;
    state->finish(nullptr, std::make_exception_ptr(Unavailable(
                               "the Runtime was destroyed before it began to make this plan")));
  }
  for (std::thread& thread : threads_->threads) thread.join();
}

// The threads of the parent are not here: their handles can only be forgotten, and what they were
// at is to be made again.
void PlanBuilder::start_anew_after_fork() {
  if (process_ == ::getpid()) return;
  process_ = ::getpid();
  pending_.clear();
  static_cast<void>(threads_.release());
}

PlanBuilder::StatePointer PlanBuilder::find_or_begin(const PlanKey& key,
                                                     const std::shared_ptr<Device>& device) {
  start_anew_after_fork();
  // Looked for again under the lock: a plan enters the cache before it leaves what is pending.
  if (auto found = cache_.find(key)) {
    auto state = std::make_shared<PlanRequest::State>();
    state->begun = state->done = true;
    state->plan = std::move(found);
    return state;
  }
  StatePointer& state = pending_[key];
  if (!state) {
    state = std::make_shared<PlanRequest::State>();
    state->key = key;
    state->device = device;
    state->fallback = cache_.find_in_other_sizes(key);
  }
  return state;
}

std::shared_ptr<const Plan> PlanBuilder::get(const PlanKey& key,
                                             const std::shared_ptr<Device>& device) {
  if (auto found = cache_.find(key)) return found;
  StatePointer state;
  {
    const std::lock_guard lock(mutex_);
    state = find_or_begin(key, device);
  }
  if (state->begin()) build(state, nullptr);
  return PlanRequest(state).get();
}

PlanRequest PlanBuilder::request(const PlanKey& key, const std::shared_ptr<Device>& device) {
  const std::lock_guard lock(mutex_);
  StatePointer state = find_or_begin(key, device);
  {
    const std::lock_guard state_lock(state->mutex);
    if (state->begun) return PlanRequest(std::move(state));
  }
  if (!threads_) {
    threads_ = std::make_unique<Threads>();
    for (std::size_t n = 0; n < Threads::kCount; ++n) {
      threads_->threads.emplace_back([this, threads = threads_.get()] { work(*threads); });
    }
  }
  {
    const std::lock_guard queue_lock(threads_->mutex);
    threads_->queue.push_back(state);
  }
  threads_->changed.notify_one();
  return PlanRequest(std::move(state));
}

void PlanBuilder::build(const StatePointer& state, const Offer& offer) {
  std::shared_ptr<const Plan> plan;
  std::exception_ptr failure;
  try {
    plan = build_(state->key, state->device, offer);
    plan = cache_.insert(state->key, std::move(plan));
  } catch (...) {
    failure = std::current_exception();
  }
  {
    const std::lock_guard lock(mutex_);
    pending_.erase(state->key);
  }
  state->finish(std::move(plan), std::move(failure));
}

void PlanBuilder::work(Threads& threads) {
  for (;;) {
    StatePointer state;
    {
      std::unique_lock lock(threads.mutex);
      threads.changed.wait(lock, [&] { return threads.stopped || !threads.queue.empty(); });
      if (threads.stopped) return;
      state = std::move(threads.queue.front());
      threads.queue.pop_front();
    }
    if (!state->begin()) continue;
    build(state, [&](std::shared_ptr<const Plan> offered) {
      const std::lock_guard lock(state->mutex);
      state->fallback.swap(offered);
    });
  }
}

}  // namespace vnjit
