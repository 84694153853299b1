#include <algorithm>
#include <limits>

#include "gradient_case.hpp"
#include "noise_param.hpp"

// Gradients in integers have the same bits on a GPU and on the CPU.

namespace vnjit::tests {
namespace {

class GradientBits : public GradientOnGpu, public testing::WithParamInterface<NoiseSpec> {
 protected:
  static NoiseSpec noise(bool antithetic = false) {
    NoiseSpec spec = GetParam();
    spec.antithetic = antithetic;
    return spec;
  }
};

INSTANTIATE_TEST_SUITE_P(Of, GradientBits, testing::ValuesIn(noises(true)), noise_name);

const std::vector<BlockShape> kBlocks = {{.offset = 1000, .rows = 3, .columns = 333},
                                         {.offset = 77, .rows = 1, .columns = 10}};

TEST_P(GradientBits, AreThoseOfTheCpuForAnyPopulation) {
  for (const std::int64_t pop : {1, 2, 7, 8, 9, 10, 254, 255, 256, 257, 258, 1000, 5000}) {
    for (const bool antithetic : {false, true}) {
      if (antithetic && pop % 2 != 0) continue;
      SCOPED_TRACE(testing::Message() << "pop " << pop << " antithetic " << antithetic);
      expect_bits_of_the_cpu(GradientCase::of({.noise = noise(antithetic)}, kBlocks, pop));
    }
  }
}

TEST_P(GradientBits, AreThoseOfTheCpuForAHundredThousandIndividuals) {
  GradientCase subject = GradientCase::of({.noise = noise()}, {{.columns = 40}}, 100'001);
  expect_bits_of_the_cpu(subject);
  std::ranges::fill(subject.fitness, 1.9999999f);
  expect_bits_of_the_cpu(subject);
}

// 32-bit sums go to 64 bits before they overflow. That they would takes a warp that sums over the
// whole population, a device full of such warps, and 8-bit digits of one sign.
TEST_P(GradientBits, AreThoseOfTheCpuWhereAWarpSumsAll) {
  constexpr float kLeastDigits = 0x3F7F7F80;  // 64, and three of -128
  const Config config = choose_config(Gradient{.noise = noise()}, device->limits());
  const std::int64_t units =
      std::int64_t{device->limits().sm_count} * config.blocks_per_sm * config.warps;
  GradientCase subject =
      GradientCase::of({.noise = noise()}, {{.columns = units * config.block_in}}, 270'001);
  const PopulationSplit split =
      split_population(config, subject.problem, units, subject.pop(), device->limits());
  ASSERT_EQ(split.parts, 1);
  ASSERT_EQ(split.unit_warps, 1);
  subject.config = config;
  std::ranges::fill(subject.fitness, kLeastDigits);
  expect_samples_right(subject, subject.blocks[0], run_case(runtime, device, subject)[0]);
  for (std::size_t n = 0; n < subject.fitness.size(); n += 3) subject.fitness[n] = -kLeastDigits;
  expect_samples_right(subject, subject.blocks[0], run_case(runtime, device, subject)[0]);
}

TEST_P(GradientBits, DoNotDependOnTheConfig) {
  for (const Config& config : candidates(Gradient{.noise = noise()}, device->limits())) {
    if (config.warps != 8) continue;
    for (const int warps : {1, 2, 4, 8}) {
      GradientCase subject = GradientCase::of({.noise = noise(warps % 3 == 1)}, kBlocks, 600);
      subject.config = config;
      subject.config->warps = warps;
      subject.config->blocks_per_sm = 1;
      SCOPED_TRACE(to_string(*subject.config));
      expect_bits_of_the_cpu(subject);
    }
  }
}

TEST_P(GradientBits, AreThoseOfTheCpuForAnyFitness) {
  constexpr float kLeast = std::numeric_limits<float>::denorm_min();
  constexpr float kMost = std::numeric_limits<float>::max();
  GradientCase subject = GradientCase::of({.noise = noise()}, kBlocks, 100);
  const std::vector<std::vector<float>> kinds = {{0.0f},          {kLeast, -kLeast, 0.0f},
                                                 {kMost, -kMost}, {1e-30f, 1.0f, 1e20f},
                                                 {-0.0f, 1e-38f}, {1000.0f, 1001.0f, 1e7f}};
  for (const std::vector<float>& kind : kinds) {
    SCOPED_TRACE(testing::PrintToString(kind));
    for (std::size_t n = 0; n < subject.fitness.size(); ++n) {
      subject.fitness[n] = kind[n % kind.size()];
    }
    expect_bits_of_the_cpu(subject);
  }
}

TEST_P(GradientBits, AreThoseOfTheCpuForAnyDivisorAndSigma) {
  for (const Normalize normalize : {Normalize::seed, Normalize::unbiased}) {
    for (const float sigma : {1.0f, -0.037f, 1e-30f}) {
      for (const bool sigma_on_device : {false, true}) {
        GradientCase subject =
            GradientCase::of({.noise = noise(), .normalize = normalize}, kBlocks, 64);
        subject.pop_size = 1000;
        subject.sigma = sigma;
        subject.sigma_on_device = sigma_on_device;
        SCOPED_TRACE(testing::Message() << "sigma " << sigma << " on device " << sigma_on_device);
        expect_bits_of_the_cpu(subject);
      }
    }
  }
}

using GradientNotFinite = GradientBits;

INSTANTIATE_TEST_SUITE_P(Of, GradientNotFinite, testing::ValuesIn(every_noise()), noise_name);

TEST_P(GradientNotFinite, SaysSoOfEveryParameter) {
  constexpr float kMost = std::numeric_limits<float>::max();
  struct Bad {
    bool antithetic;
    float first, second;  ///< of two individuals, a pair where they are antithetic
  };
  for (const Bad& bad : {Bad{false, kNaN, 1.0f}, Bad{false, 1.0f, kInfinity},
                         Bad{false, -kInfinity, 1.0f}, Bad{true, kMost, -kMost}}) {
    GradientCase subject =
        GradientCase::of({.noise = noise(bad.antithetic)}, {{.columns = 600}}, 70);
    subject.fitness[12] = bad.first;
    subject.fitness[13] = bad.second;
    const std::vector<float> output = run_case(runtime, device, subject)[0].output;
    SCOPED_TRACE(testing::Message() << bad.first << ' ' << bad.second);
    // A float's infinity times noise may be infinite, which does not mislead either.
    for (const float value : output) ASSERT_FALSE(std::isfinite(value));
    if (!has_integer_sums(GetParam())) continue;
    for (const float value : output) ASSERT_TRUE(std::isnan(value));
  }
}

}  // namespace
}  // namespace vnjit::tests
