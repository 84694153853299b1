// A host program that plans once and runs many times on its own stream.
//
// W = 0 and X = I make the forward pass yield sigma·N transposed and nothing else. A population of
// one with fitness 1 and sigma 1 makes the gradient yield N. The program compares the two.

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <exception>
#include <memory>
#include <utility>
#include <vector>
#include <vnjit/vnjit.hpp>

namespace {

constexpr std::int64_t kSize = 64;  // in, out and batch
constexpr std::int64_t kElements = kSize * kSize;
constexpr float kSigma = 0.25f;  // a power of two: sigma·N / sigma is N to the bit
constexpr int kRuns = 1000;
constexpr std::array<std::int64_t, 4> kSeeds = {1, -2, 3, 1LL << 40};

/// A stream of a device, destroyed with its owner.
struct Stream {
  explicit Stream(std::shared_ptr<vnjit::Device> owner)
      : device(std::move(owner)), handle(device->create_stream()) {}
  ~Stream() { device->destroy_stream(handle); }
  Stream(const Stream&) = delete;
  Stream& operator=(const Stream&) = delete;

  std::shared_ptr<vnjit::Device> device;
  vnjit::StreamHandle handle;
};

vnjit::Buffer<float> identity(const std::shared_ptr<vnjit::Device>& device) {
  std::vector<float> matrix(kElements);
  for (std::size_t i = 0; i < kElements; i += kSize + 1) matrix[i] = 1;
  return {device, matrix.data(), matrix.size()};
}

/// Y (pop, batch, out) of a perturbed layer without bias, computed kRuns times.
std::vector<float> run_forward(vnjit::Runtime& runtime, const Stream& stream,
                               const vnjit::Buffer<std::int64_t>& seeds) {
  const std::int64_t pop = static_cast<std::int64_t>(seeds.size());
  const std::vector<float> zeros(kElements);
  const vnjit::Buffer<float> x = identity(stream.device);
  const vnjit::Buffer<float> weight(stream.device, zeros.data(), zeros.size());
  const vnjit::Buffer<float> y(stream.device, seeds.size() * kElements);
  const vnjit::PerturbedLinearArguments arguments{.x = x.data(),
                                                  .weight = weight.data(),
                                                  .seeds = seeds.data(),
                                                  .y = y.data(),
                                                  .sigma = kSigma,
                                                  .pop = pop,
                                                  .batch = kSize,
                                                  .in = kSize,
                                                  .out = kSize};

  // Generates, compiles and loads the kernels on a GPU: once, at the start of a program.
  const auto plan = runtime.plan(
      vnjit::PerturbedLinear{.bias = false, .pop = pop, .batch = kSize, .in = kSize, .out = kSize},
      stream.device);
  // With workspace given, a run allocates nothing and may be captured in a CUDA graph.
  const vnjit::Buffer<std::byte> scratch(stream.device, plan->workspace_bytes(arguments));
  const vnjit::Workspace workspace{.data = scratch.data(), .bytes = scratch.size()};

  const auto start = std::chrono::steady_clock::now();
  for (int i = 0; i < kRuns; ++i) plan->run(arguments, stream.handle, workspace);
  const std::chrono::duration<double, std::micro> host = std::chrono::steady_clock::now() - start;
  stream.device->synchronize(stream.handle);
  fmt::print("{}: {:.2f} microseconds of host time a run\n", stream.device->name(),
             host.count() / kRuns);

  std::vector<float> result(y.size());
  y.copy_to(result.data());
  return result;
}

/// N (out, in) of the first seed, made again by the other operation.
std::vector<float> regenerate_noise(vnjit::Runtime& runtime, const Stream& stream,
                                    const vnjit::Buffer<std::int64_t>& seeds) {
  const float one = 1;
  const vnjit::Buffer<float> fitness(stream.device, &one, 1);
  const vnjit::Buffer<float> noise(stream.device, kElements);
  const vnjit::GradientBlock block{.rows = kSize, .columns = kSize, .output = noise.data()};
  const auto plan =
      runtime.plan(vnjit::Gradient{.pop = 1, .rows = kSize, .columns = kSize}, stream.device);
  plan->run(vnjit::GradientArguments{.fitness = fitness.data(),
                                     .seeds = seeds.data(),
                                     .sigma = 1.0f,
                                     .pop = 1,
                                     .blocks = {&block, 1}},
            stream.handle);
  stream.device->synchronize(stream.handle);
  std::vector<float> result(noise.size());
  noise.copy_to(result.data());
  return result;
}

void run() {
  vnjit::Runtime runtime;
  const Stream stream(runtime.best_device());
  const vnjit::Buffer<std::int64_t> seeds(stream.device, kSeeds.data(), kSeeds.size());
  const std::vector<float> y = run_forward(runtime, stream, seeds);
  const std::vector<float> noise = regenerate_noise(runtime, stream, seeds);

  float difference = 0;
  for (std::size_t b = 0; b < kSize; ++b) {
    for (std::size_t j = 0; j < kSize; ++j) {
      const float again = noise[j * kSize + b];
      difference = std::max(difference, std::abs(y[b * kSize + j] / kSigma - again));
    }
  }
  fmt::print("largest difference between the forward's noise and the gradient's: {}\n", difference);
}

}  // namespace

int main() {
  try {
    run();
  } catch (const std::exception& error) {
    std::fprintf(stderr, "embed: %s\n", error.what());
    return 1;
  }
}
