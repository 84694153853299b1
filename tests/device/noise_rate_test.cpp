#include "vnjit/runtime/gpu/noise_rate.hpp"

#include <bit>

#include "device_test.hpp"

namespace vnjit {
namespace {

constexpr std::uint64_t kFirstSeed = 0xFEDC'BA98'7654'3210u;
constexpr unsigned kSeeds = 3;

/// The kernel of noise alone does all the work that it is timed for.
class NoiseRateTest : public tests::DeviceTest {
 protected:
  /// The folds of all threads, after a run.
  std::vector<std::uint32_t> folds(const NoiseSpec& noise) {
    const KernelSource source = emit_noise_rate(noise, device->limits());
    const NoiseRate rate(source, runtime.compile(source).binary, std::make_shared<const Driver>(),
                         device);
    EXPECT_EQ(rate.threads(),
              std::int64_t{device->limits().sm_count} * source.threads * kNoiseRateBlocksPerSm);
    rate.run(kFirstSeed, kSeeds);
    return on_host(rate.folds());
  }
};

/// The exclusive or of the words of `calls` calls of Philox from `first` on.
template <int kRounds>
std::uint32_t fold_of_calls(std::uint64_t first, std::int64_t calls) {
  std::uint32_t fold = 0;
  for (std::uint64_t seed = kFirstSeed; seed < kFirstSeed + kSeeds; ++seed) {
    for (std::int64_t n = 0; n < calls; ++n) {
      const noise::PhiloxWords words =
          noise::philox4x32<kRounds>(first + static_cast<std::uint64_t>(n), seed);
      for (const std::uint32_t word : words.w) fold ^= word;
    }
  }
  return fold;
}

TEST_F(NoiseRateTest, MakesEveryWordOfItsCalls) {
  const auto expect_words = [&](const NoiseSpec& noise, std::int64_t call_values, auto fold) {
    SCOPED_TRACE(to_string(noise));
    const std::vector<std::uint32_t> found = folds(noise);
    const std::int64_t calls = noise_rate_values(noise) / call_values;
    for (const std::size_t thread : {std::size_t{0}, std::size_t{77}, found.size() - 1}) {
      EXPECT_EQ(found[thread], fold(thread * static_cast<std::uint64_t>(calls), calls)) << thread;
    }
  };
  expect_words(parse_noise_spec("philox:uniform:7"), 4, fold_of_calls<7>);
  expect_words(parse_noise_spec("philox:uniform8:10"), 16, fold_of_calls<10>);
  expect_words(parse_noise_spec("philox:rademacher:7"), 128, fold_of_calls<7>);
}

TEST_F(NoiseRateTest, MakesEveryValueOfAWarpsSegment) {
  constexpr std::size_t kSegment = 512;
  for (const NoiseSpec& noise : tests::every_noise()) {
    if (noise_rate_values(noise) != kSegment / 32) continue;  // words
    SCOPED_TRACE(to_string(noise));
    const std::vector<std::uint32_t> found = folds(noise);
    for (const std::size_t warp : {std::size_t{0}, std::size_t{9}, found.size() / 32 - 1}) {
      std::uint32_t of_warp = 0;
      for (std::size_t lane = 0; lane < 32; ++lane) of_warp ^= found[32 * warp + lane];
      std::uint32_t expected = 0;
      for (std::uint64_t seed = kFirstSeed; seed < kFirstSeed + kSeeds; ++seed) {
        for (std::size_t n = 0; n < kSegment; ++n) {
          expected ^= std::bit_cast<std::uint32_t>(
              tests::noise_value(noise, static_cast<std::int64_t>(seed),
                                 static_cast<std::int64_t>(warp * kSegment + n)));
        }
      }
      EXPECT_EQ(of_warp, expected) << warp;
    }
  }
}

}  // namespace
}  // namespace vnjit
