#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <limits>
#include <map>
#include <memory>
#include <random>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "bench_row.hpp"
#include "vnjit/runtime/driver.hpp"
#include "vnjit/runtime/runtime.hpp"

namespace vnjit::cli {

constexpr float kBenchSigma = 0.05f;
constexpr float kPoison = std::numeric_limits<float>::quiet_NaN();

/// Memory that a run has to write.
struct Output {
  const float* data;
  std::int64_t count;
  float before;  ///< what all of it is before the first run
};

/// A GPU to measure on: inputs for it, and the time that its plans take.
class BenchDevice {
 public:
  /// Each case is measured for about `seconds`. Throws Unavailable without the GPU.
  BenchDevice(int ordinal, double seconds, std::uint64_t seed);

  const std::string& name() const { return device_->name(); }
  const DeviceLimits& limits() const { return device_->limits(); }

  /// Throws what Runtime::plan does.
  std::shared_ptr<const Plan> plan(const Problem& problem, const Config& config);

  /// Normal numbers of mean 0. From a million on they repeat: to draw them takes the host longer
  /// than the GPU needs for what is measured.
  Buffer<std::byte> normal(std::int64_t count, float deviation, DataType type);
  Buffer<float> normal(std::int64_t count);
  Buffer<std::int64_t> seeds(std::int64_t count);
  Buffer<float> filled(std::int64_t count, float value);

  /// Adds the time of a run, with everything that it launches, to the row. If some elements of what
  /// `outputs` names are as before or NaN, that becomes the row's note, and only then the answer is
  /// false. Throws what Plan::run does.
  template <typename Arguments>
  bool measure(const Plan& plan, const Arguments& arguments, std::string_view name,
               std::span<const Output> outputs, BenchRow& row) {
    const Buffer<std::byte> scratch(device_, plan.workspace_bytes(arguments));
    const Workspace workspace{scratch.data(), scratch.size()};
    row.timing = time_of([&] { plan.run(arguments, nullptr, workspace); });
    return are_written(name, outputs, row);
  }

  /// Values a second that the generator makes by itself. Measured once for each noise.
  double noise_ceiling(const NoiseSpec& noise);

 private:
  std::vector<float> draw_normal(std::int64_t count, float deviation);
  Timing time_of(const std::function<void()>& run) const;
  bool are_written(std::string_view name, std::span<const Output> outputs, BenchRow& row);
  double measure_noise(const NoiseSpec& noise);

  Runtime runtime_;
  std::shared_ptr<Device> device_;
  std::shared_ptr<const Driver> driver_;
  double seconds_;
  std::mt19937_64 engine_;
  std::map<std::string, double> ceilings_;
};

}  // namespace vnjit::cli
