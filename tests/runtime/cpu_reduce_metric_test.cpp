#include <gtest/gtest.h>

#include "cpu_reference.hpp"
#include "vnjit/runtime/check_arguments.hpp"
#include "vnjit/runtime/cpu/operations.hpp"

namespace vnjit {
namespace {

struct Metric {
  ReduceMetric problem{};
  std::int64_t pop = 3;
  std::int64_t params = 5000;
  float sigma = -2.5f;
  std::int64_t offset = 71;

  std::vector<float> center() const { return tests::random_values(params, 7); }
  std::vector<std::int64_t> seeds() const {
    return tests::random_seeds(problem.noise.antithetic ? pop / 2 : pop, 8);
  }

  std::vector<float> run(int threads = 2) const {
    const std::vector<std::byte> bytes = tests::encoded(problem.input, center());
    const std::vector<std::int64_t> all = seeds();
    std::vector<float> metric(static_cast<std::size_t>(pop), -1.0f);
    ReduceMetricArguments arguments;
    arguments.center = bytes.data();
    arguments.seeds = all.data();
    arguments.metric = metric.data();
    arguments.sigma = sigma;
    arguments.offset = offset;
    arguments.pop = pop;
    arguments.params = params;
    cpu::ThreadPool pool(threads);
    cpu::reduce_metric(problem, checked(problem, arguments), pool);
    return metric;
  }

  double error() const {
    const std::vector<float> values = center();
    const std::vector<std::int64_t> all = seeds();
    std::vector<double> reference;
    for (std::int64_t i = 0; i < pop; ++i) {
      double sum = 0;
      for (std::int64_t k = 0; k < params; ++k) {
        sum += std::fabs(values[static_cast<std::size_t>(k)] +
                         sigma * tests::individual_noise(problem.noise, all, i, offset + k));
      }
      reference.push_back(sum / static_cast<double>(params));
    }
    return tests::relative_error(run(), reference);
  }
};

TEST(CpuReduceMetric, IsTheMeanMagnitudeForEveryNoise) {
  for (const NoiseSpec& noise : tests::every_noise()) {
    EXPECT_LT((Metric{.problem = {.noise = noise}}.error()), 1e-6) << to_string(noise);
  }
}

TEST(CpuReduceMetric, TakesEveryDataTypeAndSize) {
  for (const DataType type : {DataType::f32, DataType::f16, DataType::bf16}) {
    for (const std::int64_t params : {1, 31, 33, 1024, 1025}) {
      EXPECT_LT((Metric{.problem = {.input = type}, .params = params}.error()), 1e-6)
          << to_string(type) << " " << params;
    }
  }
}

TEST(CpuReduceMetric, PairsIndividualsOfAntitheticNoise) {
  EXPECT_LT((Metric{.problem = {.noise = {.antithetic = true}}, .pop = 6}.error()), 1e-6);
}

TEST(CpuReduceMetric, GivesAPairTheBitsOfItsSeedWithBothSigns) {
  const Metric pairs{.problem = {.noise = {.antithetic = true}}, .pop = 70, .params = 2500};
  const std::vector<float> plus = Metric{.pop = 35, .params = 2500, .sigma = 2.5f}.run();
  const std::vector<float> minus = Metric{.pop = 35, .params = 2500, .sigma = -2.5f}.run();
  for (const int threads : {1, 3}) {
    const std::vector<float> both = pairs.run(threads);  // of sigma -2.5
    for (std::size_t p = 0; p < plus.size(); ++p) {
      EXPECT_EQ(both[2 * p], minus[p]) << p;
      EXPECT_EQ(both[2 * p + 1], plus[p]) << p;
    }
  }
}

TEST(CpuReduceMetric, DoesNotDriftOverAMillionEqualParameters) {
  constexpr std::int64_t kParams = 1'000'003;
  const std::vector<float> center(kParams, 0.1f);
  const std::int64_t seed = 0;
  float metric = -1;
  ReduceMetricArguments arguments;
  arguments.center = center.data();
  arguments.seeds = &seed;
  arguments.metric = &metric;
  arguments.sigma = 0.0f;
  arguments.pop = 1;
  arguments.params = kParams;
  cpu::ThreadPool pool(1);
  cpu::reduce_metric({}, checked(ReduceMetric{}, arguments), pool);
  EXPECT_EQ(metric, 0.1f);
}

TEST(CpuReduceMetric, IsNaNWithoutParameters) {
  const std::vector<float> metric = Metric{.params = 0}.run();
  for (const float value : metric) EXPECT_TRUE(std::isnan(value));
  EXPECT_EQ(metric.size(), 3u);
  EXPECT_TRUE(Metric{.pop = 0}.run().empty());
}

TEST(CpuReduceMetric, GivesTheSameBitsForAnyNumberOfThreads) {
  const Metric metric{.pop = 70, .params = 3000};
  const std::vector<std::uint32_t> bits = tests::bits_of(metric.run(1));
  EXPECT_EQ(tests::bits_of(metric.run(2)), bits);
  EXPECT_EQ(tests::bits_of(metric.run(5)), bits);
}

}  // namespace
}  // namespace vnjit
