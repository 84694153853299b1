#include "vnjit/codegen/candidates.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <map>
#include <set>

#include "examples.hpp"
#include "vnjit/codegen/cost_model.hpp"
#include "vnjit/codegen/error.hpp"
#include "vnjit/codegen/family_limits.hpp"

namespace vnjit {
namespace {

using testing::Contains;
using testing::IsEmpty;
using testing::Not;
using testing::ThrowsMessage;

constexpr NoiseSpec kRademacher{Generator::philox, Distribution::rademacher, 7};

TEST(Candidates, AllValidateOnEveryPresetForEveryOperation) {
  for (const DeviceLimits& limits : tests::every_preset()) {
    for (const NoiseSpec& noise : tests::every_noise()) {
      for (const Problem& problem : tests::every_operation(noise)) {
        SCOPED_TRACE(limits.name + " " + command_flags(problem));
        const std::vector<Config> all = candidates(problem, limits);
        ASSERT_THAT(all, Not(IsEmpty()));
        for (const Config& config : all) ASSERT_NO_THROW(validate(config, problem, limits));
      }
    }
  }
}

TEST(Candidates, AreDistinctAndAlwaysInTheSameOrder) {
  for (const Problem& problem : tests::every_operation({})) {
    const std::vector<Config> all = candidates(problem, DeviceLimits::preset("sm_90"));
    EXPECT_EQ(candidates(problem, DeviceLimits::preset("sm_90")), all);
    std::set<std::string> names;
    for (const Config& config : all) names.insert(to_string(config));
    EXPECT_EQ(names.size(), all.size());
  }
}

TEST(Candidates, HoldEachTileOnceAtEachDepthUpToItsDeepest) {
  const DeviceLimits limits = DeviceLimits::preset("sm_90");
  std::map<std::string, std::vector<int>> depths;  // by tile, the deepest first
  for (Config config : candidates(PerturbedLinear{}, limits)) {
    const int stages = config.stages;
    config.stages = config.blocks_per_sm = 1;
    depths[to_string(config)].push_back(stages);
    EXPECT_LE(stages, pipeline_depth(config, PerturbedLinear{}, limits).stages);
  }
  std::set<std::size_t> deepest;
  for (const auto& [tile, stages] : depths) {
    deepest.insert(stages.size());
    for (std::size_t n = 0; n < stages.size(); ++n) {
      EXPECT_EQ(stages[n], static_cast<int>(stages.size() - n)) << tile;
    }
  }
  EXPECT_THAT(deepest, Contains(1u));  // large tiles
  EXPECT_THAT(deepest, Contains(4u));
}

TEST(ResidentBlocks, AreBoundByWarpsSharedMemoryAndSlots) {
  const DeviceLimits limits = DeviceLimits::preset("sm_90");
  EXPECT_EQ(resident_blocks(8, 1024, limits), 8);    // 64 warps
  EXPECT_EQ(resident_blocks(1, 1024, limits), 32);   // 32 block slots
  EXPECT_EQ(resident_blocks(1, 115712, limits), 2);  // 2 x (113 + 1) KB of 228
  EXPECT_EQ(resident_blocks(1, 115713, limits), 1);
  EXPECT_EQ(resident_blocks(1, std::int64_t{227} * 1024, limits), 1);
  EXPECT_EQ(resident_blocks(1, std::int64_t{228} * 1024, limits), 0);
}

TEST(PipelineDepth, IsWhatFitsTheBlockUpToTheFamilysMaximum) {
  const PipelineDepth depth = pipeline_depth({}, PerturbedLinear{}, DeviceLimits::preset("sm_90"));
  EXPECT_EQ(depth.limit_bytes, 232448);
  EXPECT_EQ(depth.fixed_bytes, 17664);
  EXPECT_EQ(depth.stage_bytes, 34816);
  EXPECT_EQ(depth.max_stages, 4);
  EXPECT_EQ(depth.fitting_stages, 4);
  EXPECT_EQ(depth.stages, 4);
  EXPECT_EQ(depth.explain(), "(232448 - 17664) / 34816 bytes a stage = 6, at most 4: 4");
}

TEST(PipelineDepth, IsLoweredWhereItWouldCostAResidentBlock) {
  const DeviceLimits limits = DeviceLimits::preset("sm_90");
  const PipelineDepth depth = pipeline_depth({.blocks_per_sm = 2}, PerturbedLinear{}, limits);
  EXPECT_EQ(depth.fitting_stages, 4);
  EXPECT_EQ(depth.stages, 2);
  EXPECT_EQ(depth.explain(),
            "(232448 - 17664) / 34816 bytes a stage = 6, at most 4: 4, lowered to 2 so that 2 "
            "blocks fit a multiprocessor");
  EXPECT_EQ(pipeline_depth({.blocks_per_sm = 4}, PerturbedLinear{}, limits).stages, 1);
  EXPECT_EQ(resident_blocks(8, 17664 + 2 * 34816, limits), 2);
  EXPECT_EQ(resident_blocks(8, 17664 + 3 * 34816, limits), 1);
}

TEST(PipelineDepth, FollowsTheArchitecture) {
  const Problem problem = PerturbedLinear{.input = DataType::f16};
  const auto stages = [&](std::string_view arch) {
    return pipeline_depth({}, problem, DeviceLimits::preset(arch)).stages;
  };
  EXPECT_EQ(stages("sm_75"), 2);
  EXPECT_EQ(stages("sm_86"), 4);
  const auto f32_stages = [&](std::string_view arch) {
    return pipeline_depth({}, PerturbedLinear{}, DeviceLimits::preset(arch)).stages;
  };
  EXPECT_EQ(f32_stages("sm_75"), 1);
  EXPECT_EQ(f32_stages("sm_80"), 4);
  EXPECT_EQ(f32_stages("sm_86"), 2);
  EXPECT_EQ(f32_stages("sm_120"), 2);
}

TEST(PipelineDepth, IsOneWhereNothingFitsAndWhereNothingIsLoaded) {
  const DeviceLimits limits = DeviceLimits::preset("sm_90");
  EXPECT_EQ(pipeline_depth({.block_in = 4096}, PerturbedLinear{}, limits).stages, 1);
  const PipelineDepth none = pipeline_depth(tests::segment_config(), Gradient{}, limits);
  EXPECT_EQ(none.stages, 1);
  EXPECT_EQ(none.explain(), "no pipeline: no tiles are loaded; 53360 bytes of shared memory");
}

TEST(ChooseConfig, AlwaysTakesTheSameCandidate) {
  for (const DeviceLimits& limits : tests::every_preset()) {
    for (const Problem& problem : tests::every_operation({})) {
      SCOPED_TRACE(limits.name + " " + std::string(operation_name(problem)));
      const Config chosen = choose_config(problem, limits);
      EXPECT_EQ(choose_config(problem, limits), chosen);
      EXPECT_THAT(candidates(problem, limits), Contains(chosen));
    }
  }
}

TEST(ChooseConfig, TakesTheFastestPredictedOrAPipelineNearlyAsFast) {
  constexpr double kNearly = 1.25;
  for (const DeviceLimits& limits : tests::every_preset()) {
    for (const Problem& problem : tests::every_operation({})) {
      const Config chosen = choose_config(problem, limits);
      const double cycles = predicted_cycles(chosen, problem, limits);
      SCOPED_TRACE(limits.name + " " + std::string(operation_name(problem)) + " " +
                   to_string(chosen));
      for (const Config& other : candidates(problem, limits)) {
        const bool alike = chosen.stages == 1 || other.stages > 1;
        ASSERT_LE(cycles, (alike ? 1 : kNearly) * predicted_cycles(other, problem, limits))
            << to_string(other);
      }
    }
  }
}

TEST(ChooseConfig, SuitsTheSizes) {
  const DeviceLimits limits = DeviceLimits::preset("sm_90");
  EXPECT_LE(choose_config(PerturbedLinear{.pop = 16384, .batch = 1}, limits).block_batch, 8);
  EXPECT_LE(choose_config(PerturbedLinear{.pop = 16384, .out = 10}, limits).block_out, 16);
  EXPECT_GE(choose_config(PerturbedLinear{.batch = 1024}, limits).block_batch, 64);
  EXPECT_GT(choose_config(PerturbedLinear{.pop = 16}, limits).stages, 1);
}

TEST(ChooseConfig, FindsOneForEverySize) {
  constexpr std::int64_t kHuge = std::numeric_limits<std::int64_t>::max();
  const std::int64_t sizes[] = {0, 1, 17, 100'000, kHuge};
  for (const char* arch : {"sm_75", "sm_90"}) {
    const DeviceLimits limits = DeviceLimits::preset(arch);
    const auto expect_choice = [&](const Problem& problem) {
      Config config;
      ASSERT_NO_THROW(config = choose_config(problem, limits));
      ASSERT_NO_THROW(validate(config, problem, limits));
      ASSERT_TRUE(std::isfinite(predicted_cycles(config, problem, limits)));
    };
    for (const std::int64_t a : sizes) {
      for (const std::int64_t b : sizes) {
        expect_choice(PerturbedLinear{.pop = a, .batch = b, .in = b, .out = a});
        expect_choice(
            PerturbedLinear{.noise = kRademacher, .pop = b, .batch = b, .in = a, .out = a});
        expect_choice(Gradient{.pop = a, .rows = b, .columns = a});
        expect_choice(ReduceMetric{.pop = a, .params = b});
      }
    }
  }
}

TEST(ChooseConfig, RefusesAProblemThatIsNone) {
  EXPECT_THAT([] { choose_config(PerturbedLinear{.in = -3}, DeviceLimits::preset("sm_90")); },
              ThrowsMessage<InvalidArgument>("in is -3; sizes are 0 or more"));
}

TEST(ChooseConfig, SaysWhereNothingFitsADevice) {
  DeviceLimits limits = DeviceLimits::preset("sm_90");
  limits.shared_per_block_optin = 4096;
  EXPECT_THAT([&] { choose_config(PerturbedLinear{}, limits); },
              ThrowsMessage<ConfigError>("no config of perturbed-linear fits sm_90 (4096 bytes of "
                                         "shared memory a block)"));
}

TEST(PredictedCycles, ADeeperPipelineIsNeverSlower) {
  const DeviceLimits limits = DeviceLimits::preset("sm_90");
  const Problem problem = PerturbedLinear{};
  for (Config config : candidates(problem, limits)) {
    if (config.stages == 1) continue;
    const double deep = predicted_cycles(config, problem, limits);
    --config.stages;
    ASSERT_LE(deep, predicted_cycles(config, problem, limits)) << to_string(config);
  }
}

TEST(PredictedCycles, GrowWithThePopulationAndWithTheCostOfTheNoise) {
  const DeviceLimits limits = DeviceLimits::preset("sm_90");
  for (Problem problem : tests::every_operation({})) {
    // As many individuals as fill the device even where the parameters are few.
    std::visit([](auto& operation) { operation.pop = 1 << 20; }, problem);
    const Config config = choose_config(problem, limits);
    const double cycles = predicted_cycles(config, problem, limits);
    const auto changed = [&](auto change) {
      Problem other = problem;
      std::visit(change, other);
      return predicted_cycles(config, other, limits);
    };
    EXPECT_GT(changed([](auto& operation) { operation.pop *= 100; }), 10 * cycles);
    EXPECT_GT(changed([](auto& operation) { operation.noise.rounds = 10; }), cycles);
  }
}

}  // namespace
}  // namespace vnjit
