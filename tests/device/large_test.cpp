#include <algorithm>
#include <random>

#include "device_test.hpp"

// Sizes whose indices pass 2^32, and launches above the limits of a grid. The CPU backend makes the
// elements that are looked at.

namespace vnjit::tests {
namespace {

class LargeOnGpu : public DeviceTest {
 protected:
  template <typename T>
  std::vector<T> part_of(const T* data, std::int64_t first, std::int64_t count) const {
    std::vector<T> values(static_cast<std::size_t>(count));
    device->copy_out(values.data(), data + first, values.size() * sizeof(T));
    return values;
  }

  static std::vector<double> as_double(const std::vector<float>& values) {
    return {values.begin(), values.end()};
  }

  /// Memory of the device, poisoned where it is looked at.
  Buffer<float> output(std::int64_t count) const {
    return Buffer<float>(device, static_cast<std::size_t>(count));
  }
  void poison(float* data, std::int64_t first, std::int64_t count) const {
    const std::vector<float> nan(static_cast<std::size_t>(count), kNaN);
    device->copy_in(data + first, nan.data(), nan.size() * sizeof(float));
  }

  /// A forward pass with shared inputs; compares whole individuals, the first, the last and others,
  /// with the CPU's.
  void expect_forward_right(const PerturbedLinear& p, std::int64_t offset, double bound) {
    const std::vector<float> x = random_values(p.batch * p.in, 1);
    const std::vector<float> weight = random_values(p.out * p.in, 2);
    const std::vector<std::int64_t> seeds = random_seeds(p.pop, 3);
    const auto device_x = on_device(encoded(p.input, x));
    const auto device_weight = on_device(encoded(p.input, weight));
    const auto device_seeds = on_device(seeds);
    const std::int64_t each = p.batch * p.out;
    const Buffer<float> y = output(p.pop * each);
    const std::vector<std::int64_t> looked_at = {0, p.pop / 3, p.pop / 2 + 1, p.pop - 1};
    for (const std::int64_t i : looked_at) poison(y.data(), i * each, each);
    PerturbedLinearArguments arguments{.x = device_x.data(),
                                       .weight = device_weight.data(),
                                       .seeds = device_seeds.data(),
                                       .y = y.data(),
                                       .sigma = 0.5f,
                                       .offset = offset,
                                       .pop = p.pop,
                                       .batch = p.batch,
                                       .in = p.in,
                                       .out = p.out};
    runtime.plan(p, device)->run(arguments);

    const auto on_cpu = runtime.plan(p, runtime.cpu());
    const std::vector<std::byte> host_x = encoded(p.input, x);
    const std::vector<std::byte> host_weight = encoded(p.input, weight);
    arguments.x = host_x.data();
    arguments.weight = host_weight.data();
    arguments.pop = 1;
    for (const std::int64_t i : looked_at) {
      std::vector<float> expected(static_cast<std::size_t>(each));
      arguments.seeds = seeds.data() + i;
      arguments.y = expected.data();
      on_cpu->run(arguments);
      EXPECT_LE(relative_error(part_of(y.data(), i * each, each), as_double(expected)), bound)
          << command_flags(p) << " individual " << i;
    }
  }
};

TEST_F(LargeOnGpu, ForwardPassWithMoreThanTwoToThe32Outputs) {
  constexpr PerturbedLinear kWide{.bias = false, .pop = 4200, .batch = 1000, .in = 32, .out = 1032};
  static_assert(kWide.pop * kWide.batch * kWide.out > std::int64_t{1} << 32);
  expect_forward_right(kWide, 0, 2e-6);
}

TEST_F(LargeOnGpu, TensorForwardPassWithMoreThanTwoToThe32OutputsAndAnOffsetBeyond) {
  constexpr PerturbedLinear kWide{
      .input = DataType::f16, .bias = false, .pop = 4200, .batch = 1000, .in = 64, .out = 1032};
  static_assert(kWide.pop * kWide.batch * kWide.out > std::int64_t{1} << 32);
  expect_forward_right(kWide, (std::int64_t{1} << 32) + 64, 1e-5);
}

TEST_F(LargeOnGpu, ForwardPassWithMoreBlocksThanAGridHas) {
  const PerturbedLinear many{
      .bias = false, .pop = (std::int64_t{1} << 31) + 1000, .batch = 1, .in = 2, .out = 1};
  ASSERT_GT(many.pop, device->limits().max_grid_x);
  expect_forward_right(many, 0, 2e-6);
}

TEST_F(LargeOnGpu, GradientWithMoreThanTwoToThe32Elements) {
  const Gradient problem{.pop = 3, .rows = 2, .columns = (std::int64_t{1} << 31) + 4099};
  const std::int64_t count = problem.rows * problem.columns;
  const std::vector<float> fitness = normal_values(problem.pop, 1);
  const std::vector<std::int64_t> seeds = random_seeds(problem.pop, 2);
  const auto device_fitness = on_device(fitness);
  const auto device_seeds = on_device(seeds);
  const Buffer<float> gradient = output(count);
  constexpr std::int64_t kPart = 5000;
  const std::vector<std::int64_t> parts = {0, problem.columns - kPart / 2,
                                           (std::int64_t{1} << 32) - kPart / 2, count - kPart};
  for (const std::int64_t first : parts) poison(gradient.data(), first, kPart);
  const std::int64_t offset = (std::int64_t{1} << 32) + 7;
  const GradientBlock whole{.offset = offset,
                            .rows = problem.rows,
                            .columns = problem.columns,
                            .output = gradient.data()};
  runtime.plan(problem, device)
      ->run({.fitness = device_fitness.data(),
             .seeds = device_seeds.data(),
             .sigma = 0.5f,
             .pop = problem.pop,
             .blocks = {&whole, 1}});
  const auto on_cpu = runtime.plan(problem, runtime.cpu());
  for (const std::int64_t first : parts) {
    std::vector<float> expected(kPart);
    const GradientBlock part{
        .offset = offset + first, .rows = 1, .columns = kPart, .output = expected.data()};
    on_cpu->run({.fitness = fitness.data(),
                 .seeds = seeds.data(),
                 .sigma = 0.5f,
                 .pop = problem.pop,
                 .blocks = {&part, 1}});
    EXPECT_EQ(part_of(gradient.data(), first, kPart), expected) << "from " << first;
  }
}

TEST_F(LargeOnGpu, ReduceMetricOfMoreThanTwoToThe32Parameters) {
  const ReduceMetric problem{
      .input = DataType::bf16, .pop = 2, .params = (std::int64_t{1} << 32) + 12'345};
  // The same numbers over and over, of a period that divides nothing.
  constexpr std::int64_t kPeriod = 1'048'573;
  const std::vector<std::byte> period = encoded(problem.input, normal_values(kPeriod, 1));
  std::vector<std::byte> center(static_cast<std::size_t>(2 * problem.params));
  for (std::size_t at = 0; at < center.size(); at += period.size()) {
    std::copy_n(period.begin(), std::min(period.size(), center.size() - at),
                center.begin() + static_cast<std::ptrdiff_t>(at));
  }
  const std::vector<std::int64_t> seeds = random_seeds(problem.pop, 2);
  const auto device_center = on_device(center);
  const auto device_seeds = on_device(seeds);
  const auto metric = poisoned(problem.pop);
  const std::int64_t offset = (std::int64_t{1} << 33) + 5;
  runtime.plan(problem, device)
      ->run({.center = device_center.data(),
             .seeds = device_seeds.data(),
             .metric = metric.data(),
             .sigma = 0.5f,
             .offset = offset,
             .pop = problem.pop,
             .params = problem.params});
  std::vector<float> expected(static_cast<std::size_t>(problem.pop));
  runtime.plan(problem, runtime.cpu())
      ->run({.center = center.data(),
             .seeds = seeds.data(),
             .metric = expected.data(),
             .sigma = 0.5f,
             .offset = offset,
             .pop = problem.pop,
             .params = problem.params});
  EXPECT_LE(relative_error(on_host(metric), as_double(expected)), 1e-6);
}

TEST_F(LargeOnGpu, ReduceMetricOfMoreIndividualsThanAGridHasBlocks) {
  const ReduceMetric problem{.pop = (std::int64_t{1} << 31) + 1000, .params = 3};
  const std::vector<float> center = normal_values(problem.params, 1);
  const std::vector<std::int64_t> seeds = random_seeds(problem.pop, 2);
  const auto device_center = on_device(center);
  const auto device_seeds = on_device(seeds);
  const Buffer<float> metric = output(problem.pop);
  constexpr std::int64_t kPart = 1000;
  const std::vector<std::int64_t> parts = {0, problem.pop / 2, problem.pop - kPart};
  for (const std::int64_t first : parts) poison(metric.data(), first, kPart);
  runtime.plan(problem, device)
      ->run({.center = device_center.data(),
             .seeds = device_seeds.data(),
             .metric = metric.data(),
             .sigma = 0.5f,
             .pop = problem.pop,
             .params = problem.params});
  const auto on_cpu = runtime.plan(problem, runtime.cpu());
  for (const std::int64_t first : parts) {
    std::vector<float> expected(kPart);
    on_cpu->run({.center = center.data(),
                 .seeds = seeds.data() + first,
                 .metric = expected.data(),
                 .sigma = 0.5f,
                 .pop = kPart,
                 .params = problem.params});
    EXPECT_LE(relative_error(part_of(metric.data(), first, kPart), as_double(expected)), 1e-6)
        << "from " << first;
  }
}

}  // namespace
}  // namespace vnjit::tests
