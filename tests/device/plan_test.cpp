#include <cuda.h>

#include <thread>

#include "device_test.hpp"
#include "vnjit/runtime/driver.hpp"

namespace vnjit::tests {
namespace {

class PlanOnGpu : public DeviceTest {
 protected:
  static constexpr std::int64_t kPop = 6;
  static constexpr std::int64_t kBatch = 8;
  static constexpr std::int64_t kIn = 64;
  static constexpr std::int64_t kOut = 32;
  const PerturbedLinear problem{.pop = kPop, .batch = kBatch, .in = kIn, .out = kOut};

  void SetUp() override {
    DeviceTest::SetUp();
    if (!device) return;
    x = on_device(normal_values(kBatch * kIn, 1));
    weight = on_device(normal_values(kOut * kIn, 2));
    bias = on_device(normal_values(kOut, 3));
    seeds = on_device(random_seeds(kPop, 4));
    y = poisoned(kPop * kBatch * kOut);
  }

  PerturbedLinearArguments arguments() const {
    return {.x = x.data(),
            .weight = weight.data(),
            .bias = bias.data(),
            .seeds = seeds.data(),
            .y = y.data(),
            .sigma = 0.1f,
            .pop = kPop,
            .batch = kBatch,
            .in = kIn,
            .out = kOut};
  }

  Buffer<float> x, weight, bias, y;
  Buffer<std::int64_t> seeds;
};

TEST_F(PlanOnGpu, RunsOnADeviceWhoseClockIsKnown) {
  EXPECT_GT(device->limits().clock_mhz, 500);
  EXPECT_LT(device->limits().clock_mhz, 5000);
}

TEST_F(PlanOnGpu, IsMadeOnceForAProblem) {
  const auto plan = runtime.plan(problem, device);
  EXPECT_EQ(runtime.plan(problem, device), plan);
  PerturbedLinear other = problem;
  other.bias = false;
  EXPECT_NE(runtime.plan(other, device), plan);
  EXPECT_NE(plan->explain().find("access rows16+noise64+index32"), std::string::npos)
      << plan->explain();
  EXPECT_NE(plan->explain().find("access any"), std::string::npos);
}

// NVRTC keeps binaries where a driver is, and would answer the second time without a report.
TEST_F(PlanOnGpu, ResourcesAreKnownOfWhatWasCompiledBefore) {
  Options options = Options::from_environment();
  options.cache_dir.clear();
  const KernelSource source =
      emit(problem, choose_config(problem, device->limits()), device->limits());
  for (int repeat = 0; repeat < 2; ++repeat) {
    const Compiled compiled = Runtime(options).compile(source);
    EXPECT_FALSE(compiled.cache_hit);
    EXPECT_GT(compiled.binary.usage.registers, 0);
  }
}

TEST_F(PlanOnGpu, RunsInTheGivenStream) {
  const auto plan = runtime.plan(problem, device);
  plan->run(arguments());
  const std::vector<float> expected = on_host(y);
  const StreamHandle stream = device->create_stream();
  const auto other = poisoned(kPop * kBatch * kOut);
  PerturbedLinearArguments elsewhere = arguments();
  elsewhere.y = other.data();
  plan->run(elsewhere, stream);
  device->synchronize(stream);
  device->destroy_stream(stream);
  EXPECT_EQ(on_host(other), expected);
}

TEST_F(PlanOnGpu, ReadsSigmaFromTheDevice) {
  const auto plan = runtime.plan(problem, device);
  plan->run(arguments());
  const std::vector<float> expected = on_host(y);
  const auto sigma = on_device(std::vector<float>{0.1f});
  PerturbedLinearArguments pointed = arguments();
  pointed.sigma = static_cast<const float*>(sigma.data());
  y = poisoned(kPop * kBatch * kOut);
  pointed.y = y.data();
  plan->run(pointed);
  EXPECT_EQ(on_host(y), expected);
}

TEST_F(PlanOnGpu, RunsFromAnotherThread) {
  const auto plan = runtime.plan(problem, device);
  plan->run(arguments());
  const std::vector<float> expected = on_host(y);
  y = poisoned(kPop * kBatch * kOut);
  std::thread([&] {
    plan->run(arguments());
    device->synchronize();
  }).join();
  EXPECT_EQ(on_host(y), expected);
}

TEST_F(PlanOnGpu, MemoryIsReleasedOnAThreadWithoutAContext) {
  const Driver driver;
  const auto free_bytes = [&] {
    std::size_t free = 0;
    std::size_t total = 0;
    const auto get = reinterpret_cast<CUresult (*)(std::size_t*, std::size_t*)>(
        SharedLibrary("libcuda.so.1").symbol("cuMemGetInfo_v2"));
    driver.check(get(&free, &total), "cuMemGetInfo");
    return free;
  };
  constexpr std::size_t kBytes = std::size_t{1} << 30;
  Buffer<char> memory(device, kBytes);
  const std::size_t before = free_bytes();
  std::thread([&] { memory = {}; }).join();
  EXPECT_GE(free_bytes(), before + kBytes / 2);
}

TEST_F(PlanOnGpu, RefusesAnotherContext) {
  const auto plan = runtime.plan(problem, device);
  const Driver driver;
  CUcontext own = nullptr;
  CUcontext popped = nullptr;
  CUdevice number = 0;
  driver.check(driver.cuDeviceGet(&number, 0), "cuDeviceGet");
  const auto create = reinterpret_cast<CUresult (*)(CUcontext*, unsigned, CUdevice)>(
      SharedLibrary("libcuda.so.1").symbol("cuCtxCreate_v2"));
  driver.check(create(&own, 0, number), "cuCtxCreate");
  EXPECT_NE(refusal_of([&] { plan->run(arguments()); }).find("another CUDA context is current"),
            std::string::npos);
  driver.check(driver.cuCtxPopCurrent(&popped), "cuCtxPopCurrent");
  plan->run(arguments());
  EXPECT_FALSE(std::isnan(on_host(y)[0]));
}

TEST_F(PlanOnGpu, EmptySizesLaunchNothing) {
  const auto plan = runtime.plan(problem, device);
  for (std::int64_t PerturbedLinearArguments::*size :
       {&PerturbedLinearArguments::pop, &PerturbedLinearArguments::batch,
        &PerturbedLinearArguments::out}) {
    PerturbedLinearArguments empty = arguments();
    empty.*size = 0;
    plan->run(empty);
  }
  for (const float value : on_host(y)) EXPECT_TRUE(std::isnan(value));
}

// More than 2^31 outputs: the kernel with 64-bit indices is picked, and the last ones are right.
TEST_F(PlanOnGpu, IndexesBeyondTwoToThe31) {
  constexpr std::int64_t kWidePop = 4200;
  constexpr std::int64_t kWideBatch = 1000;
  constexpr std::int64_t kWideOut = 513;
  static_assert(kWidePop * kWideBatch * kWideOut > std::int64_t{1} << 31);
  const PerturbedLinear wide{
      .bias = false, .pop = kWidePop, .batch = kWideBatch, .in = 4, .out = kWideOut};
  const auto wide_x = on_device(normal_values(kWideBatch * 4, 5));
  const auto wide_weight = on_device(normal_values(kWideOut * 4, 6));
  const auto wide_seeds = on_device(random_seeds(kWidePop, 7));
  const Buffer<float> wide_y(device, static_cast<std::size_t>(kWidePop * kWideBatch * kWideOut));
  PerturbedLinearArguments arguments{.x = wide_x.data(),
                                     .weight = wide_weight.data(),
                                     .seeds = wide_seeds.data(),
                                     .y = wide_y.data(),
                                     .sigma = 0.5f,
                                     .pop = kWidePop,
                                     .batch = kWideBatch,
                                     .in = 4,
                                     .out = kWideOut};
  runtime.plan(wide, device)->run(arguments);
  std::vector<float> last(kWideBatch * kWideOut);
  device->copy_out(last.data(), wide_y.data() + (kWidePop - 1) * kWideBatch * kWideOut,
                   last.size() * sizeof(float));

  const auto alone = poisoned(kWideBatch * kWideOut);
  arguments.seeds += kWidePop - 1;
  arguments.pop = 1;
  arguments.y = alone.data();
  runtime
      .plan(PerturbedLinear{.bias = false, .pop = 1, .batch = kWideBatch, .in = 4, .out = kWideOut},
            device)
      ->run(arguments);
  EXPECT_EQ(last, on_host(alone));
}

void make_runtimes_in_turn() {
  for (int repeat = 0; repeat < 3; ++repeat) {
    Runtime runtime(Options{});
    const Buffer<float> memory(runtime.gpu(0), 1000);
  }
  std::exit(0);
}

// In a process of its own, where nothing else keeps the primary context.
TEST(RuntimeOnGpu, WorksAfterTheLastOneIsGone) {
  if (Runtime(Options{}).gpu_count() == 0) GTEST_SKIP() << "no GPU";
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  EXPECT_EXIT(make_runtimes_in_turn(), testing::ExitedWithCode(0), "");
}

}  // namespace
}  // namespace vnjit::tests
