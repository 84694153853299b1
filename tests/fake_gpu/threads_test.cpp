#include <gtest/gtest.h>

#include <atomic>
#include <thread>

#include "fake_driver.hpp"
#include "temp_dir.hpp"
#include "vnjit/vnjit.hpp"

// Many threads and many shapes on one Runtime: what thread and address sanitizers look at.

namespace vnjit::tests {
namespace {

constexpr int kThreads = 8;
constexpr int kShapes = 100;

Problem shape(int number) {
  static constexpr const char* kNoises[] = {"philox:uniform8", "philox:uniform", "triton",
                                            "splitmix64", "philox:rademacher"};
  NoiseSpec noise = parse_noise_spec(kNoises[number % 5]);
  noise.antithetic = number % 2 != 0;
  const std::int64_t size = 8 + number;
  switch (number % 3) {
    case 0:
      return Gradient{.noise = noise, .pop = 10, .rows = size, .columns = 16};
    case 1:
      return ReduceMetric{.noise = noise, .pop = 10, .params = size};
    default:
      return PerturbedLinear{.noise = noise, .pop = 4, .batch = size, .in = 16, .out = 16};
  }
}

TEST(Threads, EightPlanAHundredShapesInMemoryAndOnDisk) {
  const TempDir folder;
  FakeDriver& driver = fake_driver();
  const std::size_t modules = driver.modules.size();
  std::atomic<int> wrong = 0;
  {
    Options options = Options::from_environment();
    options.cache_dir = folder / "cache";
    options.cache_bytes = 4'000'000;  // evicts meanwhile
    options.cached_plans = 20;
    options.report = [&](Severity, std::string_view) { ++wrong; };
    Runtime runtime(options);
    const auto gpu = runtime.gpu(0);
    const auto cpu = runtime.cpu();
    std::vector<std::thread> threads;
    for (int thread = 0; thread < kThreads; ++thread) {
      threads.emplace_back([&, thread] {
        for (int n = 0; n < kShapes; ++n) {
          const Problem problem = shape((n * 7 + thread * 13) % kShapes);
          const PlanRequest request = runtime.plan_async(problem, gpu);
          const auto now = request.now();
          if (now && now->device().ordinal() != 0) ++wrong;
          const auto plan = n % 2 != 0 ? request.get() : runtime.plan(problem, gpu);
          if (plan->problem() != problem) ++wrong;
          if (runtime.plan(problem, cpu)->problem() != problem) ++wrong;
        }
      });
    }
    for (std::thread& thread : threads) thread.join();
  }
  EXPECT_EQ(wrong, 0);
  EXPECT_EQ(driver.modules.size(), modules);
}

}  // namespace
}  // namespace vnjit::tests
