#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <numbers>
#include <vector>

#include "cpu_reference.hpp"
#include "vnjit/runtime/cpu/noise.hpp"

// philox:normal as random numbers. Seeds are fixed, so that a test passes always or never; were
// they drawn anew, a statistic of true normal values would leave its bounds once in 35,000 to
// 150,000.

namespace vnjit {
namespace {

constexpr std::int64_t kCount = std::int64_t{1} << 22;
constexpr std::array<std::size_t, 8> kLags = {1, 2, 3, 4, 8, 16, 64, 1024};
constexpr double kBound = 4.5;  // standard errors: left once in 150,000

const NoiseSpec kNormal = parse_noise_spec("philox:normal");

std::vector<float> elements(const NoiseSpec& noise, std::int64_t seed, std::int64_t count) {
  std::vector<float> values(static_cast<std::size_t>(count));
  fill_noise(noise, seed, 0, count, values.data());
  return values;
}

/// `each` elements of seed after seed.
std::vector<float> across_seeds(std::int64_t seeds, std::int64_t each) {
  std::vector<float> values(static_cast<std::size_t>(seeds * each));
  for (std::int64_t seed = 0; seed < seeds; ++seed) {
    fill_noise(kNormal, seed, 0, each, values.data() + seed * each);
  }
  return values;
}

/// (2k - 1)!!, the mean of the 2k-th power.
double even_moment(int k) { return k == 0 ? 1 : (2 * k - 1) * even_moment(k - 1); }

void expect_moments(const std::vector<float>& values) {
  constexpr int kPowers = 6;
  std::array<double, kPowers + 1> sums{};
  for (const double value : values) {
    double power = 1;
    for (int k = 1; k <= kPowers; ++k) sums[static_cast<std::size_t>(k)] += power *= value;
  }
  const auto count = static_cast<double>(values.size());
  for (int k = 1; k <= kPowers; ++k) {
    const double mean = k % 2 == 0 ? even_moment(k / 2) : 0;
    const double error = std::sqrt((even_moment(k) - mean * mean) / count);
    EXPECT_LT(std::abs(sums[static_cast<std::size_t>(k)] / count - mean), kBound * error)
        << "power " << k;
  }
}

TEST(NormalQuality, MomentsOneToSixAreThoseOfTheNormalDistribution) {
  expect_moments(elements(kNormal, 1, kCount));
  expect_moments(elements(parse_noise_spec("philox:normal:10"), 1, kCount));
  expect_moments(across_seeds(kCount / 64, 64));
}

double normal_distribution(double value) {
  return 0.5 * std::erfc(value * (-0.5 * std::numbers::sqrt2));
}

/// The greatest distance of the values' distribution from the normal one, by Kolmogorov's and
/// Smirnov's test: above 2.37 / sqrt(n) with probability 2 exp(-2·2.37²) = 2.6e-5.
void expect_normally_distributed(std::vector<float> values) {
  std::ranges::sort(values);
  const auto count = static_cast<double>(values.size());
  double distance = 0;
  for (std::size_t n = 0; n < values.size(); ++n) {
    const double expected = normal_distribution(values[n]);
    const auto below = static_cast<double>(n);
    distance = std::max({distance, expected - below / count, (below + 1) / count - expected});
  }
  EXPECT_LT(distance, 2.37 / std::sqrt(count));
}

/// Every second value from `first` on.
std::vector<float> every_second(const std::vector<float>& values, std::size_t first) {
  std::vector<float> chosen;
  for (std::size_t n = first; n < values.size(); n += 2) chosen.push_back(values[n]);
  return chosen;
}

TEST(NormalQuality, CosinesAndSinesAreNormallyDistributed) {
  const std::vector<float> values = elements(kNormal, 2, kCount / 2);
  expect_normally_distributed(every_second(values, 0));
  expect_normally_distributed(every_second(values, 1));
}

TEST(NormalQuality, ValuesAcrossSeedsAreNormallyDistributed) {
  expect_normally_distributed(across_seeds(kCount / 128, 32));
}

/// x, x² - 1 and |x| - sqrt(2/π), each over its standard deviation.
std::array<std::vector<double>, 3> standardized(const std::vector<float>& values) {
  const double mean_magnitude = std::sqrt(2 / std::numbers::pi);
  const double deviation = std::sqrt(1 - 2 / std::numbers::pi);
  std::array<std::vector<double>, 3> all;
  for (const double value : values) {
    all[0].push_back(value);
    all[1].push_back((value * value - 1) / std::numbers::sqrt2);
    all[2].push_back((std::abs(value) - mean_magnitude) / deviation);
  }
  return all;
}

/// `first` and `second` hold sizes of mean 0 and variance 1, independent of each other.
void expect_uncorrelated(const std::vector<double>& first, const std::vector<double>& second,
                         std::size_t lag) {
  double sum = 0;
  for (std::size_t n = 0; n + lag < second.size(); ++n) sum += first[n] * second[n + lag];
  EXPECT_LT(std::abs(sum), kBound * std::sqrt(static_cast<double>(second.size() - lag)));
}

TEST(NormalQuality, ElementsAreUncorrelatedAtEveryLag) {
  const auto values = standardized(elements(kNormal, 3, kCount));
  for (const std::size_t lag : kLags) {
    SCOPED_TRACE(lag);
    for (const std::vector<double>& sizes : values) expect_uncorrelated(sizes, sizes, lag);
  }
}

TEST(NormalQuality, SeedsAreUncorrelatedAtEveryLag) {
  constexpr std::int64_t kEach = 512;
  const auto values = standardized(across_seeds(4096, kEach));
  for (const std::size_t lag : kLags) {
    SCOPED_TRACE(lag);
    for (const std::vector<double>& sizes : values) expect_uncorrelated(sizes, sizes, lag * kEach);
  }
}

TEST(NormalQuality, TheTwoValuesOfAPairAreUncorrelatedInSignAndSize) {
  const std::vector<float> values = elements(kNormal, 4, kCount);
  const auto even = standardized(every_second(values, 0));
  const auto odd = standardized(every_second(values, 1));
  for (std::size_t first = 0; first < even.size(); ++first) {
    for (std::size_t second = 0; second < odd.size(); ++second) {
      SCOPED_TRACE(testing::Message() << first << " " << second);
      expect_uncorrelated(even[first], odd[second], 0);
    }
  }
}

/// The eighth of a turn in which a point lies, and the quarter of all radii.
std::size_t cell(double even, double odd) {
  const double radii = 1 - std::exp(-0.5 * (even * even + odd * odd));
  const bool steep = std::abs(odd) > std::abs(even);
  const int eighth = 4 * int{even < 0} + 2 * int{odd < 0} + int{steep};
  return static_cast<std::size_t>(4 * eighth + std::min(static_cast<int>(4 * radii), 3));
}

TEST(NormalQuality, PairsFillThePlaneEvenly) {
  constexpr std::size_t kCells = 32;
  const std::vector<float> values = elements(kNormal, 5, kCount);
  std::array<std::int64_t, kCells> counts{};
  for (std::size_t n = 0; n < values.size(); n += 2) ++counts.at(cell(values[n], values[n + 1]));
  const double expected = static_cast<double>(kCount) / 2 / kCells;
  double chi_squared = 0;
  for (const std::int64_t count : counts) {
    const double difference = static_cast<double>(count) - expected;
    chi_squared += difference * difference / expected;
  }
  EXPECT_LT(chi_squared, 76.6);  // 31 degrees of freedom: more once in 100,000
}

/// P(at most `count`) of a Poisson distribution.
double poisson_distribution(std::int64_t count, double mean) {
  double sum = 0;
  for (std::int64_t n = 0; n <= count; ++n) {
    const auto k = static_cast<double>(n);
    sum += std::exp(k * std::log(mean) - mean - std::lgamma(k + 1));
  }
  return sum;
}

void expect_poisson(std::int64_t count, double mean) {
  constexpr double kRare = 1e-5;
  EXPECT_GT(poisson_distribution(count, mean), kRare) << count << " instead of " << mean;
  EXPECT_GT(1 - poisson_distribution(count - 1, mean), kRare) << count << " instead of " << mean;
}

TEST(NormalQuality, BothTailsHoldAsManyValuesAsTheyShould) {
  constexpr std::int64_t kSeeds = 8;
  constexpr std::array<double, 4> kThresholds = {3, 4, 4.5, 5};
  std::array<std::int64_t, 4> above{};
  std::array<std::int64_t, 4> below{};
  for (std::int64_t seed = 100; seed < 100 + kSeeds; ++seed) {
    for (const double value : elements(kNormal, seed, kCount)) {
      if (std::abs(value) <= kThresholds[0]) continue;
      for (std::size_t n = 0; n < kThresholds.size(); ++n) {
        above.at(n) += value > kThresholds.at(n);
        below.at(n) += value < -kThresholds.at(n);
      }
    }
  }
  for (std::size_t n = 0; n < kThresholds.size(); ++n) {
    SCOPED_TRACE(kThresholds.at(n));
    const double mean =
        static_cast<double>(kSeeds * kCount) * normal_distribution(-kThresholds.at(n));
    expect_poisson(above.at(n), mean);
    expect_poisson(below.at(n), mean);
  }
}

}  // namespace
}  // namespace vnjit
