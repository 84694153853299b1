#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <random>

#include "bench_row.hpp"
#include "vnjit/runtime/driver.hpp"
#include "vnjit/runtime/runtime.hpp"

namespace vnjit::cli {

/// Measures forward cases on one GPU, on random inputs: X standard normal, W and the bias normal
/// with variance 1 / in.
class ForwardBench {
 public:
  /// Each case is measured for about `seconds`. Throws Unavailable without the GPU.
  ForwardBench(int ordinal, double seconds, std::uint64_t seed);

  const Device& device() const { return *device_; }

  /// Adds to a row with a config the time of a run, with everything that it launches. A ConfigError
  /// becomes the row's note, and so does it if some elements of Y are NaN, as all were before; only
  /// then the answer is false. Throws what Runtime::plan and Plan::run do.
  bool measure(BenchRow& row);

 private:
  bool measure(BenchRow& row, const Plan& plan);
  Buffer<std::byte> normal(std::int64_t count, float deviation, DataType type);
  Buffer<std::int64_t> seeds(std::int64_t count);
  Buffer<float> poisoned(std::int64_t count);
  int count_nan(const Buffer<float>& y);

  Runtime runtime_;
  std::shared_ptr<Device> device_;
  Driver driver_;
  double seconds_;
  std::mt19937_64 engine_;
};

}  // namespace vnjit::cli
