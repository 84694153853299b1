#include <gmock/gmock.h>

#include <algorithm>
#include <numeric>
#include <thread>

#include "captured_graph.hpp"
#include "child_process.hpp"
#include "device_test.hpp"
#include "vnjit/runtime/error.hpp"

// What a host program may do to a plan that a driver would not forgive.

namespace vnjit::tests {
namespace {

using testing::HasSubstr;
using testing::ThrowsMessage;

class GuardsOnGpu : public DeviceTest {
 protected:
  /// A forward pass in memory of its own.
  struct Pass {
    PerturbedLinear problem;
    Buffer<float> x, weight, y;
    Buffer<std::int64_t> seeds;

    PerturbedLinearArguments arguments() const {
      return {.x = x.data(),
              .weight = weight.data(),
              .seeds = seeds.data(),
              .y = y.data(),
              .sigma = 0.5f,
              .pop = problem.pop,
              .batch = problem.batch,
              .in = problem.in,
              .out = problem.out};
    }
  };

  Pass make_pass(const std::shared_ptr<Device>& where, const PerturbedLinear& p) const {
    const auto on = [&](const auto& host) {
      return Buffer<typename std::decay_t<decltype(host)>::value_type>(where, host.data(),
                                                                       host.size());
    };
    return {.problem = p,
            .x = on(normal_values(p.batch * p.in, 1)),
            .weight = on(normal_values(p.out * p.in, 2)),
            .y = on(std::vector<float>(static_cast<std::size_t>(p.pop * p.batch * p.out), kNaN)),
            .seeds = on(random_seeds(p.pop, 3))};
  }

  static std::size_t free_bytes() {
    std::size_t free = 0;
    std::size_t total = 0;
    const auto get = reinterpret_cast<CUresult (*)(std::size_t*, std::size_t*)>(
        SharedLibrary("libcuda.so.1").symbol("cuMemGetInfo_v2"));
    Driver().check(get(&free, &total), "cuMemGetInfo");
    return free;
  }

  const PerturbedLinear problem{.bias = false, .pop = 6, .batch = 70, .in = 96, .out = 130};
};

// Each round loads what a program with ever new shapes would load.
TEST_F(GuardsOnGpu, ModulesAreUnloadedWithTheirPlans) {
  Options options = Options::from_environment();
  options.cache_dir.clear();
  options.cached_plans = 1;
  Runtime small(options);
  const auto there = small.gpu(0);
  const PerturbedLinear half{
      .input = DataType::f16, .pop = 64, .batch = 128, .in = 1024, .out = 1024};
  const auto round = [&] {
    small.plan(half, there);
    small.plan(Gradient{.update = Update::adam}, there);
  };
  for (int n = 0; n < 10; ++n) round();
  const std::size_t before = free_bytes();
  for (int n = 0; n < 500; ++n) round();
  const std::size_t after = free_bytes();
  EXPECT_LE(before - std::min(before, after), std::size_t{64} << 20);
}

TEST_F(GuardsOnGpu, TwoContextsSideBySideGiveTheSameBits) {
  const Pass here = make_pass(device, problem);
  const auto plan = runtime.plan(problem, device);
  plan->run(here.arguments());
  const std::vector<float> expected = on_host(here.y);
  std::thread([&] {
    const Driver driver;
    CUcontext own = nullptr;
    CUcontext popped = nullptr;
    CUdevice number = 0;
    driver.check(driver.cuDeviceGet(&number, 0), "cuDeviceGet");
    const auto create = reinterpret_cast<CUresult (*)(CUcontext*, unsigned, CUdevice)>(
        SharedLibrary("libcuda.so.1").symbol("cuCtxCreate_v2"));
    driver.check(create(&own, 0, number), "cuCtxCreate");
    {
      Runtime second(Options::from_environment());
      const auto there = second.gpu(0);
      const Pass pass = make_pass(there, problem);
      second.plan(problem, there)->run(pass.arguments());
      EXPECT_EQ(on_host(pass.y), expected);
      EXPECT_THAT([&] { plan->run(here.arguments()); },
                  ThrowsMessage<InvalidArgument>(HasSubstr("another CUDA context is current")));
    }
    driver.check(driver.cuCtxPopCurrent(&popped), "cuCtxPopCurrent");
  }).join();
  plan->run(here.arguments());
  EXPECT_EQ(on_host(here.y), expected);
}

TEST_F(GuardsOnGpu, PlansAndMemoryAreMadeWhileAStreamIsCaptured) {
  const Pass pass = make_pass(device, problem);
  runtime.plan(problem, device)->run(pass.arguments());
  const std::vector<float> expected = on_host(pass.y);
  const Pass captured = make_pass(device, problem);
  const StreamHandle stream = device->create_stream();
  Options options = Options::from_environment();
  options.cache_dir.clear();
  Runtime fresh(options);
  const auto there = fresh.gpu(0);
  {
    Buffer<float> made;
    const CapturedGraph graph(stream, [&] {
      made = Buffer<float>(device, 1000);
      const auto plan = runtime.plan(problem, device, choose_config(problem, device->limits()));
      plan->run(captured.arguments(), stream);
      fresh.plan(ReduceMetric{}, there);  // compiled and loaded
    });
    graph.replay(stream);
    EXPECT_EQ(on_host(captured.y), expected);
  }
  device->destroy_stream(stream);
}

TEST_F(GuardsOnGpu, CopiesIntoACapturedStreamAreRefusedAndTheCaptureGoesOn) {
  const Pass pass = make_pass(device, problem);
  const auto plan = runtime.plan(problem, device);
  plan->run(pass.arguments());
  const std::vector<float> expected = on_host(pass.y);
  const Pass captured = make_pass(device, problem);
  const StreamHandle stream = device->create_stream();
  {
    float value = 0;
    const CapturedGraph graph(stream, [&] {
      EXPECT_THAT([&] { device->copy_in(captured.x.data(), &value, 4, stream); },
                  ThrowsMessage<InvalidArgument>(HasSubstr("a stream is being captured")));
      EXPECT_THAT([&] { device->copy_out(&value, captured.x.data(), 4, stream); },
                  ThrowsMessage<InvalidArgument>(HasSubstr("a stream is being captured")));
      EXPECT_THAT([&] { device->synchronize(stream); },
                  ThrowsMessage<InvalidArgument>(HasSubstr("a stream is being captured")));
      plan->run(captured.arguments(), stream);
    });
    graph.replay(stream);
    EXPECT_EQ(on_host(captured.y), expected);
  }
  device->destroy_stream(stream);
}

TEST_F(GuardsOnGpu, ARunWithoutWorkspaceIsCapturedToo) {
  const PerturbedLinear half{.input = DataType::f32,
                             .precision = Precision::f16,
                             .bias = false,
                             .pop = 16,
                             .batch = 64,
                             .in = 256,
                             .out = 256};
  const Pass pass = make_pass(device, half);
  const auto plan =
      runtime.plan(half, device, choose_config(half, device->limits(), Family::mma_sync));
  ASSERT_GT(plan->workspace_bytes(pass.arguments()), 0u);
  plan->run(pass.arguments());
  const std::vector<float> expected = on_host(pass.y);
  const Pass captured = make_pass(device, half);
  const StreamHandle stream = device->create_stream();
  {
    const CapturedGraph graph(stream, [&] { plan->run(captured.arguments(), stream); });
    graph.replay(stream);
    EXPECT_EQ(on_host(captured.y), expected);
    graph.replay(stream);
    EXPECT_EQ(on_host(captured.y), expected);
  }
  device->destroy_stream(stream);
}

TEST_F(GuardsOnGpu, AForkedChildIsToldSoAndTheParentGoesOn) {
  const Pass pass = make_pass(device, problem);
  const auto plan = runtime.plan(problem, device);
  const pid_t child = start_child([&] {
    ::alarm(60);
    int refused = 0;
    const auto expect_refused = [&](auto call) {
      try {
        call();
      } catch (const Unavailable& error) {
        refused += std::string(error.what()).starts_with("this process was forked after CUDA");
      }
    };
    expect_refused([&] { plan->run(pass.arguments()); });
    expect_refused([&] { runtime.gpu(0); });
    expect_refused([&] { Buffer<float>(device, 4); });
    expect_refused([&] { Runtime(Options{}).gpu(0); });
    expect_refused([&] { device->synchronize(); });
    return refused == 5 && !runtime.best_device()->is_gpu() ? 0 : 1;
  });
  EXPECT_EQ(exit_status(child), 0);
  plan->run(pass.arguments());
  EXPECT_FALSE(std::isnan(on_host(pass.y)[0]));
}

TEST_F(GuardsOnGpu, PlansAreMadeInTheBackground) {
  Options options = Options::from_environment();
  options.cache_dir.clear();
  Runtime fresh(options);
  const auto there = fresh.gpu(0);
  const PerturbedLinear half{
      .precision = Precision::f16, .bias = false, .pop = 16, .batch = 64, .in = 256, .out = 256};
  const Pass pass = make_pass(there, half);
  const Config tensor = choose_config(half, there->limits(), Family::mma_sync);
  const PlanRequest request = fresh.plan_async(half, there, tensor);
  int runs = 0;
  while (!request.ready()) {
    if (const auto now = request.now()) {
      now->run(pass.arguments());
      ++runs;
      there->synchronize();
    }
  }
  const auto plan = request.get();
  EXPECT_EQ(plan, fresh.plan(half, there, tensor));
  EXPECT_GT(runs, 0);  // by the general kernel, before the one for tensor cores was compiled
  const std::vector<float> general = on_host(pass.y);
  plan->run(pass.arguments());
  const std::vector<float> found = on_host(pass.y);
  EXPECT_LE(relative_error(general, std::vector<double>(found.begin(), found.end())), 1e-3);
}

}  // namespace
}  // namespace vnjit::tests
