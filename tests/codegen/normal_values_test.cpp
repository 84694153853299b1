#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <random>
#include <vector>

#include "noise/noise.cuh"
#include "noise_reference.hpp"

// What the values of the normal distribution are, word for word.

namespace vnjit::noise {
namespace {

constexpr float kLargest = 0x1.b0e08ep+2f;  // sqrt(66 ln 2) = 6.7637...
constexpr float kLeastRadius = 0x1p-30f;    // of the words that round to u = 1

/// 0, powers of two and their neighbours, the end of the range, and both sides of every place where
/// a way to compute turns: an exponent of u, an eighth of a turn.
std::vector<u32> edge_words() {
  std::vector<u32> all;
  const auto around = [&](u32 word) {
    for (const u32 offset : {~u32{127}, ~u32{1}, ~u32{0}, u32{0}, u32{1}, u32{127}, u32{128}}) {
      all.push_back(word + offset);
    }
  };
  for (int shift = 0; shift < 32; ++shift) {
    around(u32{1} << shift);
    around(static_cast<u32>(std::sqrt(0.5) * std::exp2(shift + 1)));
  }
  for (u32 eighth = 0; eighth < 8; ++eighth) around(eighth << 29);
  return all;
}

std::vector<u32> random_words(int count, unsigned seed) {
  std::mt19937 engine(seed);
  std::vector<u32> all;
  all.reserve(static_cast<std::size_t>(count));
  for (int n = 0; n < count; ++n) all.push_back(static_cast<u32>(engine()));
  return all;
}

/// All roundings of a value together: 3.3e-7 of its radius at most. u = 1 has a radius of 2^-30.
testing::AssertionResult is_box_muller(u32 radius_word, u32 angle_word) {
  const NormalPair found = normal_pair(radius_word, angle_word);
  const tests::NormalReference expected = tests::normal_pair(radius_word, angle_word);
  const double bound = 3.3e-7 * expected.radius + kLeastRadius;
  if (std::abs(found.even - expected.even) <= bound &&
      std::abs(found.odd - expected.odd) <= bound) {
    return testing::AssertionSuccess();
  }
  return testing::AssertionFailure()
         << "words " << radius_word << " and " << angle_word << " make " << found.even << ", "
         << found.odd << " instead of " << expected.even << ", " << expected.odd;
}

TEST(NormalValues, AreThoseOfBoxAndMullerForEdgeWords) {
  for (const u32 radius_word : edge_words()) {
    for (const u32 angle_word : edge_words()) {
      ASSERT_TRUE(is_box_muller(radius_word, angle_word));
    }
  }
}

TEST(NormalValues, AreThoseOfBoxAndMullerForRandomWords) {
  const std::vector<u32> words = random_words(400'000, 1);
  for (std::size_t n = 0; n < words.size(); n += 2) {
    ASSERT_TRUE(is_box_muller(words[n], words[n + 1]));
  }
}

TEST(NormalValues, AreFiniteAndWithinTheLargestForEveryKindOfWord) {
  const auto expect_within = [](u32 radius_word, u32 angle_word) {
    const NormalPair pair = normal_pair(radius_word, angle_word);
    const float size = std::max(std::abs(pair.even), std::abs(pair.odd));
    ASSERT_TRUE(size <= kLargest && size >= 0.7f * kLeastRadius && std::isfinite(pair.even) &&
                std::isfinite(pair.odd))
        << radius_word << " " << angle_word << ": " << pair.even << " " << pair.odd;
  };
  constexpr u32 kStep = 2039;  // odd: angles of all kinds meet radii of all kinds
  for (u64 word = 0; word < (u64{1} << 32); word += kStep) {
    expect_within(static_cast<u32>(word), static_cast<u32>(word) * 0x9E3779B9u);
  }
  for (u32 word = 0; word < 4096; ++word) {
    expect_within(word, word * 0x9E3779B9u);
    expect_within(~word, word * 0x9E3779B9u);
  }
}

TEST(NormalValues, TheLargestIsThatOfRadiusWordZeroOnEachAxis) {
  EXPECT_NEAR(kLargest, std::sqrt(66 * std::log(2.0)), 1e-6);
  EXPECT_GE(kLargest, 5.5f);
  EXPECT_EQ(normal_pair(0, 0).even, kLargest);
  EXPECT_EQ(normal_pair(0, 1u << 30).odd, kLargest);
  EXPECT_EQ(normal_pair(0, 2u << 30).even, -kLargest);
  EXPECT_EQ(normal_pair(0, 3u << 30).odd, -kLargest);
  EXPECT_LT(normal_pair(1, 0).even, kLargest);
}

TEST(NormalValues, TheLeastRadiusIsThatOfWordsThatRoundToOne) {
  EXPECT_EQ(normal_pair(0xFFFFFFFFu, 0).even, kLeastRadius);
  EXPECT_EQ(normal_pair(0xFFFFFF80u, 0).even, kLeastRadius);
  EXPECT_NEAR(normal_pair(0xFFFFFF7Fu, 0).even, std::exp2(-11.5), 1e-9);  // u = 1 - 2^-24
}

// P(radius > s) = exp(-s²/2): so many of the 2^32 words have it, to the word.
TEST(NormalValues, AsManyRadiusWordsLieBeyondAThresholdAsShould) {
  for (const double sigma : {4.5, 5.0, 5.5, 6.0, 6.5}) {
    const auto words = static_cast<u32>(std::llround(std::exp2(32) * std::exp(-sigma * sigma / 2)));
    EXPECT_GT(normal_pair(words - 1, 0).even, sigma) << words;
    EXPECT_LT(normal_pair(words, 0).even, sigma) << words;
  }
}

TEST(NormalValues, AQuarterTurnOfTheAngleTurnsThePairToTheBit) {
  std::vector<u32> angles = random_words(2000, 2);
  for (const u32 word : edge_words()) angles.push_back(word);
  for (const u32 angle : angles) {
    for (const u32 radius_word : {0u, 0x12345678u, 0xF0000001u}) {
      const NormalPair before = normal_pair(radius_word, angle);
      const NormalPair after = normal_pair(radius_word, angle + (1u << 30));
      ASSERT_EQ(bits_of(after.even), bits_of(-before.odd)) << angle;
      ASSERT_EQ(bits_of(after.odd), bits_of(before.even)) << angle;
    }
  }
}

TEST(NormalValues, AnAngleIsAWordsHighest25Bits) {
  for (const u32 angle : random_words(2000, 3)) {
    const NormalPair pair = normal_pair(0x40000000u, angle);
    for (const u32 low : {0u, 127u}) {
      const NormalPair same = normal_pair(0x40000000u, (angle & ~127u) | low);
      ASSERT_EQ(bits_of(pair.even), bits_of(same.even));
      ASSERT_EQ(bits_of(pair.odd), bits_of(same.odd));
    }
    const NormalPair next = normal_pair(0x40000000u, angle + 128);
    ASSERT_TRUE(next.even != pair.even || next.odd != pair.odd) << angle;
  }
}

/// The exact values were computed in double, without the contract's rounding of u and the angle;
/// the bits by rational arithmetic that rounds where the header does. Both outside of this project.
struct Golden {
  u64 seed;
  u64 element;
  double exact;
  u32 bits;
};

constexpr std::array<Golden, 8> kGolden = {{
    {0, 0, 1.327974058, 0x3fa9fb0e},
    {0, 1, 0.458170226, 0x3eea9544},
    {1, 8, -1.000517030, 0xbf8010f0},
    {42, 9, 0.058705815, 0x3d70754f},
    {~u64{0}, 1000, -1.108800517, 0xbf8ded2e},
    {(u64{1} << 32) + 7, (u64{1} << 32) - 1, 0.647092501, 0x3f25a7dc},
    {u64{1} << 63, (u64{1} << 63) - 1, -1.213909545, 0xbf9b6162},
    {123456789, (u64{1} << 36) + 5, 0.096020642, 0x3dc4a66d},
}};

TEST(NormalValues, HaveTheirGoldenBits) {
  for (const Golden& golden : kGolden) {
    const float value = PhiloxNormal<7>::value(golden.seed, golden.element);
    EXPECT_EQ(bits_of(value), golden.bits) << golden.seed << " " << golden.element;
    EXPECT_NEAR(value, golden.exact, 1e-6) << golden.seed << " " << golden.element;
  }
  EXPECT_EQ(bits_of(PhiloxNormal<10>::value(0, 0)), 0x3f7dbb31u);
  EXPECT_EQ(bits_of(PhiloxNormal<10>::value(7, 31)), 0xbe8c4568u);
}

TEST(NormalValues, SixteenthsOfASeedAndOfItsKeysEqualValues) {
  for (const u64 seed : {u64{0}, ~u64{0}, u64{0x123456789ABCDEF}}) {
    const PhiloxNormal<7>::Keys keys = PhiloxNormal<7>::keys(seed);
    for (const u64 sixteenth : {u64{0}, u64{1}, (u64{1} << 30) - 1, (u64{1} << 59) - 1}) {
      for (u32 lane = 0; lane < 4; ++lane) {
        float of_seed[4];
        float of_keys[4];
        PhiloxNormal<7>::sixteenth(seed, sixteenth, lane, of_seed);
        PhiloxNormal<7>::sixteenth(keys, sixteenth, lane, of_keys);
        for (int n = 0; n < 4; ++n) {
          const auto position = static_cast<u64>(block_position(static_cast<int>(lane), n));
          const u32 expected = bits_of(PhiloxNormal<7>::value(seed, sixteenth * 16 + position));
          ASSERT_EQ(bits_of(of_seed[n]), expected) << sixteenth << " " << position;
          ASSERT_EQ(bits_of(of_keys[n]), expected) << sixteenth << " " << position;
        }
      }
    }
  }
}

}  // namespace
}  // namespace vnjit::noise
