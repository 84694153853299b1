#include <gtest/gtest.h>

#include "cpu_reference.hpp"
#include "vnjit/runtime/cpu/noise.hpp"

namespace vnjit {
namespace {

constexpr std::int64_t kTwoTo32 = std::int64_t{1} << 32;
constexpr std::int64_t kLast = std::numeric_limits<std::int64_t>::max();

/// First element and number of elements that differ from the header's.
struct Difference {
  std::int64_t first = -1;
  std::int64_t count = 0;
  friend bool operator==(const Difference&, const Difference&) = default;
};

Difference difference(const NoiseSpec& spec, std::int64_t seed, std::int64_t offset,
                      const std::vector<float>& values) {
  Difference found;
  for (std::size_t n = 0; n < values.size(); ++n) {
    const auto index = static_cast<std::int64_t>(n);
    const float expected = tests::noise_value(spec, seed, offset + index);
    if (std::bit_cast<std::uint32_t>(values[n]) == std::bit_cast<std::uint32_t>(expected)) continue;
    if (found.count++ == 0) found.first = index;
  }
  return found;
}

std::vector<float> filled(const NoiseSpec& spec, std::int64_t seed, std::int64_t offset,
                          std::int64_t count) {
  std::vector<float> values(static_cast<std::size_t>(count), tests::kNaN);
  fill_noise(spec, seed, static_cast<std::uint64_t>(offset), count, values.data());
  return values;
}

TEST(FillNoise, EqualsTheContractForEveryNoiseSeedOffsetAndCount) {
  std::mt19937_64 engine(1);
  const std::vector<std::int64_t> seeds{0,
                                        1,
                                        -1,
                                        42,
                                        kTwoTo32 + 7,
                                        -kTwoTo32 * 3 - 5,
                                        std::numeric_limits<std::int64_t>::min(),
                                        static_cast<std::int64_t>(engine())};
  const std::vector<std::int64_t> counts{1, 2, 15, 63, 64, 65, 255, 257, 512, 1300};
  for (const NoiseSpec& spec : tests::every_noise()) {
    for (const std::int64_t seed : seeds) {
      for (const std::int64_t count : counts) {
        const auto random = static_cast<std::int64_t>(engine() >> 1) - count;
        for (const std::int64_t offset :
             {std::int64_t{0}, std::int64_t{1}, std::int64_t{37}, std::int64_t{64},
              std::int64_t{511}, kTwoTo32 - 650, kTwoTo32 - 64, kTwoTo32 * 4 - 300,
              kTwoTo32 * 64 - 129, random, kLast - count + 1}) {
          ASSERT_EQ(difference(spec, seed, offset, filled(spec, seed, offset, count)), Difference{})
              << to_string(spec) << " seed " << seed << " offset " << offset << " count " << count;
        }
      }
    }
  }
}

TEST(FillNoise, WritesNothingOutsideItsCount) {
  for (const NoiseSpec& spec : tests::every_noise()) {
    for (const std::int64_t count : {0, 1, 17, 300}) {
      std::vector<float> values(static_cast<std::size_t>(count) + 2, tests::kNaN);
      fill_noise(spec, 5, 61, count, values.data() + 1);
      EXPECT_TRUE(std::isnan(values.front())) << to_string(spec) << " count " << count;
      EXPECT_TRUE(std::isnan(values.back())) << to_string(spec) << " count " << count;
    }
  }
}

TEST(FillNoise, DiffersBetweenSeedsThatShareTheirLow32Bits) {
  const NoiseSpec philox{};
  EXPECT_NE(filled(philox, 7, 0, 64), filled(philox, 7 + kTwoTo32, 0, 64));
  const NoiseSpec triton = parse_noise_spec("triton");
  EXPECT_EQ(filled(triton, 7, 0, 64), filled(triton, 7 + kTwoTo32, 0, 64));
}

TEST(FillNoise, RefusesANoiseThatDoesNotExist) {
  NoiseSpec spec;
  spec.rounds = 8;
  float value = 0;
  EXPECT_NE(tests::refusal_of([&] { fill_noise(spec, 0, 0, 1, &value); }).find("rounds"),
            std::string::npos);
}

}  // namespace
}  // namespace vnjit
