#include <gmock/gmock.h>

#include <limits>
#include <memory>
#include <thread>

#include "child_process.hpp"
#include "fake_driver.hpp"
#include "params/perturbed_linear.cuh"
#include "params/reduce_metric.cuh"
#include "vnjit/runtime/driver.hpp"
#include "vnjit/vnjit.hpp"

namespace vnjit::tests {
namespace {

using testing::Each;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::StartsWith;
using testing::ThrowsMessage;

/// A Runtime on the fake GPU, which is left as it was found.
class FakeGpuTest : public testing::Test {
 protected:
  FakeGpuTest() {
    driver.failing.clear();
    driver.captured.clear();
    driver.on_launch = nullptr;
    driver.gone = false;
    driver.max_grid_x = 2147483647;
    forget();
  }
  ~FakeGpuTest() override { driver.max_grid_x = 2147483647; }

  void forget() {
    driver.calls.clear();
    driver.launches.clear();
    driver.loads = 0;
  }

  PerturbedLinearArguments arguments_of(const PerturbedLinear& p) const {
    // Never read: the fake GPU computes nothing.
    const auto at = [](std::uintptr_t number) { return reinterpret_cast<float*>(number << 40); };
    return {.x = at(1),
            .weight = at(2),
            .bias = p.bias ? at(3) : nullptr,
            .seeds = reinterpret_cast<std::int64_t*>(at(4)),
            .y = at(16),
            .sigma = 0.1f,
            .pop = p.pop,
            .batch = p.batch,
            .in = p.in,
            .out = p.out};
  }

  FakeDriver& driver = fake_driver();
  Options options = Options::from_environment();
  Runtime runtime{options};
  std::shared_ptr<Device> device = runtime.gpu(0);
  const PerturbedLinear simt{.pop = 2, .batch = 8, .in = 16, .out = 64};
  const PerturbedLinear half{.input = DataType::f16, .pop = 64, .batch = 64, .in = 256, .out = 256};
};

TEST_F(FakeGpuTest, ARefusedRunCallsNothing) {
  const auto plan = runtime.plan(simt, device);
  forget();
  PerturbedLinearArguments wrong = arguments_of(simt);
  wrong.y = const_cast<void*>(wrong.x);
  EXPECT_THROW(plan->run(wrong), InvalidArgument);
  wrong = arguments_of(simt);
  wrong.sigma = std::numeric_limits<float>::infinity();
  EXPECT_THROW(plan->run(wrong), InvalidArgument);
  EXPECT_THROW(plan->run(ReduceMetricArguments{}), InvalidArgument);
  EXPECT_THAT(driver.calls, IsEmpty());
}

TEST_F(FakeGpuTest, EmptyOutputsLaunchNothing) {
  const auto plan = runtime.plan(simt, device);
  forget();
  for (const auto size : {&PerturbedLinearArguments::pop, &PerturbedLinearArguments::batch,
                          &PerturbedLinearArguments::out}) {
    PerturbedLinearArguments empty = arguments_of(simt);
    empty.*size = 0;
    plan->run(empty);
  }
  runtime.plan(ReduceMetric{}, device)->run(ReduceMetricArguments{.sigma = 0.1f});
  EXPECT_THAT(driver.launches, IsEmpty());
}

TEST_F(FakeGpuTest, AReadyRunIsOneCall) {
  const auto plan = runtime.plan(simt, device);
  forget();
  plan->run(arguments_of(simt));
  EXPECT_THAT(driver.calls, ElementsAre("cuLaunchKernel"));
}

TEST_F(FakeGpuTest, AForwardPassAboveTheGridLimitIsLaunchedInPartsThatCoverItOnce) {
  driver.max_grid_x = 1000;
  Runtime small(options);
  const auto small_device = small.gpu(0);
  const auto plan = small.plan(simt, small_device);
  ASSERT_EQ(small_device->limits().max_grid_x, 1000);
  PerturbedLinearArguments large = arguments_of(simt);
  large.pop = 1234;
  large.batch = 300;
  std::vector<std::int64_t> first_blocks;
  driver.on_launch = [&](void** parameters) {
    first_blocks.push_back(static_cast<const PerturbedLinearParams*>(parameters[0])->first_block);
  };
  forget();
  plan->run(large);
  ASSERT_GT(driver.launches.size(), 2u);
  std::int64_t covered = 0;
  for (std::size_t n = 0; n < driver.launches.size(); ++n) {
    EXPECT_LE(driver.launches[n].blocks, 1000u);
    EXPECT_EQ(first_blocks[n], covered);
    covered += static_cast<std::int64_t>(driver.launches[n].blocks);
  }
  const Config config = choose_config(simt, small_device->limits());
  const auto tiles = [](std::int64_t size, int tile) { return (size + tile - 1) / tile; };
  EXPECT_EQ(covered, 1234 * tiles(300, config.block_batch) * tiles(64, config.block_out));
}

TEST_F(FakeGpuTest, EveryOperationStaysWithinTheGridLimit) {
  const std::int64_t huge = std::int64_t{1} << 33;
  const auto at = [](std::uintptr_t number) { return reinterpret_cast<float*>(number << 44); };
  const auto* seeds = reinterpret_cast<const std::int64_t*>(at(8));
  const auto reduce = runtime.plan(ReduceMetric{}, device);
  const auto gradient = runtime.plan(Gradient{}, device);
  forget();
  reduce->run(
      {.center = at(1), .seeds = seeds, .metric = at(2), .sigma = 0.1f, .pop = huge, .params = 3},
      nullptr);
  const GradientBlock block{.rows = 4, .columns = huge, .output = at(2)};
  gradient->run({.fitness = at(1), .seeds = seeds, .sigma = 0.1f, .pop = 2, .blocks = {&block, 1}});
  ASSERT_GE(driver.launches.size(), 2u);
  for (const FakeLaunch& launch : driver.launches) {
    EXPECT_GE(launch.blocks, 1u);
    EXPECT_LE(launch.blocks, 2147483647u);
  }
}

TEST_F(FakeGpuTest, ModulesAreSharedBetweenPlansAndUnloadedWithTheLast) {
  const auto modules = driver.modules.size();
  auto first = runtime.plan(simt, device);
  const auto with_first = driver.modules.size();
  EXPECT_GT(with_first, modules);
  PerturbedLinear other_sizes = simt;
  other_sizes.pop = 3;
  auto second = runtime.plan(other_sizes, device, choose_config(simt, device->limits()));
  EXPECT_NE(first, second);
  EXPECT_EQ(driver.modules.size(), with_first);
}

TEST_F(FakeGpuTest, APlanThatLeftTheCacheUnloadsWhenItsLastHolderLetsGo) {
  const auto before = driver.modules.size();
  options.cached_plans = 1;
  Runtime one(options);
  const auto one_device = one.gpu(0);
  auto held = one.plan(ReduceMetric{}, one_device);
  const auto with_held = driver.modules.size();
  EXPECT_EQ(with_held, before + 1);
  one.plan(Gradient{}, one_device);
  EXPECT_EQ(driver.modules.size(), with_held + 1);  // evicted, but held
  held.reset();
  EXPECT_EQ(driver.modules.size(), with_held);
  one.plan(ReduceMetric{}, one_device);  // the gradient goes
  EXPECT_EQ(driver.modules.size(), with_held);
}

TEST_F(FakeGpuTest, EverythingIsUnloadedAndFreedWithTheRuntime) {
  const auto modules = driver.modules.size();
  const auto memory = driver.memory.size();
  {
    Runtime short_lived(options);
    const auto there = short_lived.gpu(0);
    const Buffer<float> buffer(there, 100);
    short_lived.plan(half, there)->run(arguments_of(half));
    short_lived.plan(Gradient{.update = Update::adam}, there);
    EXPECT_GT(driver.modules.size(), modules);
  }
  EXPECT_EQ(driver.modules.size(), modules);
  EXPECT_EQ(driver.memory.size(), memory);
}

TEST_F(FakeGpuTest, UnloadingAtExitIsQuietWhenTheDriverIsGone) {
  auto short_lived = std::make_unique<Runtime>(options);
  auto there = short_lived->gpu(0);
  auto plan = short_lived->plan(half, there);
  Buffer<float> buffer(there, 100);
  const StreamHandle stream = there->create_stream();
  driver.gone = true;
  there->destroy_stream(stream);
  buffer = {};
  plan.reset();
  short_lived.reset();
  there.reset();
  driver.gone = false;
}

TEST_F(FakeGpuTest, AnotherContextIsRefusedByName) {
  const auto plan = runtime.plan(simt, device);
  const Buffer<float> buffer(device, 4);
  std::thread([&] {
    const CUcontext other = make_fake_context();
    ASSERT_EQ(cuCtxPushCurrent(other), CUDA_SUCCESS);
    const auto refusal = ThrowsMessage<InvalidArgument>(
        StartsWith("another CUDA context is current on this thread; this belongs to a context of "
                   "GPU 0 (Fake GPU)"));
    float value = 0;
    EXPECT_THAT([&] { device->copy_out(&value, buffer.data(), 4); }, refusal);
    EXPECT_THAT([&] { device->synchronize(); }, refusal);
    EXPECT_THAT([&] { runtime.plan(half, device); }, refusal);
    EXPECT_THAT([&] { Buffer<float>(device, 4); }, refusal);
  }).join();
}

TEST_F(FakeGpuTest, EachContextHasModulesOfItsOwn) {
  runtime.plan(ReduceMetric{}, device);
  const auto loaded = driver.modules.size();
  std::thread([&] {
    ASSERT_EQ(cuCtxPushCurrent(make_fake_context()), CUDA_SUCCESS);
    // While the primary context is in use, another of the GPU that is current is taken.
    Runtime second(options);
    const auto there = second.gpu(0);
    second.plan(ReduceMetric{}, there);
    EXPECT_EQ(driver.modules.size(), loaded + 1);
  }).join();
  EXPECT_EQ(driver.modules.size(), loaded);
}

TEST_F(FakeGpuTest, PlansAreMadeInTheBackgroundInTheDevicesContext) {
  const PlanRequest request = runtime.plan_async(half, device);
  const auto plan = request.get();
  EXPECT_EQ(plan, runtime.plan(half, device));
  plan->run(arguments_of(half));
}

TEST_F(FakeGpuTest, AForkedProcessIsToldSoAndCallsNothing) {
  const auto plan = runtime.plan(half, device);
  auto buffer = std::make_unique<Buffer<float>>(device, 4);
  const StreamHandle stream = device->create_stream();
  const pid_t child = start_child([&] {
    forget();
    constexpr std::string_view kForked =
        "this process was forked after CUDA was initialized, and CUDA does not work in it; use "
        "CUDA only after the fork, or begin a new program with exec";
    int refused = 0;
    const auto expect_refused = [&](auto call) {
      try {
        call();
      } catch (const Unavailable& error) {
        refused += error.what() == kForked;
      }
    };
    float value = 0;
    expect_refused([&] { plan->run(arguments_of(half)); });
    expect_refused([&] { runtime.plan(simt, device); });
    expect_refused([&] { runtime.plan_async(ReduceMetric{}, device).get(); });
    expect_refused([&] { runtime.gpu(0); });
    expect_refused([&] { Buffer<float>(device, 4); });
    expect_refused([&] { device->copy_in(buffer->data(), &value, 4); });
    expect_refused([&] { device->synchronize(); });
    expect_refused([&] { device->create_stream(); });
    expect_refused([&] { Driver(); });
    expect_refused([&] { Runtime(options).gpu(0); });
    device->destroy_stream(stream);
    buffer.reset();
    const bool on_cpu = !runtime.best_device()->is_gpu();
    const bool made = runtime.plan(ReduceMetric{}, runtime.cpu()) != nullptr;
    return refused == 10 && on_cpu && made && driver.calls.empty() ? 0 : refused + 1;
  });
  EXPECT_EQ(exit_status(child), 0);
}

TEST_F(FakeGpuTest, WhileAStreamIsCapturedPlansAreMadeAndRunOutsideOfTheCapture) {
  const StreamHandle stream = device->create_stream();
  driver.captured.insert(stream);
  const auto plan = runtime.plan(PerturbedLinear{.pop = 5, .batch = 8, .in = 16, .out = 32}, device,
                                 choose_config(simt, device->limits()));
  Buffer<float> buffer(device, 10);
  plan->run(arguments_of(simt), stream);
  EXPECT_EQ(driver.launches.back().stream, stream);
  buffer = {};
  EXPECT_EQ(driver.captured.count(stream), 1u);
}

TEST_F(FakeGpuTest, CopiesAndWaitingInACapturedStreamAreRefused) {
  const Buffer<float> buffer(device, 4);
  const StreamHandle stream = device->create_stream();
  const StreamHandle other = device->create_stream();
  float value = 0;
  driver.captured.insert(stream);
  forget();
  for (const StreamHandle captured : {stream, StreamHandle{}}) {
    EXPECT_THAT([&] { device->copy_in(buffer.data(), &value, 4, captured); },
                ThrowsMessage<InvalidArgument>(HasSubstr(
                    "a stream is being captured: a copy to the GPU waits for its stream")));
    EXPECT_THAT([&] { device->copy_out(&value, buffer.data(), 4, captured); },
                ThrowsMessage<InvalidArgument>(HasSubstr("a copy from the GPU waits")));
    EXPECT_THAT([&] { device->synchronize(captured); },
                ThrowsMessage<InvalidArgument>(HasSubstr("synchronization waits")));
  }
  EXPECT_EQ(driver.count("cuMemcpyHtoDAsync"), 0);
  EXPECT_EQ(driver.count("cuMemcpyDtoHAsync"), 0);
  EXPECT_EQ(driver.count("cuStreamSynchronize"), 0);
  driver.captured.clear();
  device->copy_in(buffer.data(), &value, 4, other);
  EXPECT_EQ(driver.count("cuMemcpyHtoDAsync"), 1);
}

TEST_F(FakeGpuTest, WithWorkspaceARunAllocatesNothingAndWithoutItFreesWhatItAllocates) {
  const auto plan = runtime.plan(half, device);
  const PerturbedLinearArguments arguments = arguments_of(half);
  const Buffer<std::byte> scratch(device, plan->workspace_bytes(arguments));
  ASSERT_GT(scratch.size(), 0u);
  const auto memory = driver.memory.size();
  forget();
  plan->run(arguments, nullptr, {scratch.data(), scratch.size()});
  EXPECT_EQ(driver.count("cuMemAllocAsync"), 0);
  plan->run(arguments);
  EXPECT_EQ(driver.count("cuMemAllocAsync"), 1);
  EXPECT_EQ(driver.count("cuMemFreeAsync"), 1);
  EXPECT_EQ(driver.memory.size(), memory);
}

TEST_F(FakeGpuTest, WhicheverCallFailsIsNamedAndNothingLeaks) {
  const auto modules = driver.modules.size();
  const auto memory = driver.memory.size();
  for (const char* call :
       {"cuDeviceGetCount", "cuDeviceGet", "cuDeviceGetName", "cuDeviceGetAttribute",
        "cuDevicePrimaryCtxRetain", "cuModuleLoadData", "cuModuleGetFunction", "cuFuncLoad",
        "cuFuncSetAttribute", "cuMemAllocAsync", "cuLaunchKernel", "cuMemAlloc",
        "cuMemcpyHtoDAsync", "cuStreamSynchronize", "cuStreamCreate"}) {
    std::thread([&, call] {  // has no current context at first
      driver.failing = call;
      const auto all = [&] {
        Runtime failing(options);
        const auto there = failing.gpu(0);
        failing.plan(half, there)->run(arguments_of(half));
        failing.plan(ReduceMetric{}, there);
        const std::vector<float> values(4);
        const Buffer<float> buffer(there, values.data(), values.size());
        there->destroy_stream(there->create_stream());
      };
      EXPECT_THAT(all, ThrowsMessage<CudaError>(
                           AllOf(StartsWith(call), HasSubstr("CUDA_ERROR_OUT_OF_MEMORY"))))
          << call;
      driver.failing.clear();
    })
        .join();
    EXPECT_EQ(driver.modules.size(), modules) << call;
    EXPECT_EQ(driver.memory.size(), memory) << call;
  }
}

}  // namespace
}  // namespace vnjit::tests
