#include "vnjit/runtime/operations.hpp"

#include <fmt/format.h>

#include "vnjit/codegen/error.hpp"

namespace vnjit {
namespace {

using DeviceHandle = std::shared_ptr<Device>;

template <typename T>
Buffer<T> copied(const DeviceHandle& device, std::span<const T> host) {
  return Buffer<T>(device, host.data(), host.size());
}

std::int64_t size_of(std::size_t count) { return static_cast<std::int64_t>(count); }

void require_size(std::string_view name, std::size_t given, std::int64_t expected) {
  if (size_of(given) != expected) {
    throw InvalidArgument(
        fmt::format("{} has {} elements; the other arguments make it {}", name, given, expected));
  }
}

std::int64_t population(const NoiseSpec& noise, std::span<const std::int64_t> seeds) {
  return size_of(seeds.size()) * (noise.antithetic ? 2 : 1);
}

std::vector<float> fetched(const Buffer<float>& output) {
  std::vector<float> result(output.size());
  output.copy_to(result.data());
  return result;
}

std::vector<float> gradient(Runtime& runtime, const DeviceHandle& device, const Gradient& problem,
                            std::span<const float> fitness, std::span<const std::int64_t> seeds,
                            float sigma, std::int64_t pop_size, std::int64_t offset) {
  require_size("fitness", fitness.size(), problem.pop);
  const auto plan = runtime.plan(problem, device);
  const auto fitness_there = copied(device, fitness);
  const auto seeds_there = copied(device, seeds);
  const Buffer<float> output(device, static_cast<std::size_t>(problem.rows * problem.columns));
  const GradientBlock block{
      .offset = offset, .rows = problem.rows, .columns = problem.columns, .output = output.data()};
  plan->run(GradientArguments{.fitness = fitness_there.data(),
                              .seeds = seeds_there.data(),
                              .sigma = sigma,
                              .pop = problem.pop,
                              .pop_size = pop_size,
                              .blocks = {&block, 1}});
  return fetched(output);
}

}  // namespace

std::vector<float> virtual_perturbed_linear(Runtime& runtime, const DeviceHandle& device,
                                            const NoiseSpec& noise, InputLayout layout,
                                            std::span<const float> x, std::span<const float> weight,
                                            std::span<const float> bias,
                                            std::span<const std::int64_t> seeds, std::int64_t out,
                                            std::int64_t in, float sigma, std::int64_t offset) {
  const std::int64_t pop = population(noise, seeds);
  const std::int64_t inputs = layout == InputLayout::individual ? pop : 1;
  const std::int64_t batch = inputs * in == 0 ? 0 : size_of(x.size()) / (inputs * in);
  require_size("x", x.size(), inputs * batch * in);
  require_size("weight", weight.size(), out * in);
  if (!bias.empty()) require_size("bias", bias.size(), out);
  const auto plan = runtime.plan(PerturbedLinear{.noise = noise,
                                                 .bias = !bias.empty(),
                                                 .layout = layout,
                                                 .pop = pop,
                                                 .batch = batch,
                                                 .in = in,
                                                 .out = out},
                                 device);
  const auto x_there = copied(device, x);
  const auto weight_there = copied(device, weight);
  const auto bias_there = copied(device, bias);
  const auto seeds_there = copied(device, seeds);
  const Buffer<float> y(device, static_cast<std::size_t>(pop * batch * out));
  plan->run(PerturbedLinearArguments{.x = x_there.data(),
                                     .weight = weight_there.data(),
                                     .bias = bias_there.data(),
                                     .seeds = seeds_there.data(),
                                     .y = y.data(),
                                     .sigma = sigma,
                                     .offset = offset,
                                     .pop = pop,
                                     .batch = batch,
                                     .in = in,
                                     .out = out});
  return fetched(y);
}

std::vector<float> virtual_weight_gradient(Runtime& runtime, const DeviceHandle& device,
                                           const NoiseSpec& noise, std::span<const float> fitness,
                                           std::span<const std::int64_t> seeds, std::int64_t out,
                                           std::int64_t in, float sigma, std::int64_t pop_size,
                                           std::int64_t offset) {
  const Gradient problem{
      .noise = noise, .pop = population(noise, seeds), .rows = out, .columns = in};
  return gradient(runtime, device, problem, fitness, seeds, sigma, pop_size, offset);
}

std::vector<float> virtual_bias_gradient(Runtime& runtime, const DeviceHandle& device,
                                         const NoiseSpec& noise, std::span<const float> fitness,
                                         std::span<const std::int64_t> seeds, std::int64_t out,
                                         float sigma, std::int64_t pop_size, std::int64_t offset) {
  const Gradient problem{
      .noise = noise, .vector = true, .pop = population(noise, seeds), .rows = 1, .columns = out};
  return gradient(runtime, device, problem, fitness, seeds, sigma, pop_size, offset);
}

std::vector<float> virtual_reduce_metric(Runtime& runtime, const DeviceHandle& device,
                                         const NoiseSpec& noise, std::span<const float> center,
                                         std::span<const std::int64_t> seeds, float sigma,
                                         std::int64_t offset) {
  const std::int64_t pop = population(noise, seeds);
  const std::int64_t params = size_of(center.size());
  const auto plan =
      runtime.plan(ReduceMetric{.noise = noise, .pop = pop, .params = params}, device);
  const auto center_there = copied(device, center);
  const auto seeds_there = copied(device, seeds);
  const Buffer<float> metric(device, static_cast<std::size_t>(pop));
  plan->run(ReduceMetricArguments{.center = center_there.data(),
                                  .seeds = seeds_there.data(),
                                  .metric = metric.data(),
                                  .sigma = sigma,
                                  .offset = offset,
                                  .pop = pop,
                                  .params = params});
  return fetched(metric);
}

}  // namespace vnjit
