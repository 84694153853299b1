#pragma once

#include <gtest/gtest.h>

#include <memory>
#include <vector>

#include "runtime/cpu_reference.hpp"
#include "vnjit/vnjit.hpp"

namespace vnjit::tests {

/// One runtime for all tests of the program, with kernels cached in memory only.
inline Runtime& shared_runtime() {
  static Runtime runtime([] {
    Options options = Options::from_environment();
    options.cache_dir.clear();
    return options;
  }());
  return runtime;
}

/// GPU 0; skips where there is none.
class DeviceTest : public testing::Test {
 protected:
  void SetUp() override {
    std::string why;
    if (runtime.gpu_count(&why) == 0) GTEST_SKIP() << "no GPU: " << why;
    device = runtime.gpu(0);
  }

  template <typename T>
  Buffer<T> on_device(const std::vector<T>& host) const {
    return Buffer<T>(device, host.data(), host.size());
  }

  /// Filled with NaN, so that what is not written shows.
  Buffer<float> poisoned(std::int64_t count) const {
    return on_device(std::vector<float>(static_cast<std::size_t>(count), kNaN));
  }

  template <typename T>
  static std::vector<T> on_host(const Buffer<T>& buffer) {
    std::vector<T> values(buffer.size());
    buffer.copy_to(values.data());
    return values;
  }

  Runtime& runtime = shared_runtime();
  std::shared_ptr<Device> device;
};

/// Standard normal inputs: what the error bounds are stated for.
inline std::vector<float> normal_values(std::int64_t count, unsigned seed) {
  std::mt19937 engine(seed);
  std::normal_distribution<float> normal;
  std::vector<float> values(static_cast<std::size_t>(count));
  for (float& value : values) value = normal(engine);
  return values;
}

}  // namespace vnjit::tests
