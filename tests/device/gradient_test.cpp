#include "gradient_case.hpp"
#include "noise_param.hpp"

namespace vnjit::tests {
namespace {

class GradientOfNoise : public GradientOnGpu, public testing::WithParamInterface<NoiseSpec> {
 protected:
  static NoiseSpec noise(bool antithetic = false) {
    NoiseSpec spec = GetParam();
    spec.antithetic = antithetic;
    return spec;
  }
};

INSTANTIATE_TEST_SUITE_P(Of, GradientOfNoise, testing::ValuesIn(every_noise()), noise_name);

TEST_P(GradientOfNoise, IsRightOverAListOfBlocks) {
  const std::vector<BlockShape> blocks = {{.offset = 0, .rows = 9, .columns = 64},
                                          {.offset = 576, .rows = 1, .columns = 9},
                                          {.offset = 585, .rows = 5, .columns = 33},
                                          {.offset = (std::int64_t{1} << 32) - 3,
                                           .rows = 3,
                                           .columns = 700,
                                           .noise_padding = 68,
                                           .padding = 3}};
  for (const bool antithetic : {false, true}) {
    const GradientCase subject = GradientCase::of({.noise = noise(antithetic)}, blocks, 130);
    const auto found = run_case(runtime, device, subject);
    for (std::size_t n = 0; n < blocks.size(); ++n) {
      EXPECT_LE(
          relative_error(packed(found[n].output, blocks[n]), expected_gradient(subject, blocks[n])),
          1e-6)
          << "block " << n << " antithetic " << antithetic;
    }
  }
}

TEST_P(GradientOfNoise, NormalizesAsAsked) {
  for (const Normalize normalize : {Normalize::seed, Normalize::unbiased}) {
    for (const std::int64_t pop_size : {0, 1000}) {
      GradientCase subject = GradientCase::of({.noise = noise(), .normalize = normalize},
                                              {{.rows = 4, .columns = 100}}, 64);
      subject.pop_size = pop_size;
      subject.sigma = 0.25f;
      EXPECT_LE(relative_error(run_case(runtime, device, subject)[0].output,
                               expected_gradient(subject, subject.blocks[0])),
                1e-6)
          << "pop_size " << pop_size;
    }
  }
}

TEST_P(GradientOfNoise, OfOneIndividualIsItsNoise) {
  GradientCase subject =
      GradientCase::of({.noise = noise()}, {{.offset = 1000, .rows = 3, .columns = 333}}, 1);
  subject.fitness = {1.0f};
  subject.seeds = {-5};
  subject.sigma = 1.0f;
  std::vector<float> expected(999);
  fill_noise(noise(), -5, 1000, 999, expected.data());
  EXPECT_EQ(run_case(runtime, device, subject)[0].output, expected);
}

TEST_P(GradientOfNoise, ReadsSigmaFromTheDevice) {
  GradientCase subject = GradientCase::of({.noise = noise()}, {{.rows = 2, .columns = 70}}, 10);
  subject.sigma = 0.125f;
  const auto expected = run_case(runtime, device, subject);
  subject.sigma_on_device = true;
  expect_same_bits(run_case(runtime, device, subject), expected);
}

/// A forward pass and a gradient of the same pairs of individuals.
class GradientOfPairs : public GradientOfNoise {
 protected:
  static constexpr std::int64_t kPop = 8;
  static constexpr std::int64_t kIn = 32;
  static constexpr std::int64_t kOut = 10;
  static constexpr std::int64_t kOffset = 1001;
  const std::vector<std::int64_t> seeds = random_seeds(kPop / 2, 3);

  /// Y (pop, in + 1, out) of X with a single 1 in row k at column k, and none in the last row.
  std::vector<float> forward(Family family, float sigma, const std::vector<float>& weight,
                             const std::vector<float>& bias) {
    const DataType input = family == Family::simt ? DataType::f32 : DataType::f16;
    std::vector<float> one_hot((kIn + 1) * kIn);
    for (std::size_t k = 0; k < kIn; ++k) one_hot[k * kIn + k] = 1.0f;
    const PerturbedLinear problem{.noise = noise(true),
                                  .input = input,
                                  .pop = kPop,
                                  .batch = kIn + 1,
                                  .in = kIn,
                                  .out = kOut};
    const auto x_there = on_device(encoded(input, one_hot));
    const auto weight_there = on_device(encoded(input, weight));
    const auto bias_there = on_device(encoded(input, bias));
    const auto seeds_there = on_device(seeds);
    const auto y = poisoned(kPop * (kIn + 1) * kOut);
    const Config config = choose_config(problem, device->limits(), family);
    EXPECT_FALSE(config.fused);
    runtime.plan(problem, device, config)
        ->run(PerturbedLinearArguments{.x = x_there.data(),
                                       .weight = weight_there.data(),
                                       .bias = bias_there.data(),
                                       .seeds = seeds_there.data(),
                                       .y = y.data(),
                                       .sigma = sigma,
                                       .offset = kOffset,
                                       .pop = kPop,
                                       .batch = kIn + 1,
                                       .in = kIn,
                                       .out = kOut});
    return on_host(y);
  }
};

INSTANTIATE_TEST_SUITE_P(Of, GradientOfPairs, testing::ValuesIn(every_noise()), noise_name);

TEST_P(GradientOfPairs, TheNoiseOfAPairCancelsInTheForwardPass) {
  const std::vector<float> weight = random_values(kOut * kIn, 4);
  const std::vector<float> bias = random_values(kOut, 5);
  std::vector<Family> families = {Family::simt};
  if (device->limits().has_async_copy()) families.push_back(Family::mma_sync);
  if (device->limits().has_wgmma()) families.push_back(Family::wgmma);
  for (const Family family : families) {
    const std::vector<float> y = forward(family, 0.5f, weight, bias);
    std::vector<float> sums;
    std::vector<double> expected;
    for (std::size_t i = 0; i < kPop; i += 2) {
      for (std::size_t k = 0; k <= kIn; ++k) {
        for (std::size_t j = 0; j < kOut; ++j) {
          const std::size_t at = (i * (kIn + 1) + k) * kOut + j;
          // Alone, a bias's noise is not zero; a weight's may cancel it.
          if (k == kIn) {
            ASSERT_NE(y[at], y[at + (kIn + 1) * kOut]) << "there is no noise";
          }
          sums.push_back(y[at] + y[at + (kIn + 1) * kOut]);
          const double base = k < kIn ? static_cast<double>(weight[j * kIn + k]) : 0.0;
          expected.push_back(2 * (base + static_cast<double>(bias[j])));
        }
      }
    }
    EXPECT_LE(relative_error(sums, expected), 1e-6) << to_string(family);
  }
}

TEST_P(GradientOfPairs, TheGradientIsOfTheNoiseThatTheForwardPassHas) {
  const std::vector<float> y =
      forward(Family::simt, 1.0f, std::vector<float>(kOut * kIn), std::vector<float>(kOut));
  GradientCase subject = GradientCase::of({.noise = noise(true)},
                                          {{.offset = kOffset, .rows = kOut, .columns = kIn},
                                           {.offset = kOffset + kOut * kIn, .columns = kOut}},
                                          kPop);
  subject.seeds = seeds;
  std::vector<double> weights(kOut * kIn);
  std::vector<double> biases(kOut);
  const double divisor = static_cast<double>(kPop) * static_cast<double>(subject.sigma);
  for (std::size_t i = 0; i < kPop; ++i) {
    const double factor = static_cast<double>(subject.fitness[i]) / divisor;
    for (std::size_t j = 0; j < kOut; ++j) {
      const auto at = [&](std::size_t k) {
        return static_cast<double>(y[(i * (kIn + 1) + k) * kOut + j]);
      };
      biases[j] += factor * at(kIn);
      for (std::size_t k = 0; k < kIn; ++k) weights[j * kIn + k] += factor * (at(k) - at(kIn));
    }
  }
  const auto found = run_case(runtime, device, subject);
  EXPECT_LE(relative_error(found[0].output, weights), 1e-6);
  EXPECT_LE(relative_error(found[1].output, biases), 1e-6);
}

}  // namespace
}  // namespace vnjit::tests
