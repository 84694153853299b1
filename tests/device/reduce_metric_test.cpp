#include <gmock/gmock.h>

#include <algorithm>
#include <functional>
#include <optional>

#include "device_test.hpp"
#include "vnjit/codegen/candidates.hpp"
#include "vnjit/codegen/sum_split.hpp"

namespace vnjit::tests {
namespace {

class ReduceMetricOnGpu : public DeviceTest {
 protected:
  struct Case {
    ReduceMetric problem{};
    std::vector<float> center{};
    std::vector<std::int64_t> seeds{};
    float sigma = 0.5f;
    std::int64_t offset = 0;
    std::optional<Config> config{};

    static Case of(ReduceMetric problem, std::int64_t offset = 0) {
      Case made{.problem = problem, .center = random_values(problem.params, 9)};
      made.seeds = random_seeds(problem.noise.antithetic ? problem.pop / 2 : problem.pop, 10);
      made.offset = offset;
      return made;
    }
  };

  std::vector<float> run(
      const Case& subject, const std::function<Workspace(std::size_t)>& workspace =
                               [](std::size_t) { return Workspace{}; }) {
    const auto center = on_device(encoded(subject.problem.input, subject.center));
    const auto seeds = on_device(subject.seeds);
    const auto metric = poisoned(subject.problem.pop);
    const auto plan = runtime.plan(subject.problem, device, subject.config);
    const ReduceMetricArguments arguments{.center = center.data(),
                                          .seeds = seeds.data(),
                                          .metric = metric.data(),
                                          .sigma = subject.sigma,
                                          .offset = subject.offset,
                                          .pop = subject.problem.pop,
                                          .params = subject.problem.params};
    plan->run(arguments, nullptr, workspace(plan->workspace_bytes(arguments)));
    return on_host(metric);
  }

  static std::vector<double> expected(const Case& subject) {
    std::vector<double> result;
    for (std::int64_t i = 0; i < subject.problem.pop; ++i) {
      double sum = 0;
      for (std::int64_t k = 0; k < subject.problem.params; ++k) {
        sum += std::abs(static_cast<double>(subject.center[static_cast<std::size_t>(k)]) +
                        static_cast<double>(subject.sigma) * individual_noise(subject.problem.noise,
                                                                              subject.seeds, i,
                                                                              subject.offset + k));
      }
      result.push_back(sum / static_cast<double>(subject.problem.params));
    }
    return result;
  }
};

TEST_F(ReduceMetricOnGpu, IsRightForEveryNoiseTypeAndAlignment) {
  int kind = 0;
  for (NoiseSpec noise : every_noise()) {
    const auto type = ++kind % 3 == 0 ? DataType::f32
                      : kind % 3 == 1 ? DataType::f16
                                      : DataType::bf16;
    for (const bool antithetic : {false, true}) {
      noise.antithetic = antithetic;
      for (const std::int64_t params : {1, 77, 511, 512, 513, 5000}) {
        for (const std::int64_t offset : {0, 63, 1001}) {
          const Case subject =
              Case::of({.noise = noise, .input = type, .pop = 4, .params = params}, offset);
          EXPECT_LE(relative_error(run(subject), expected(subject)), 1e-6)
              << to_string(noise) << " params " << params << " offset " << offset;
        }
      }
    }
  }
}

TEST_F(ReduceMetricOnGpu, IsRightForEveryGroupOfIndividuals) {
  for (const bool antithetic : {false, true}) {
    const NoiseSpec noise{.antithetic = antithetic};
    for (const std::int64_t pop : {2, 14, 16, 18, 32, 34, 100, 1000}) {
      const Case subject =
          Case::of({.noise = noise, .pop = pop, .params = 1500}, (std::int64_t{1} << 38) - 700);
      EXPECT_LE(relative_error(run(subject), expected(subject)), 1e-6) << "pop " << pop;
    }
  }
  for (const std::int64_t pop : {1, 15, 17}) {
    const Case subject = Case::of({.pop = pop, .params = 1500});
    EXPECT_LE(relative_error(run(subject), expected(subject)), 1e-6) << "pop " << pop;
  }
}

TEST_F(ReduceMetricOnGpu, IsRightForEveryConfig) {
  Case subject = Case::of({.pop = 37, .params = 20'000});
  const std::vector<double> reference = expected(subject);
  for (const int individuals : {2, 8, 16, 64}) {
    for (const int warps : {1, 4, 8}) {
      subject.config = candidates(subject.problem, device->limits())[0];
      subject.config->individuals = individuals;
      subject.config->warps = warps;
      subject.config->blocks_per_sm = 1;
      EXPECT_LE(relative_error(run(subject), reference), 1e-6) << to_string(*subject.config);
    }
  }
}

TEST_F(ReduceMetricOnGpu, IsTheSameInEveryRunOverManyParts) {
  const Case subject = Case::of({.pop = 20, .params = 300'000}, 77);
  const Config config = choose_config(subject.problem, device->limits());
  EXPECT_GT(split_parameters(config, subject.problem, 20, 587, device->limits()).chunks, 1);
  const std::vector<float> first = run(subject);
  EXPECT_LE(relative_error(first, expected(subject)), 1e-6);
  for (int repeat = 0; repeat < 3; ++repeat) EXPECT_EQ(bits_of(run(subject)), bits_of(first));

  std::size_t asked = 0;
  Buffer<std::byte> memory;
  const auto given = [&](std::size_t missing) {
    return run(subject, [&, missing](std::size_t bytes) {
      asked = bytes;
      memory = on_device(std::vector<std::byte>(bytes, std::byte{0xff}));
      return Workspace{memory.data(), bytes - missing};
    });
  };
  EXPECT_EQ(bits_of(given(0)), bits_of(first));
  EXPECT_GT(asked, 0u);
  EXPECT_THAT(refusal_of([&] { given(1); }),
              testing::HasSubstr("this run needs " + std::to_string(asked)));
}

TEST_F(ReduceMetricOnGpu, StaysExactOverAMillionParameters) {
  Case subject = Case::of({.pop = 2, .params = 1'000'000});
  std::ranges::fill(subject.center, 3.0f);
  subject.sigma = 0;
  EXPECT_EQ(run(subject), (std::vector<float>{3.0f, 3.0f}));
}

TEST_F(ReduceMetricOnGpu, OfNoParametersIsNaN) {
  for (const float value : run(Case::of({.pop = 3, .params = 0}))) EXPECT_TRUE(std::isnan(value));
}

}  // namespace
}  // namespace vnjit::tests
