#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <set>

#include "examples.hpp"
#include "vnjit/codegen/candidates.hpp"
#include "vnjit/codegen/emit.hpp"
#include "vnjit/codegen/error.hpp"
#include "vnjit/codegen/family_limits.hpp"
#include "vnjit/codegen/tensor_config.hpp"

namespace vnjit {
namespace {

using testing::Contains;
using testing::ThrowsMessage;

const DeviceLimits kSm75 = DeviceLimits::preset("sm_75");
const DeviceLimits kSm80 = DeviceLimits::preset("sm_80");
const DeviceLimits kSm90 = DeviceLimits::preset("sm_90");

std::set<Family> families(const std::vector<Config>& configs) {
  std::set<Family> all;
  for (const Config& config : configs) all.insert(config.family);
  return all;
}

TEST(TensorCandidates, AllValidateOnEveryPreset) {
  for (const DeviceLimits& limits : tests::every_preset()) {
    for (const PerturbedLinear& problem : tests::every_tensor_problem()) {
      for (const Config& config : candidates(problem, limits)) {
        ASSERT_NO_THROW(validate(config, problem, limits))
            << command_flags(problem) << ' ' << limits.name << ' ' << to_string(config);
      }
    }
  }
}

TEST(TensorCandidates, AreOfTheFamiliesThatTheDeviceAndThePrecisionHave) {
  using Families = std::set<Family>;
  for (const PerturbedLinear& problem : tests::every_tensor_problem()) {
    SCOPED_TRACE(command_flags(problem));
    EXPECT_EQ(families(candidates(problem, kSm75)), Families{Family::simt});
    EXPECT_EQ(families(candidates(problem, kSm90)),
              (Families{Family::simt, Family::mma_sync, Family::wgmma}));
    for (const char* arch : {"sm_80", "sm_86", "sm_89", "sm_100", "sm_120"}) {
      EXPECT_EQ(families(candidates(problem, DeviceLimits::preset(arch))),
                (Families{Family::simt, Family::mma_sync}));
    }
  }
  EXPECT_EQ(families(candidates(PerturbedLinear{}, kSm90)), Families{Family::simt});
  EXPECT_EQ(families(candidates(
                PerturbedLinear{.input = DataType::f16, .precision = Precision::f32}, kSm90)),
            Families{Family::simt});
}

TEST(TensorCandidates, AreDistinctAndTakeNoMoreThanAThreadsRegisters) {
  for (const PerturbedLinear& problem : tests::every_tensor_problem()) {
    std::set<std::string> names;
    const std::vector<Config> all = candidates(problem, kSm90);
    for (const Config& config : all) {
      names.insert(to_string(config));
      if (!is_tensor(config.family)) continue;
      const bool two = problem.layout == InputLayout::individual && !config.fused;
      // Sums alone.
      EXPECT_LT(config.individuals * config.block_batch / 2 * (two ? 2 : 1),
                kSm90.registers_per_thread);
      EXPECT_LE(config.blocks_per_sm * config.threads() * config.individuals * config.block_batch /
                    2 * (two ? 2 : 1),
                kSm90.registers_per_sm);
    }
    EXPECT_EQ(names.size(), all.size()) << command_flags(problem);
  }
}

TEST(TensorCandidates, HoldEachTileOnceAtEachDepthUpToItsDeepest) {
  const PerturbedLinear problem{.input = DataType::f16, .layout = InputLayout::individual};
  std::map<std::string, std::vector<int>> depths;  // by tile, the deepest first
  for (Config config : candidates(problem, kSm90)) {
    if (!is_tensor(config.family)) continue;
    const int stages = config.stages;
    config.stages = config.blocks_per_sm = 1;
    EXPECT_LE(stages, pipeline_depth(config, problem, kSm90).stages);
    depths[to_string(config)].push_back(stages);
  }
  EXPECT_GT(depths.size(), 20u);
  for (const auto& [tile, stages] : depths) {
    const int last = tile.starts_with("wgmma") ? 2 : 1;
    EXPECT_EQ(stages.back(), last) << tile;
    EXPECT_EQ(stages.front(), static_cast<int>(stages.size()) + last - 1) << tile;
  }
}

TEST(TensorCandidates, SetIndividualsSideBySideOnlyWhereEachHasItsX) {
  PerturbedLinear problem{.input = DataType::bf16};
  const auto most = [&] {
    int individuals = 0;
    for (const Config& config : candidates(problem, kSm80)) {
      individuals = std::max(individuals, config.individuals);
    }
    return individuals;
  };
  EXPECT_EQ(most(), 1);
  problem.layout = InputLayout::individual;
  EXPECT_GT(most(), 1);
}

// Whatever the sizes, what is chosen by itself runs contiguous buffers of them.
TEST(ChooseTensorConfig, NeverNeedsWhatContiguousBuffersLack) {
  for (const char* arch : {"sm_80", "sm_90"}) {
    const DeviceLimits limits = DeviceLimits::preset(arch);
    for (PerturbedLinear problem : tests::every_tensor_problem()) {
      for (const std::int64_t in : {0, 1, 8, 16, 33, 40, 48, 64, 784, 1000, 1024}) {
        problem.in = in;
        const Config chosen = choose_config(problem, limits);
        SCOPED_TRACE(command_flags(problem) + " --in " + std::to_string(in) + " " +
                     to_string(chosen));
        if (is_tensor(chosen.family)) {
          EXPECT_EQ(missing_access(chosen, problem, contiguous_access(problem)), "");
        }
        EXPECT_NO_THROW(validate(chosen, problem, limits));
      }
    }
  }
}

TEST(ChooseTensorConfig, FollowsTheRowsOfX) {
  const auto family = [](PerturbedLinear problem, std::int64_t in) {
    problem.in = in;
    return choose_config(problem, kSm90).family;
  };
  const PerturbedLinear f16{.input = DataType::f16};
  EXPECT_EQ(family(f16, 33), Family::simt);
  EXPECT_EQ(family(f16, 1000), Family::simt);
  EXPECT_EQ(family(f16, 1001), Family::simt);
  EXPECT_NE(family(f16, 784), Family::simt);
  EXPECT_NE(family(f16, 1024), Family::simt);
  // Elements of their own need no grid of 16.
  const PerturbedLinear triton{.noise = parse_noise_spec("triton"), .input = DataType::f16};
  EXPECT_NE(family(triton, 1000), Family::simt);
  EXPECT_EQ(family(triton, 1001), Family::simt);
}

TEST(ChooseTensorConfig, OfRowsOffTheGridOf64StillCopiesVectors) {
  const PerturbedLinear problem{.input = DataType::f16, .in = 784};
  EXPECT_EQ(to_string(contiguous_access(problem)), "rows16+noise16+index32+counter32");
  for (const InputLayout layout : {InputLayout::shared, InputLayout::individual}) {
    PerturbedLinear other = problem;
    other.layout = layout;
    const Config chosen = choose_config(other, kSm90);
    EXPECT_TRUE(is_tensor(chosen.family)) << to_string(chosen);
  }
}

TEST(ChooseTensorConfig, FollowsTheArchitecture) {
  const PerturbedLinear problem{.input = DataType::f16};
  EXPECT_EQ(choose_config(problem, kSm75).family, Family::simt);
  EXPECT_EQ(choose_config(problem, kSm90).family, Family::wgmma);
  for (const char* arch : {"sm_80", "sm_86", "sm_89", "sm_100", "sm_120"}) {
    EXPECT_EQ(choose_config(problem, DeviceLimits::preset(arch)).family, Family::mma_sync) << arch;
  }
}

TEST(ChooseTensorConfig, KeepsExactProductsExact) {
  for (const DeviceLimits& limits : tests::every_preset()) {
    for (const DataType input : {DataType::f32, DataType::f16, DataType::bf16}) {
      const PerturbedLinear problem{.input = input, .precision = Precision::f32};
      EXPECT_EQ(choose_config(problem, limits).family, Family::simt);
    }
    EXPECT_EQ(choose_config(PerturbedLinear{}, limits).family, Family::simt);
  }
}

// One row of X an individual, 64 outputs: the smallest tile there is holds them.
TEST(ChooseTensorConfig, WastesNoMoreOfATileThanItMust) {
  for (const char* arch : {"sm_80", "sm_90"}) {
    const Config chosen = choose_config(PerturbedLinear{.input = DataType::f16,
                                                        .layout = InputLayout::individual,
                                                        .pop = 8192,
                                                        .batch = 1,
                                                        .in = 64,
                                                        .out = 64},
                                        DeviceLimits::preset(arch));
    SCOPED_TRACE(to_string(chosen));
    EXPECT_TRUE(is_tensor(chosen.family));
    EXPECT_EQ(chosen.block_out, 64);
    EXPECT_EQ(chosen.block_batch, 8);
    EXPECT_EQ(chosen.block_in, 64);
  }
}

TEST(ChooseTensorConfig, NeverTakesAFusedFormByItself) {
  for (const PerturbedLinear& problem : tests::every_tensor_problem()) {
    EXPECT_FALSE(choose_config(problem, kSm90).fused) << command_flags(problem);
  }
}

TEST(ChooseFamily, TakesTheCandidateOfTheFamilyAsked) {
  const PerturbedLinear problem{.input = DataType::f16};
  for (const Family family : {Family::simt, Family::mma_sync, Family::wgmma}) {
    const Config chosen = choose_config(problem, kSm90, family);
    EXPECT_EQ(chosen.family, family);
    EXPECT_THAT(candidates(problem, kSm90), Contains(chosen));
  }
  const Family best = choose_config(problem, kSm90).family;
  EXPECT_EQ(choose_config(problem, kSm90, best), choose_config(problem, kSm90));
}

TEST(ChooseFamily, SaysWhyAFamilyCannot) {
  EXPECT_THAT([] { choose_config(PerturbedLinear{}, kSm90, Family::mma_sync); },
              ThrowsMessage<ConfigError>(testing::StartsWith(
                  "family is mma_sync; tensor cores round operands, and the problem's precision is "
                  "f32: ask for tf32")));
  EXPECT_THAT(
      [] { choose_config(PerturbedLinear{.precision = Precision::tf32}, kSm80, Family::wgmma); },
      ThrowsMessage<ConfigError>("family is wgmma; sm_80 has no wgmma, only sm_90 has"));
  EXPECT_THAT([] { choose_config(Gradient{}, kSm90, Family::wgmma); },
              ThrowsMessage<ConfigError>("family is wgmma; kernels of gradients are simt or "
                                         "mma_sync"));
  EXPECT_THAT([] { choose_config(ReduceMetric{}, kSm90, Family::mma_sync); },
              ThrowsMessage<ConfigError>("family is mma_sync; kernels of reduce-metric are simt"));
}

TEST(WhyNotTensor, IsNothingWhereOneIsAmongTheCandidates) {
  for (const DeviceLimits& limits : tests::every_preset()) {
    for (PerturbedLinear problem : tests::every_tensor_problem()) {
      for (const std::int64_t in : {33, 784, 1000, 1024}) {
        problem.in = in;
        const bool can = families(candidates(problem, limits)).size() > 1;
        EXPECT_EQ(why_not_tensor(problem, limits).empty(), can)
            << command_flags(problem) << ' ' << limits.name << ' ' << in << ": "
            << why_not_tensor(problem, limits);
      }
    }
  }
}

TEST(WhyNotTensor, NamesTheReason) {
  EXPECT_EQ(why_not_tensor(PerturbedLinear{.input = DataType::f16}, kSm75),
            "family is mma_sync; it needs sm_80 or later, and this is sm_75");
  EXPECT_EQ(why_not_tensor(PerturbedLinear{.input = DataType::f16, .in = 33}, kSm90),
            "family is mma_sync; rows of X and W have to start and end on 16-byte boundaries (in "
            "is 33; multiples of 8 do)");
}

TEST(BaseProduct, IsAProblemOfItsOwnWithoutNoise) {
  PerturbedLinear problem{.input = DataType::f16, .output = DataType::f16, .pop = 12};
  problem.noise.antithetic = true;
  problem.bake_shape = true;
  const PerturbedLinear product = base_product_problem(problem);
  EXPECT_EQ(product.pop, 1);
  EXPECT_EQ(product.output, DataType::f32);
  EXPECT_FALSE(product.noise.antithetic);
  EXPECT_FALSE(product.bake_shape);
  EXPECT_EQ(product.batch, problem.batch);
  EXPECT_EQ(product.in, problem.in);
  EXPECT_EQ(product.out, problem.out);
}

TEST(BaseProduct, FitsEveryDeviceThatHasTensorCores) {
  for (const DeviceLimits& limits : tests::every_preset()) {
    if (!limits.has_async_copy()) continue;
    for (const PerturbedLinear& problem : tests::every_tensor_input()) {
      const Config config = base_product_config(problem, limits);
      EXPECT_EQ(config.family, Family::mma_sync);
      EXPECT_NO_THROW(validate(config, base_product_problem(problem), limits))
          << limits.name << ' ' << to_string(config);
    }
  }
}

}  // namespace
}  // namespace vnjit
