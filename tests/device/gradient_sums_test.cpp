#include "gradient_case.hpp"
#include "noise_param.hpp"

// How exact a gradient is, and what it is an estimate of.

namespace vnjit::tests {
namespace {

class GradientSums : public GradientOnGpu, public testing::WithParamInterface<NoiseSpec> {
 protected:
  static NoiseSpec noise(bool antithetic = false) {
    NoiseSpec spec = GetParam();
    spec.antithetic = antithetic;
    return spec;
  }

  double error_of_ranks(const NoiseSpec& of, std::int64_t pop, std::int64_t columns) {
    GradientCase subject =
        GradientCase::of({.noise = of}, {{.offset = 500, .columns = columns}}, pop);
    for (std::size_t n = 0; n < subject.fitness.size(); ++n) {
      subject.fitness[n] = 1000.0f + static_cast<float>(n * 37 % subject.fitness.size());
    }
    return relative_error(run_case(runtime, device, subject)[0].output,
                          expected_gradient(subject, subject.blocks[0]));
  }
};

INSTANTIATE_TEST_SUITE_P(Of, GradientSums, testing::ValuesIn(every_noise()), noise_name);

// A mean fitness far from zero and a large population are what naive sums in fp32 fail at.
TEST_P(GradientSums, AreExactToAMillionthWithRanksAndALargeMean) {
  EXPECT_LE(error_of_ranks(noise(), 256, 300), 1e-6);
  EXPECT_LE(error_of_ranks(noise(), 65'536, 200), 1e-6);
  EXPECT_LE(error_of_ranks(noise(true), 256, 300), 1e-6);
  EXPECT_LE(error_of_ranks(noise(true), 65'536, 200), 1e-6);
}

// On f(W) = <A, W> the estimate's mean is A: of each element within three standard errors, which
// for so many elements asks for seeds that were looked at.
TEST_P(GradientSums, EstimateTheGradientWithoutBias) {
  constexpr std::int64_t kPop = 4096;
  constexpr std::int64_t kSize = 32;
  const std::vector<float> slope = normal_values(kSize, 11);
  for (const bool antithetic : {false, true}) {
    SCOPED_TRACE(testing::Message() << "antithetic " << antithetic);
    GradientCase subject = GradientCase::of(
        {.noise = noise(antithetic), .normalize = Normalize::unbiased}, {{.columns = kSize}}, kPop);
    const auto sigma = static_cast<double>(subject.sigma);
    std::vector<double> fitness;
    for (std::int64_t i = 0; i < kPop; ++i) {
      double value = 0;
      for (std::int64_t k = 0; k < kSize; ++k) {
        value += static_cast<double>(slope[static_cast<std::size_t>(k)]) * sigma *
                 individual_noise(noise(antithetic), subject.seeds, i, k);
      }
      fitness.push_back(value);
      subject.fitness[static_cast<std::size_t>(i)] = static_cast<float>(value);
    }
    const std::vector<float> found = run_case(runtime, device, subject)[0].output;
    // Both of a pair tell the same.
    const double independent = static_cast<double>(antithetic ? kPop / 2 : kPop);
    double squares = 0;
    for (std::int64_t k = 0; k < kSize; ++k) {
      double sum = 0;
      double square = 0;
      for (std::int64_t i = 0; i < kPop; ++i) {
        const double term = fitness[static_cast<std::size_t>(i)] *
                            individual_noise(noise(antithetic), subject.seeds, i, k) /
                            (sigma * noise().variance());
        sum += term;
        square += term * term;
      }
      const double mean = sum / kPop;
      const double error = std::sqrt((square / kPop - mean * mean) / independent);
      const double z = (static_cast<double>(found[static_cast<std::size_t>(k)]) -
                        static_cast<double>(slope[static_cast<std::size_t>(k)])) /
                       error;
      EXPECT_LT(std::abs(z), 3) << "element " << k;
      squares += z * z;
    }
    EXPECT_LT(squares / kSize, 2.0);
    EXPECT_GT(squares / kSize, 0.4);
  }
}

TEST_P(GradientSums, OfPartsOfThePopulationAddUp) {
  const GradientCase whole = GradientCase::of({.noise = noise()}, {{.columns = 700}}, 600);
  const auto part = [&](std::size_t first, std::size_t count) {
    GradientCase subject = whole;
    const auto begin = static_cast<std::ptrdiff_t>(first);
    const auto end = static_cast<std::ptrdiff_t>(first + count);
    subject.fitness.assign(whole.fitness.begin() + begin, whole.fitness.begin() + end);
    subject.seeds.assign(whole.seeds.begin() + begin, whole.seeds.begin() + end);
    subject.pop_size = 600;
    return run_case(runtime, device, subject)[0].output;
  };
  std::vector<float> sum = part(0, 123);
  const std::vector<float> rest = part(123, 477);
  for (std::size_t n = 0; n < sum.size(); ++n) sum[n] += rest[n];
  EXPECT_LE(relative_error(sum, expected_gradient(whole, whole.blocks[0])), 1e-6);
}

}  // namespace
}  // namespace vnjit::tests
