#include "vnjit/runtime/tune/device_timer.hpp"

#include <algorithm>
#include <cmath>
#include <vector>

namespace vnjit {
namespace {

constexpr double kShortRun = 50e-6;  // seconds
constexpr double kSample = 200e-6;   // of several short runs
constexpr double kWarmUp = 0.2;      // share of the time that samples take
constexpr double kMinSamples = 20;
constexpr double kMaxSamples = 1000;

class Events {
 public:
  Events(const Driver& driver, int count) : driver_(driver) {
    events_.reserve(static_cast<std::size_t>(count));
    for (int n = 0; n < count; ++n) {
      CUevent event = nullptr;
      driver_.check(driver_.cuEventCreate(&event, CU_EVENT_DEFAULT), "cuEventCreate");
      events_.push_back(event);
    }
  }
  ~Events() {
    for (CUevent event : events_) driver_.cuEventDestroy(event);
  }
  Events(const Events&) = delete;
  Events& operator=(const Events&) = delete;

  void record(int n) { driver_.check(driver_.cuEventRecord(at(n), nullptr), "cuEventRecord"); }

  void wait(int n) { driver_.check(driver_.cuEventSynchronize(at(n)), "cuEventSynchronize"); }

  double seconds_between(int first, int last) {
    float milliseconds = 0;
    driver_.check(driver_.cuEventElapsedTime(&milliseconds, at(first), at(last)),
                  "cuEventElapsedTime");
    return milliseconds * 1e-3;
  }

 private:
  CUevent at(int n) const { return events_[static_cast<std::size_t>(n)]; }

  const Driver& driver_;
  std::vector<CUevent> events_;
};

/// Seconds of one run, the median of `samples` samples of `runs` runs each.
double median_seconds(const Driver& driver, const std::function<void()>& run, int samples,
                      int runs) {
  Events events(driver, samples + 1);
  events.record(0);
  for (int sample = 1; sample <= samples; ++sample) {
    for (int n = 0; n < runs; ++n) run();
    events.record(sample);
  }
  events.wait(samples);
  std::vector<double> seconds(static_cast<std::size_t>(samples));
  for (int n = 0; n < samples; ++n) {
    seconds[static_cast<std::size_t>(n)] = events.seconds_between(n, n + 1) / runs;
  }
  const auto middle = seconds.begin() + samples / 2;
  std::nth_element(seconds.begin(), middle, seconds.end());
  return *middle;
}

int samples_in(double seconds, double sample) {
  return static_cast<int>(std::clamp(seconds / sample, kMinSamples, kMaxSamples));
}

}  // namespace

Timing time_on_device(const Driver& driver, const std::function<void()>& run, double seconds) {
  median_seconds(driver, run, 1, 1);
  const double estimate = std::max(1e-6, median_seconds(driver, run, 3, 3));
  Timing timing;
  if (estimate < kShortRun) timing.runs = static_cast<int>(std::ceil(kSample / estimate));
  timing.samples = samples_in(seconds, estimate * timing.runs);
  median_seconds(driver, run, static_cast<int>(std::ceil(kWarmUp * timing.samples)), timing.runs);
  timing.seconds = median_seconds(driver, run, timing.samples, timing.runs);
  return timing;
}

}  // namespace vnjit
