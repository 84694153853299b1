// A host program that plans once and runs many times on its own stream.
//
// With W = 0 and X = I the forward pass of a layer yields sigma·N_i and nothing else, and the
// gradient of a population of one with fitness 1 yields N_i / sigma: the program compares the two.

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <vector>
#include <vnjit/vnjit.hpp>

namespace {

constexpr std::int64_t kPop = 8;
constexpr std::int64_t kSize = 64;  // in, out and batch: X is the identity
constexpr std::int64_t kElements = kSize * kSize;
constexpr float kSigma = 0.25f;  // a power of two, so that dividing by it is exact
constexpr int kRuns = 1000;

std::vector<float> identity() {
  std::vector<float> matrix(kElements);
  for (std::int64_t i = 0; i < kSize; ++i) matrix[static_cast<std::size_t>(i * (kSize + 1))] = 1;
  return matrix;
}

/// A stream of the device, destroyed with its owner.
struct Stream {
  explicit Stream(vnjit::Device& owner) : device(owner), handle(owner.create_stream()) {}
  ~Stream() { device.destroy_stream(handle); }
  Stream(const Stream&) = delete;
  Stream& operator=(const Stream&) = delete;

  vnjit::Device& device;
  vnjit::StreamHandle handle;
};

void run() {
  vnjit::Runtime runtime;
  const std::shared_ptr<vnjit::Device> device = runtime.best_device();
  const Stream stream(*device);

  const std::vector<std::int64_t> seeds = {1, -2, 3, 1LL << 40, 5, 6, 7, 8};
  const std::vector<float> zeros(kElements);
  const vnjit::Buffer<std::int64_t> device_seeds(device, seeds.data(), seeds.size());
  const vnjit::Buffer<float> x(device, identity().data(), kElements);
  const vnjit::Buffer<float> weight(device, zeros.data(), kElements);
  const vnjit::Buffer<float> y(device, kPop * kElements);

  // Planning generates and compiles the kernels; it belongs at the start of a program.
  const auto plan = runtime.plan(
      vnjit::PerturbedLinear{
          .bias = false, .pop = kPop, .batch = kSize, .in = kSize, .out = kSize},
      device);
  vnjit::PerturbedLinearArguments arguments;
  arguments.x = x.data();
  arguments.weight = weight.data();
  arguments.seeds = device_seeds.data();
  arguments.y = y.data();
  arguments.sigma = kSigma;
  arguments.pop = kPop;
  arguments.batch = arguments.in = arguments.out = kSize;

  // With workspace given, a run allocates nothing and can be captured in a CUDA graph.
  const vnjit::Buffer<std::byte> scratch(device, plan->workspace_bytes(arguments));
  const vnjit::Workspace workspace{.data = scratch.data(), .bytes = scratch.size()};

  const auto start = std::chrono::steady_clock::now();
  for (int i = 0; i < kRuns; ++i) plan->run(arguments, stream.handle, workspace);
  const std::chrono::duration<double, std::micro> host = std::chrono::steady_clock::now() - start;
  device->synchronize(stream.handle);
  fmt::print("{}: {:.2f} microseconds of host time a run\n", device->name(),
             host.count() / kRuns);

  std::vector<float> perturbed(y.size());
  y.copy_to(perturbed.data());

  // The noise once more, one individual at a time, by the other operation.
  const auto gradient =
      runtime.plan(vnjit::Gradient{.pop = 1, .rows = kSize, .columns = kSize}, device);
  const float one = 1;
  const vnjit::Buffer<float> fitness(device, &one, 1);
  const vnjit::Buffer<float> noise(device, kElements);
  std::vector<float> expected(noise.size());
  float difference = 0;
  for (std::size_t i = 0; i < seeds.size(); ++i) {
    const vnjit::GradientBlock block{.rows = kSize, .columns = kSize, .output = noise.data()};
    vnjit::GradientArguments single;
    single.fitness = fitness.data();
    single.seeds = device_seeds.data() + i;
    single.sigma = 1.0f;
    single.pop = 1;
    single.blocks = {&block, 1};
    gradient->run(single, stream.handle);
    device->synchronize(stream.handle);
    noise.copy_to(expected.data());
    for (std::int64_t b = 0; b < kSize; ++b) {
      for (std::int64_t j = 0; j < kSize; ++j) {
        const std::size_t row = i * kElements + static_cast<std::size_t>(b * kSize + j);
        difference = std::max(difference,
                              std::abs(perturbed[row] / kSigma -
                                       expected[static_cast<std::size_t>(j * kSize + b)]));
      }
    }
  }
  fmt::print("largest difference from the noise made again by the gradient: {}\n", difference);
}

}  // namespace

int main() {
  try {
    run();
  } catch (const vnjit::Error& error) {
    fmt::print(stderr, "embed: {}\n", error.what());
    return 1;
  }
}
