#include "noise/noise.cuh"

#include <gtest/gtest.h>

#include <random>
#include <set>
#include <vector>

#include "noise_reference.hpp"

namespace vnjit::noise {
namespace {

using tests::Place;
using tests::Words;

constexpr u64 kLastElement = (u64{1} << 63) - 1;

std::vector<u64> seeds() {
  std::vector<u64> all = {0, 1, 42, ~u64{0}, u64{1} << 32, (u64{1} << 32) - 1, u64{1} << 63};
  std::mt19937_64 engine(7);
  for (int n = 0; n < 20; ++n) all.push_back(engine());
  return all;
}

/// First elements of runs that cross every boundary of the contract's bit fields.
std::vector<u64> run_starts() {
  std::vector<u64> all = {0, (u64{1} << 31) - 300, (u64{1} << 32) - 300, (u64{1} << 41) - 300,
                          kLastElement - 1023};
  std::mt19937_64 engine(11);
  for (int n = 0; n < 5; ++n) all.push_back(engine() >> 2);
  return all;
}

template <typename Noise, typename Reference>
void expect_contract(Reference reference) {
  for (const u64 seed : seeds()) {
    for (const u64 start : run_starts()) {
      for (u64 element = start; element < start + 1024; element += 1 + (element & 2)) {
        ASSERT_EQ(Noise::value(seed, element), reference(seed, element))
            << "seed " << seed << " element " << element;
      }
    }
  }
}

TEST(PhiloxReference, YieldsThePublishedVectors) {
  EXPECT_EQ(tests::philox(10, {0, 0, 0, 0}, {0, 0}),
            (Words{0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8}));
  constexpr std::uint32_t kOnes = 0xffffffff;
  EXPECT_EQ(tests::philox(10, {kOnes, kOnes, kOnes, kOnes}, {kOnes, kOnes}),
            (Words{0x408f276d, 0x41c83b0e, 0xa20bc7c6, 0x6d5451fd}));
  EXPECT_EQ(
      tests::philox(10, {0x243f6a88, 0x85a308d3, 0x13198a2e, 0x03707344}, {0xa4093822, 0x299f31d0}),
      (Words{0xd16cfe09, 0x94fdcceb, 0x5001e420, 0x24126ea1}));
}

TEST(Philox4x32, YieldsThePublishedVector) {
  const PhiloxWords words = philox4x32<10>(0, 0);
  EXPECT_EQ(words.w[0], 0x6627e8d5u);
  EXPECT_EQ(words.w[1], 0xe169c58du);
  EXPECT_EQ(words.w[2], 0xbc57ac4cu);
  EXPECT_EQ(words.w[3], 0x9b00dbd8u);
}

TEST(Philox4x32, EqualsTheReferenceForAllOfCounterAndKey) {
  std::mt19937_64 engine(3);
  for (int n = 0; n < 1000; ++n) {
    const u64 counter = engine();
    const u64 key = engine();
    const Words seven = tests::philox_call(7, counter, key);
    const Words ten = tests::philox_call(10, counter, key);
    for (u32 word = 0; word < 4; ++word) {
      ASSERT_EQ(philox4x32<7>(counter, key).word(word), seven[word]);
      ASSERT_EQ(philox4x32<10>(counter, key).w[word], ten[word]);
    }
  }
}

TEST(Noise, UniformIsTheContracts) {
  expect_contract<PhiloxUniform<7>>([](u64 s, u64 e) { return tests::uniform(7, s, e); });
  expect_contract<PhiloxUniform<10>>([](u64 s, u64 e) { return tests::uniform(10, s, e); });
}

TEST(Noise, Uniform8IsTheContracts) {
  expect_contract<PhiloxUniform8<7>>([](u64 s, u64 e) { return tests::uniform8(7, s, e); });
  expect_contract<PhiloxUniform8<10>>([](u64 s, u64 e) { return tests::uniform8(10, s, e); });
}

TEST(Noise, RademacherIsTheContracts) {
  expect_contract<PhiloxRademacher<7>>([](u64 s, u64 e) { return tests::rademacher(7, s, e); });
  expect_contract<PhiloxRademacher<10>>([](u64 s, u64 e) { return tests::rademacher(10, s, e); });
}

TEST(Noise, NormalIsTheContracts) {
  for (const u64 seed : seeds()) {
    for (const u64 start : run_starts()) {
      for (u64 element = start; element < start + 128; ++element) {
        ASSERT_NEAR(PhiloxNormal<7>::value(seed, element), tests::normal(7, seed, element), 2e-6)
            << "seed " << seed << " element " << element;
        ASSERT_NEAR(PhiloxNormal<10>::value(seed, element), tests::normal(10, seed, element), 2e-6)
            << "seed " << seed << " element " << element;
      }
    }
  }
}

TEST(Noise, TritonIsTheContracts) { expect_contract<Triton>(tests::triton); }

TEST(Noise, SplitMix64IsTheContracts) { expect_contract<SplitMix64>(tests::splitmix64); }

/// A block's four lanes make each of its 64 elements once, with the values of value().
template <typename Noise>
void expect_blocks_equal_values() {
  std::vector<u64> blocks = {
      0, 1, 2, 7, 8, 9, (u64{1} << 26) - 1, u64{1} << 26, (u64{1} << 57) - 1, (u64{1} << 58) - 1};
  std::mt19937_64 engine(5);
  for (int n = 0; n < 20; ++n) blocks.push_back(engine() >> 6);
  for (const u64 seed : seeds()) {
    for (const u64 block : blocks) {
      std::set<int> positions;
      for (u32 lane = 0; lane < 4; ++lane) {
        float values[16];
        Noise::block(seed, block, lane, values);
        for (int n = 0; n < 16; ++n) {
          const int position = block_position(static_cast<int>(lane), n);
          positions.insert(position);
          ASSERT_EQ(values[n], Noise::value(seed, block * 64 + static_cast<u64>(position)))
              << "seed " << seed << " block " << block << " position " << position;
        }
      }
      ASSERT_EQ(positions.size(), 64u);
      ASSERT_EQ(*positions.begin(), 0);
      ASSERT_EQ(*positions.rbegin(), 63);
    }
  }
}

TEST(Noise, BlocksOfUniformEqualItsValues) {
  expect_blocks_equal_values<PhiloxUniform<7>>();
  expect_blocks_equal_values<PhiloxUniform<10>>();
}

TEST(Noise, BlocksOfUniform8EqualItsValues) {
  expect_blocks_equal_values<PhiloxUniform8<7>>();
  expect_blocks_equal_values<PhiloxUniform8<10>>();
}

TEST(Noise, BlocksOfRademacherEqualItsValues) {
  expect_blocks_equal_values<PhiloxRademacher<7>>();
  expect_blocks_equal_values<PhiloxRademacher<10>>();
}

TEST(Noise, BlocksOfNormalEqualItsValues) {
  expect_blocks_equal_values<PhiloxNormal<7>>();
  expect_blocks_equal_values<PhiloxNormal<10>>();
}

/// `count` elements, a multiple of what a period of calls makes, use each part of each call once.
void expect_bijection(Place (*place)(std::uint64_t), u64 first, u64 count, u32 parts) {
  std::set<Place> places;
  for (u64 element = first; element < first + count; ++element) {
    const Place found = place(element);
    ASSERT_LT(found.part, parts);
    ASSERT_TRUE(places.insert(found).second) << "element " << element;
  }
  const u64 first_call = places.begin()->call;
  const u64 last_call = places.rbegin()->call;
  EXPECT_EQ(first_call, first / parts);
  EXPECT_EQ((last_call - first_call + 1) * parts, count);
}

TEST(Noise, EveryPartOfEveryCallIsUsedByOneElement) {
  for (const u64 first : {u64{0}, u64{1} << 33, kLastElement - 8191}) {
    expect_bijection(tests::uniform_place, first, 8192, 4);
    expect_bijection(tests::uniform8_place, first, 8192, 16);
    expect_bijection(tests::rademacher_place, first, 8192, 128);
  }
}

TEST(Noise, OneCallOfUniform8IsALanesShareOfAMatrixFragment) {
  // Lane c of four holds k = 2c, 2c+1, 2c+8, 2c+9 of each 16 (PTX: mma.m16n8k16, matrix A).
  for (u32 lane = 0; lane < 4; ++lane) {
    for (const u32 k : {2 * lane, 2 * lane + 1, 2 * lane + 8, 2 * lane + 9}) {
      EXPECT_EQ(fragment_lane(k), lane);
      EXPECT_EQ(tests::uniform8_place(640 + k).call, 40 + lane);
    }
  }
}

}  // namespace
}  // namespace vnjit::noise
