#include "vnjit/codegen/sum_split.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "examples.hpp"
#include "vnjit/codegen/cost_model.hpp"
#include "vnjit/codegen/sum_config.hpp"

namespace vnjit {
namespace {

using tests::metric_config;

const DeviceLimits kSm80 = DeviceLimits::preset("sm_80");
const DeviceLimits kSm90 = DeviceLimits::preset("sm_90");

constexpr std::int64_t kCounts[] = {1,    2,    3,     7,       8,       9,      15,   16,
                                    17,   63,   131,   132,     133,     256,    1000, 2112,
                                    2113, 4096, 65536, 100'001, 1 << 24, 1 << 30};

std::int64_t ceil_div(std::int64_t value, std::int64_t by) { return (value + by - 1) / by; }

std::int64_t slots(const Config& config, const DeviceLimits& limits) {
  return std::int64_t{limits.sm_count} * config.blocks_per_sm;
}

/// That a kernel so split meets each unit and each seed once, and can be launched.
void expect_whole(const PopulationSplit& split, const Config& config, std::int64_t units,
                  std::int64_t seeds, const DeviceLimits& limits) {
  ASSERT_GE(split.unit_warps, 1);
  ASSERT_EQ(config.warps % split.unit_warps, 0);
  const std::int64_t group_units = config.warps / split.unit_warps;
  const std::int64_t groups = split.groups(config, units);
  ASSERT_EQ(groups, ceil_div(units, group_units));
  ASSERT_GE(split.parts, 1);
  ASSERT_LE(split.parts, seeds);
  const std::int64_t share = ceil_div(seeds, split.parts);
  ASSERT_GE(split.parts * share, seeds);
  if (split.parts > 1) {
    ASSERT_GE(share, 8 * split.unit_warps);  // 8 at a time
  }
  ASSERT_LE(groups * split.parts, limits.max_grid_x);
  if (split.cluster) {
    ASSERT_TRUE(limits.has_clusters());
    ASSERT_GE(split.parts, 2);
    ASSERT_LE(split.parts, 8);
    ASSERT_LE(groups * split.parts, slots(config, limits) / 2);
  }
  ASSERT_TRUE(std::isfinite(split.clocks));
  ASSERT_GT(split.clocks, 0);
}

TEST(SplitPopulation, MeetsEveryUnitAndEverySeedOnceWhateverTheSizes) {
  for (const DeviceLimits& limits : tests::every_preset()) {
    for (const NoiseSpec& noise : tests::every_noise()) {
      const Gradient problem{.noise = noise};
      for (const Config& config : candidates(problem, limits)) {
        for (const std::int64_t units : kCounts) {
          for (const std::int64_t seeds : kCounts) {
            SCOPED_TRACE(to_string(config) + " on " + limits.name + ": " + std::to_string(units) +
                         " units, " + std::to_string(seeds) + " seeds");
            expect_whole(split_population(config, problem, units, seeds, limits), config, units,
                         seeds, limits);
            if (HasFatalFailure()) return;
          }
        }
      }
    }
  }
}

TEST(SplitPopulation, LeavesTheSeedsOfManyUnitsTogether) {
  for (const Config& config : candidates(Gradient{}, kSm90)) {
    for (const std::int64_t units : {std::int64_t{1} << 16, std::int64_t{1} << 30}) {
      const PopulationSplit split = split_population(config, Gradient{}, units, 4096, kSm90);
      EXPECT_EQ(split.parts, 1);
      EXPECT_EQ(split.unit_warps, 1);
      EXPECT_FALSE(split.cluster);
    }
  }
}

TEST(SplitPopulation, SharesTheSeedsOfOneUnitAmongManyWarps) {
  for (const Config& config : candidates(Gradient{}, kSm90)) {
    const PopulationSplit split = split_population(config, Gradient{}, 1, 4096, kSm90);
    EXPECT_EQ(split.unit_warps, config.warps) << to_string(config);
    EXPECT_GE(split.unit_warps * split.parts, 32) << to_string(config);
    // Each has 8 seeds or more, as many as a product takes.
    EXPECT_GE(4096 / (split.unit_warps * split.parts), 8) << to_string(config);
  }
}

TEST(SplitPopulation, FillsAHalfEmptyDevice) {
  Config config = tests::segment_config(8, Family::mma_sync);
  config.blocks_per_sm = 2;
  const std::int64_t units = 264;  // 33 thread blocks, of 132 multiprocessors
  const PopulationSplit split = split_population(config, Gradient{}, units, 65536, kSm90);
  EXPECT_GE(split.groups(config, units) * split.parts, 132);
  EXPECT_LT(split.clocks, split_population(config, Gradient{}, 1056, 65536, kSm90).clocks);
}

TEST(SplitPopulation, DoesNotSplitSeedsThatAreFew) {
  for (const Config& config : candidates(Gradient{}, kSm90)) {
    for (const std::int64_t seeds : {1, 8, 15}) {
      const PopulationSplit split = split_population(config, Gradient{}, 1, seeds, kSm90);
      EXPECT_EQ(split.parts, 1);
    }
  }
}

TEST(SplitPopulation, MakesClustersOnlyWhereThereAre) {
  Config config = tests::segment_config(8, Family::mma_sync);
  config.blocks_per_sm = 2;
  const PopulationSplit with = split_population(config, Gradient{}, 40, 4096, kSm90);
  EXPECT_TRUE(with.cluster);
  const PopulationSplit without = split_population(config, Gradient{}, 40, 4096, kSm80);
  EXPECT_FALSE(without.cluster);
  EXPECT_GT(without.parts, 1);
  // Of a device that is full, clusters would wait for gaps of their size.
  const PopulationSplit full = split_population(config, Gradient{}, 1120, 4096, kSm90);
  EXPECT_FALSE(full.cluster);
  EXPECT_GT(full.parts, 1);
}

TEST(SplitPopulation, AddsUpInMemoryWhatIsTooMuchForACluster) {
  const Config config = tests::segment_config(8, Family::mma_sync);
  const PopulationSplit split = split_population(config, Gradient{}, 1, 1 << 20, kSm90);
  EXPECT_GT(split.parts, 8);
  EXPECT_FALSE(split.cluster);
}

TEST(SplitPopulation, IsNeverPredictedToEndEarlierOfMoreUnits) {
  for (const char* arch : {"sm_75", "sm_80", "sm_90"}) {
    const DeviceLimits limits = DeviceLimits::preset(arch);
    for (const Config& config : candidates(Gradient{}, limits)) {
      for (const std::int64_t seeds : {1, 100, 5000}) {
        double before = 0;
        for (std::int64_t units = 1; units < 5000; ++units) {
          const double clocks = split_population(config, Gradient{}, units, seeds, limits).clocks;
          ASSERT_GE(clocks, before) << to_string(config) << ' ' << units << ' ' << seeds;
          before = clocks;
        }
      }
    }
  }
}

TEST(SplitParameters, MeetsEverySeedAndEverySegmentOnceWhateverTheSizes) {
  for (const DeviceLimits& limits : tests::every_preset()) {
    for (NoiseSpec noise : tests::every_noise()) {
      for (noise.antithetic = false;; noise.antithetic = true) {
        const ReduceMetric problem{.noise = noise};
        for (Config config : candidates(problem, limits)) {
          for (const int individuals : {2, 16}) {
            config.individuals = individuals;
            for (const std::int64_t seeds : kCounts) {
              for (const std::int64_t segments : kCounts) {
                SCOPED_TRACE(to_string(config) + " on " + limits.name + ": " +
                             std::to_string(seeds) + " seeds, " + std::to_string(segments));
                const ParameterSplit split =
                    split_parameters(config, problem, seeds, segments, limits);
                ASSERT_GE(split.group_seeds, 1);
                ASSERT_LE(split.group_seeds * (noise.antithetic ? 2 : 1), individuals);
                ASSERT_EQ(split.groups, ceil_div(seeds, split.group_seeds));
                ASSERT_GE(split.chunks, 1);
                // A thread block without segments would still be waited for.
                const std::int64_t length = ceil_div(segments, split.chunks);
                ASSERT_EQ(split.chunks, ceil_div(segments, length));
                ASSERT_LE(split.groups * split.chunks, limits.max_grid_x);
                ASSERT_TRUE(std::isfinite(split.clocks) && split.clocks > 0);
              }
            }
          }
        }
        if (noise.antithetic) break;
      }
    }
  }
}

TEST(SplitParameters, MakesGroupsAlike) {
  const auto group_seeds = [](std::int64_t seeds, bool antithetic) {
    const ReduceMetric problem{.noise = {.antithetic = antithetic}};
    return split_parameters(metric_config(8, 16), problem, seeds, 100, kSm90).group_seeds;
  };
  EXPECT_EQ(group_seeds(1, false), 1);
  EXPECT_EQ(group_seeds(16, false), 16);
  EXPECT_EQ(group_seeds(17, false), 9);  // 9 and 8, not 16 and 1
  EXPECT_EQ(group_seeds(33, false), 11);
  EXPECT_EQ(group_seeds(8, true), 8);  // of 16 individuals
  EXPECT_EQ(group_seeds(9, true), 5);
}

TEST(SplitParameters, CutsTheParametersOfFewSeedsAndNotThoseOfMany) {
  const auto split = [](std::int64_t seeds, std::int64_t segments) {
    return split_parameters(metric_config(), ReduceMetric{}, seeds, segments, kSm90);
  };
  EXPECT_GE(split(16, 100'000).chunks, 132);
  EXPECT_EQ(split(1 << 20, 100'000).chunks, 1);
  // A warp has a segment at least.
  EXPECT_EQ(split(1, 8).chunks, 1);
  EXPECT_EQ(split(1, 9).chunks, 2);
  EXPECT_EQ(split(1, 0).chunks, 1);  // no parameters: NaN
}

TEST(SplitParameters, DoesNotOverflowOfTheMostParametersThereAre) {
  constexpr std::int64_t kMost = std::int64_t{1} << 54;  // segments of 2^63 parameters
  for (const std::int64_t seeds : {1, 1 << 24, 1 << 30}) {
    const ParameterSplit split =
        split_parameters(metric_config(), ReduceMetric{}, seeds, kMost, kSm90);
    EXPECT_EQ(split.groups, ceil_div(seeds, split.group_seeds));
    EXPECT_GE(split.chunks, 1);
    EXPECT_GT(split.clocks, 1e12);
  }
}

TEST(SegmentCount, IsThatOfTheProblemsElementsRoundedUp) {
  const Config config = tests::segment_config();
  const auto gradient = [&](std::int64_t rows, std::int64_t columns) {
    return segment_count(config, Gradient{.rows = rows, .columns = columns});
  };
  EXPECT_EQ(gradient(0, 100), 0);
  EXPECT_EQ(gradient(1, 1), 1);
  EXPECT_EQ(gradient(2, 256), 1);
  EXPECT_EQ(gradient(3, 171), 2);
  EXPECT_EQ(gradient(1024, 1024), 2048);
  EXPECT_EQ(gradient(INT64_MAX, INT64_MAX), std::int64_t{1} << 62);
  const auto metric = [&](std::int64_t params) {
    return segment_count(config, ReduceMetric{.params = params});
  };
  EXPECT_EQ(metric(0), 0);
  EXPECT_EQ(metric(512), 1);
  EXPECT_EQ(metric(513), 2);
  EXPECT_EQ(metric(INT64_MAX), std::int64_t{1} << 54);
}

TEST(SegmentClocks, AreFewerOfProductsAndMoreOfMoreRounds) {
  for (const NoiseSpec& noise : tests::every_noise()) {
    EXPECT_GT(segment_clocks(noise, Family::simt), 0) << to_string(noise);
    EXPECT_GT(reduce_segment_clocks(noise), 0) << to_string(noise);
    if (has_integer_sums(noise)) {
      EXPECT_LT(segment_clocks(noise, Family::mma_sync), segment_clocks(noise, Family::simt));
    }
    if (noise.rounds != 7) continue;
    NoiseSpec more = noise;
    more.rounds = 10;
    EXPECT_GT(segment_clocks(more, Family::simt), segment_clocks(noise, Family::simt));
    EXPECT_GT(reduce_segment_clocks(more), reduce_segment_clocks(noise));
  }
}

TEST(ExplainSplit, SaysHowTheWorkIsCut) {
  Config config = tests::segment_config(8, Family::mma_sync);
  config.blocks_per_sm = 2;
  const auto gradient = [&](std::int64_t pop, std::int64_t rows, const DeviceLimits& limits) {
    return explain_split(config, Gradient{.pop = pop, .rows = rows}, limits);
  };
  EXPECT_EQ(gradient(256, 4096, kSm90),
            "1024 thread blocks: 8192 segments of 512 elements, 256 seeds in 1 part, 1 warp a "
            "segment");
  EXPECT_EQ(gradient(4096, 20, kSm90),
            "120 thread blocks: 40 segments of 512 elements, 4096 seeds in 6 parts (a cluster), 4 "
            "warps a segment");
  EXPECT_EQ(gradient(4096, 20, kSm80),
            "200 thread blocks: 40 segments of 512 elements, 4096 seeds in 5 parts (added up in "
            "memory), 8 warps a segment");
  EXPECT_EQ(explain_split(metric_config(), ReduceMetric{.pop = 100}, kSm90),
            "126 thread blocks: 100 seeds in groups of 15, 1954 segments of 512 elements in 18 "
            "parts");
  EXPECT_EQ(explain_split(metric_config(), ReduceMetric{.pop = 1, .params = 1}, kSm90),
            "1 thread block: 1 seed in groups of 1, 1 segment of 512 elements in 1 part");
}

TEST(ExplainSplit, CountsTheSeedsOfPairs) {
  const Config config = tests::segment_config(8, Family::mma_sync);
  const Gradient problem{.noise = {.antithetic = true}, .pop = 256, .rows = 4096};
  EXPECT_THAT(explain_split(config, problem, kSm90), testing::HasSubstr(" 128 seeds in "));
}

TEST(ExplainSplit, IsEmptyWhereThereIsNothingToCut) {
  EXPECT_EQ(explain_split({}, PerturbedLinear{}, kSm90), "");
  EXPECT_EQ(explain_split(tests::segment_config(), Gradient{.pop = 0}, kSm90), "");
  EXPECT_EQ(explain_split(tests::segment_config(), Gradient{.rows = 0}, kSm90), "");
  EXPECT_EQ(explain_split(metric_config(), ReduceMetric{.pop = 0}, kSm90), "");
}

TEST(PredictedCycles, OfSumsAreThoseOfTheirSplit) {
  const Config config = tests::segment_config(8, Family::mma_sync);
  const Gradient gradient{.noise = {.antithetic = true}, .pop = 512};
  EXPECT_EQ(predicted_cycles(config, gradient, kSm90),
            split_population(config, gradient, 2048, 256, kSm90).clocks);
  const ReduceMetric metric{.pop = 512, .params = 5121};
  EXPECT_EQ(predicted_cycles(metric_config(), metric, kSm90),
            split_parameters(metric_config(), metric, 512, 11, kSm90).clocks);
  EXPECT_EQ(predicted_cycles(config, Gradient{.pop = 0}, kSm90), 0);
  EXPECT_EQ(predicted_cycles(config, Gradient{.columns = 0}, kSm90), 0);
  EXPECT_EQ(predicted_cycles(metric_config(), ReduceMetric{.pop = 0}, kSm90), 0);
}

}  // namespace
}  // namespace vnjit
