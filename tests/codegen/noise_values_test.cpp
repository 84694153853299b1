#include <gtest/gtest.h>

#include <cmath>
#include <set>

#include "examples.hpp"
#include "noise/noise.cuh"

// What the values of each distribution are, whatever the generator's words.

namespace vnjit::noise {
namespace {

TEST(NoiseValues, Uniform8IsSymmetricAndHasMeanZero) {
  std::set<float> values;
  float sum = 0.0f;
  for (u32 byte = 0; byte < 256; ++byte) {
    const float value = PhiloxUniform8<7>::from_byte(byte);
    EXPECT_EQ(value, -PhiloxUniform8<7>::from_byte(255 - byte));
    EXPECT_EQ(value * 512, std::round(value * 512));  // an odd multiple of 2^-9
    EXPECT_NE(value * 256, std::round(value * 256));
    values.insert(value);
    sum += value;
  }
  EXPECT_EQ(sum, 0.0f);
  EXPECT_EQ(values.size(), 256u);
  EXPECT_EQ(*values.begin(), -0.498046875f);
}

TEST(NoiseValues, UniformIsSymmetricAndHasItsExactVariance) {
  // Values are odd multiples of 2^-24: sums of them and of their squares are exact as integers.
  long long sum = 0;
  unsigned __int128 squares = 0;
  for (u32 top = 0; top < (1u << 23); ++top) {
    const float value = PhiloxUniform<7>::from_word(top << 9);
    const float scaled = value * 0x1p24f;
    const auto whole = static_cast<long long>(scaled);
    ASSERT_EQ(scaled, static_cast<float>(whole)) << top;
    ASSERT_EQ(whole, 2 * static_cast<long long>(top) + 1 - (1 << 23));
    sum += whole;
    squares += static_cast<unsigned __int128>(whole * whole);
  }
  EXPECT_EQ(sum, 0);
  // 2^23 values of mean square (2^46 - 1) / 3 in units of 2^-48.
  const auto expected = static_cast<unsigned __int128>((u64{1} << 46) - 1) / 3 * (1u << 23);
  EXPECT_TRUE(squares == expected);
}

TEST(NoiseValues, UniformKeepsThe23HighBitsOfAWord) {
  EXPECT_EQ(PhiloxUniform<7>::from_word(0), -0.5f + 0x1p-24f);
  EXPECT_EQ(PhiloxUniform<7>::from_word(511), -0.5f + 0x1p-24f);
  EXPECT_EQ(PhiloxUniform<7>::from_word(512), -0.5f + 0x3p-24f);
  EXPECT_EQ(PhiloxUniform<7>::from_word(0xffffffff), 0.5f - 0x1p-24f);
}

TEST(NoiseValues, RademacherIsASign) {
  EXPECT_EQ(PhiloxRademacher<7>::from_bit(0), -1.0f);
  EXPECT_EQ(PhiloxRademacher<7>::from_bit(1), 1.0f);
}

TEST(NoiseValues, SeedModulesGeneratorsStayWithinOneHalf) {
  for (u64 element = 0; element < 100'000; ++element) {
    ASSERT_LE(std::abs(Triton::value(9, element)), 0.5f);
    ASSERT_LE(std::abs(SplitMix64::value(9, element)), 0.5f);
  }
}

TEST(NoiseValues, TritonNarrowsItsSeedTo32BitsAndNothingElseDoes) {
  constexpr u64 kBeyond = u64{1} << 32;
  int same = 0;
  for (u64 element = 0; element < 256; ++element) {
    ASSERT_EQ(Triton::value(5, element), Triton::value(5 + kBeyond, element));
    same += PhiloxUniform<7>::value(5, element) == PhiloxUniform<7>::value(5 + kBeyond, element);
    same += SplitMix64::value(5, element) == SplitMix64::value(5 + kBeyond, element);
  }
  EXPECT_LE(same, 2);
}

TEST(NoiseValues, ADifferentNumberOfRoundsIsDifferentNoise) {
  int same = 0;
  for (u64 element = 0; element < 256; ++element) {
    same += PhiloxUniform<7>::value(5, element) == PhiloxUniform<10>::value(5, element);
  }
  EXPECT_LE(same, 1);
}

/// Mean, variance and correlation with the next seed's of a million values, in standard errors.
template <typename Noise>
void expect_moments(double variance) {
  constexpr int kCount = 1 << 20;
  double sum = 0.0;
  double squares = 0.0;
  double products = 0.0;
  for (u64 element = 0; element < kCount; ++element) {
    const double value = Noise::value(1234, element);
    sum += value;
    squares += value * value;
    products += value * Noise::value(1235, element);
  }
  const double error = std::sqrt(variance / kCount);
  EXPECT_LT(std::abs(sum / kCount), 4.5 * error);
  EXPECT_LT(std::abs(squares / kCount - variance), 4.5 * std::sqrt(0.8) * variance / 1024 + 1e-12);
  EXPECT_LT(std::abs(products / kCount), 4.5 * variance / 1024);
}

TEST(NoiseValues, HaveTheMomentsThatTheSpecSays) {
  const auto variance = [](const char* noise) { return parse_noise_spec(noise).variance(); };
  expect_moments<Triton>(variance("triton"));
  expect_moments<SplitMix64>(variance("splitmix64"));
  expect_moments<PhiloxUniform<7>>(variance("philox:uniform"));
  expect_moments<PhiloxUniform8<7>>(variance("philox:uniform8"));
  expect_moments<PhiloxRademacher<7>>(variance("philox:rademacher"));
}

}  // namespace
}  // namespace vnjit::noise
