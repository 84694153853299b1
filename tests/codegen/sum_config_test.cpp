#include "vnjit/codegen/sum_config.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "examples.hpp"
#include "noise/noise.cuh"
#include "vnjit/codegen/emit.hpp"
#include "vnjit/codegen/error.hpp"

namespace vnjit {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::ThrowsMessage;
using tests::metric_config;
using tests::segment_config;

const DeviceLimits kSm75 = DeviceLimits::preset("sm_75");
const DeviceLimits kSm90 = DeviceLimits::preset("sm_90");

Gradient gradient_of(std::string_view noise) { return {.noise = parse_noise_spec(noise)}; }

TEST(SumConfig, SumsOfBytesAndOfSignsAreIntegers) {
  for (const char* noise : {"philox:uniform8:7", "philox:uniform8:10", "philox:rademacher:7"}) {
    EXPECT_TRUE(has_integer_sums(parse_noise_spec(noise))) << noise;
    EXPECT_EQ(total_bytes(gradient_of(noise)), 8) << noise;
  }
  for (const char* noise : {"triton", "splitmix64", "philox:uniform:7", "philox:normal:10"}) {
    EXPECT_FALSE(has_integer_sums(parse_noise_spec(noise))) << noise;
    EXPECT_EQ(total_bytes(gradient_of(noise)), 4) << noise;
  }
}

TEST(SumConfig, AWarpTakes512ElementsOr1024OfSignsByProducts) {
  for (const NoiseSpec& noise : tests::every_noise()) {
    EXPECT_EQ(segment_elements(Gradient{.noise = noise}, Family::simt), 512);
  }
  EXPECT_EQ(segment_elements(gradient_of("philox:uniform8"), Family::mma_sync), 512);
  EXPECT_EQ(segment_elements(gradient_of("philox:rademacher"), Family::mma_sync), 1024);
}

/// What a gradient's thread block has in shared memory.
template <typename Keys, typename Total, int kWarps, int kElements>
struct GradientMemory {
  struct {
    Keys keys;
    unsigned weight;
  } staged[32 * kWarps];
  Total totals[kWarps][kElements];
  Total warp_fitness[kWarps];
  unsigned warp_bits[kWarps];
  unsigned arrived;
};

template <typename Keys, typename Total, int kElements = 512>
void expect_gradient_memory(std::string_view noise, Family family = Family::simt) {
  const Gradient problem = gradient_of(noise);
  const auto bytes = [&](int warps) {
    Config config = segment_config(warps, family);
    config.block_in = kElements;
    return static_cast<std::size_t>(fixed_shared_bytes(config, problem));
  };
  SCOPED_TRACE(std::string(noise) + " " + std::string(to_string(family)));
  EXPECT_EQ(bytes(1), sizeof(GradientMemory<Keys, Total, 1, kElements>));
  EXPECT_EQ(bytes(2), sizeof(GradientMemory<Keys, Total, 2, kElements>));
  EXPECT_EQ(bytes(4), sizeof(GradientMemory<Keys, Total, 4, kElements>));
  EXPECT_EQ(bytes(8), sizeof(GradientMemory<Keys, Total, 8, kElements>));
}

TEST(SumConfig, CountsTheSharedMemoryOfAGradient) {
  using noise::PhiloxKeys;
  expect_gradient_memory<PhiloxKeys<10>, float>("triton");
  expect_gradient_memory<unsigned long long, float>("splitmix64");
  expect_gradient_memory<PhiloxKeys<7>, float>("philox:uniform:7");
  expect_gradient_memory<PhiloxKeys<10>, float>("philox:normal:10");
  expect_gradient_memory<PhiloxKeys<7>, long long>("philox:uniform8:7");
  expect_gradient_memory<PhiloxKeys<10>, long long>("philox:uniform8:10", Family::mma_sync);
  expect_gradient_memory<PhiloxKeys<7>, long long>("philox:rademacher:7");
  expect_gradient_memory<PhiloxKeys<7>, long long, 1024>("philox:rademacher:7", Family::mma_sync);
}

/// What a reduction's thread block has in shared memory.
template <typename Keys, int kWarps, int kIndividuals>
struct MetricMemory {
  Keys keys[kIndividuals];
  struct {
    float sum;
    float error;
  } sums[kIndividuals][32 * kWarps];
  unsigned arrived;
};

template <typename Keys>
void expect_metric_memory(std::string_view noise) {
  const ReduceMetric problem{.noise = parse_noise_spec(noise)};
  const auto bytes = [&](int warps, int individuals) {
    return static_cast<std::size_t>(fixed_shared_bytes(metric_config(warps, individuals), problem));
  };
  SCOPED_TRACE(noise);
  EXPECT_EQ(bytes(1, 2), sizeof(MetricMemory<Keys, 1, 2>));
  EXPECT_EQ(bytes(8, 16), sizeof(MetricMemory<Keys, 8, 16>));
  EXPECT_EQ(bytes(3, 64), sizeof(MetricMemory<Keys, 3, 64>));
}

TEST(SumConfig, CountsTheSharedMemoryOfAReduction) {
  expect_metric_memory<noise::PhiloxKeys<10>>("triton");
  expect_metric_memory<unsigned long long>("splitmix64");
  expect_metric_memory<noise::PhiloxKeys<7>>("philox:uniform8:7");
  expect_metric_memory<noise::PhiloxKeys<10>>("philox:normal:10");
}

TEST(SumConfig, TheSourceAssertsWhatIsCounted) {
  for (const NoiseSpec& noise : tests::every_noise()) {
    for (const Problem& problem :
         {Problem{Gradient{.noise = noise}}, Problem{ReduceMetric{.noise = noise}}}) {
      for (const Config& config : candidates(problem, kSm90)) {
        const KernelSource source = emit(problem, config, kSm90);
        EXPECT_EQ(source.shared_bytes, fixed_shared_bytes(config, problem)) << source.entry;
        EXPECT_THAT(source.text, HasSubstr("\nstatic_assert(vnjit::kSharedBytes == " +
                                           std::to_string(source.shared_bytes) + ", \""));
      }
    }
  }
}

TEST(SumLayouts, OfAGradientAreThoseOfTheFamiliesThatTheDeviceHas) {
  for (const DeviceLimits& limits : tests::every_preset()) {
    for (const NoiseSpec& noise : tests::every_noise()) {
      const Gradient problem{.noise = noise};
      std::vector<std::pair<Family, int>> found;
      for (const Config& config : candidates(problem, limits)) {
        found.emplace_back(config.family, config.warps);
      }
      std::vector<std::pair<Family, int>> expected = {{Family::simt, 8}, {Family::simt, 4}};
      if (has_integer_sums(noise) && limits.name != "sm_75") {
        expected.insert(expected.begin(), {{Family::mma_sync, 8}, {Family::mma_sync, 4}});
      }
      EXPECT_EQ(found, expected) << to_string(noise) << ' ' << limits.name;
    }
  }
}

std::vector<std::string> names_of(const std::vector<Config>& configs) {
  std::vector<std::string> names;
  names.reserve(configs.size());
  for (const Config& config : configs) names.push_back(to_string(config));
  return names;
}

TEST(SumLayouts, KeepAsManyBlocksResidentAsSharedMemoryAllows) {
  const auto names = [](std::string_view noise, std::string_view arch) {
    return names_of(candidates(gradient_of(noise), DeviceLimits::preset(arch)));
  };
  EXPECT_THAT(names("philox:uniform8", "sm_75"),
              ElementsAre("simt_o1b1k512_s1_w8_r1", "simt_o1b1k512_s1_w4_r2"));
  EXPECT_THAT(names("triton", "sm_75"),
              ElementsAre("simt_o1b1k512_s1_w8_r1", "simt_o1b1k512_s1_w4_r3"));
  EXPECT_THAT(names("philox:uniform8", "sm_86"),
              ElementsAre("mma_sync_o1b1k512_s1_w8_r1", "mma_sync_o1b1k512_s1_w4_r3",
                          "simt_o1b1k512_s1_w8_r1", "simt_o1b1k512_s1_w4_r3"));
  EXPECT_THAT(names("philox:uniform8", "sm_90"),
              ElementsAre("mma_sync_o1b1k512_s1_w8_r2", "mma_sync_o1b1k512_s1_w4_r4",
                          "simt_o1b1k512_s1_w8_r2", "simt_o1b1k512_s1_w4_r4"));
  EXPECT_THAT(names("philox:rademacher", "sm_90"),
              ElementsAre("mma_sync_o1b1k1024_s1_w8_r1", "mma_sync_o1b1k1024_s1_w4_r2",
                          "simt_o1b1k512_s1_w8_r2", "simt_o1b1k512_s1_w4_r4"));
}

TEST(SumLayouts, OfAReductionAreThoseThatFit) {
  const auto names = [](std::string_view arch) {
    return names_of(candidates(ReduceMetric{}, DeviceLimits::preset(arch)));
  };
  EXPECT_THAT(names("sm_75"), ElementsAre("simt_o1b1k512_s1_w8_r1_i16"));
  EXPECT_THAT(names("sm_86"),
              ElementsAre("simt_o1b1k512_s1_w8_r2_i16", "simt_o1b1k512_s1_w8_r1_i16"));
  EXPECT_THAT(names("sm_90"),
              ElementsAre("simt_o1b1k512_s1_w8_r3_i16", "simt_o1b1k512_s1_w8_r2_i16",
                          "simt_o1b1k512_s1_w8_r1_i16"));
}

void expect_refusal(const Config& config, const Problem& problem, const DeviceLimits& limits,
                    const std::string& message) {
  EXPECT_THAT([&] { validate(config, problem, limits); }, ThrowsMessage<ConfigError>(message))
      << to_string(config);
}

/// `config` with one field changed.
Config changed(Config config, int Config::*field, int value) {
  config.*field = value;
  return config;
}

TEST(SumConfig, RefusesFamiliesThatAnOperationHasNot) {
  expect_refusal(segment_config(4, Family::wgmma), Gradient{}, kSm90,
                 "family is wgmma; kernels of gradients are simt or mma_sync");
  for (const Family family : {Family::mma_sync, Family::wgmma}) {
    expect_refusal(
        segment_config(4, family), ReduceMetric{}, kSm90,
        "family is " + std::string(to_string(family)) + "; kernels of reduce-metric are simt");
  }
}

TEST(SumConfig, RefusesProductsOfNoiseThatIsNoInteger) {
  for (const NoiseSpec& noise : tests::every_noise()) {
    if (has_integer_sums(noise)) continue;
    expect_refusal(segment_config(8, Family::mma_sync), Gradient{.noise = noise}, kSm90,
                   "family is mma_sync; noise is " + to_string(noise) +
                       ", and its products are those of philox:uniform8 and philox:rademacher");
  }
}

TEST(SumConfig, RefusesProductsOnADeviceWithout) {
  expect_refusal(segment_config(4, Family::mma_sync), Gradient{}, kSm75,
                 "family is mma_sync; sm_75 has none, it is of sm_80 and later");
  EXPECT_NO_THROW(
      validate(segment_config(4, Family::mma_sync), Gradient{}, DeviceLimits::preset("sm_80")));
}

TEST(SumConfig, RefusesTiles) {
  const struct {
    Config config;
    Problem problem;
    std::string name;
  } cases[] = {{segment_config(), Gradient{}, "weight-gradient"},
               {segment_config(), Gradient{.vector = true, .rows = 1}, "bias-gradient"},
               {metric_config(), ReduceMetric{}, "reduce-metric"}};
  for (const auto& [config, problem, name] : cases) {
    expect_refusal(
        changed(config, &Config::block_batch, 64), problem, kSm90,
        "block_out and block_batch are 1 and 64; " + name + " has no such tiles, both are 1");
    expect_refusal(
        changed(config, &Config::block_out, 64), problem, kSm90,
        "block_out and block_batch are 64 and 1; " + name + " has no such tiles, both are 1");
    for (const int stages : {0, 2}) {
      expect_refusal(
          changed(config, &Config::stages, stages), problem, kSm90,
          "stages is " + std::to_string(stages) + "; " + name + " loads no tiles, it is 1");
    }
    Config fused = config;
    fused.fused = true;
    expect_refusal(fused, problem, kSm90, "fused is set; " + name + " has no such form");
  }
}

TEST(SumConfig, RefusesSegmentsOfAnotherLength) {
  const auto refusal = [](int block_in, int elements) {
    return "block_in is " + std::to_string(block_in) + "; a warp takes " +
           std::to_string(elements) + " elements here";
  };
  for (const int block_in : {0, 64, 1024}) {
    expect_refusal(changed(segment_config(), &Config::block_in, block_in), Gradient{}, kSm90,
                   refusal(block_in, 512));
    expect_refusal(changed(metric_config(), &Config::block_in, block_in), ReduceMetric{}, kSm90,
                   refusal(block_in, 512));
  }
  expect_refusal(segment_config(8, Family::mma_sync), gradient_of("philox:rademacher"), kSm90,
                 refusal(512, 1024));
}

TEST(SumConfig, RefusesWarpsThatDoNotShareAUnitEvenly) {
  for (const int warps : {3, 12, 16, 32}) {
    expect_refusal(
        segment_config(warps), Gradient{}, kSm90,
        "warps is " + std::to_string(warps) + "; a gradient has a power of two from 1 to 8");
  }
  for (const int warps : {-1, 0, 33}) {
    const std::string message = "warps is " + std::to_string(warps) + "; a block has 1 to 32";
    expect_refusal(segment_config(warps), Gradient{}, kSm90, message);
    expect_refusal(metric_config(warps), ReduceMetric{}, kSm90, message);
  }
  for (const int warps : {1, 2, 4, 8}) {
    EXPECT_NO_THROW(validate(segment_config(warps), Gradient{}, kSm75));
  }
  EXPECT_NO_THROW(validate(metric_config(3), ReduceMetric{}, kSm90));
}

TEST(SumConfig, RefusesIndividualsThatAKernelDoesNotTake) {
  for (const int individuals : {0, 2}) {
    expect_refusal(changed(segment_config(), &Config::individuals, individuals), Gradient{}, kSm90,
                   "individuals is " + std::to_string(individuals) + "; of a gradient it is 1");
  }
  for (const int individuals : {-2, 0, 1, 15, 65, 66}) {
    expect_refusal(
        metric_config(4, individuals), ReduceMetric{}, kSm90,
        "individuals is " + std::to_string(individuals) + "; it is an even number from 2 to 64");
  }
  for (const int individuals : {2, 6, 64}) {
    EXPECT_NO_THROW(validate(metric_config(4, individuals), ReduceMetric{}, kSm90));
  }
}

TEST(SumConfig, RefusesMoreSharedMemoryThanTheDeviceHas) {
  expect_refusal(metric_config(32, 64), ReduceMetric{}, kSm90,
                 "warps and individuals are 32 and 64: 528400 bytes of shared memory a block, and "
                 "sm_90 has 232448; use fewer");
  DeviceLimits small = kSm75;
  small.shared_per_block_optin = 0;
  expect_refusal(segment_config(8), Gradient{}, small,
                 "warps and individuals are 8 and 1: 53360 bytes of shared memory a block, and "
                 "sm_75 has 49152; use fewer");
  EXPECT_THAT(names_of(candidates(Gradient{}, small)), ElementsAre("simt_o1b1k512_s1_w4_r2"));
}

TEST(SumConfig, RefusesMoreResidentBlocksThanFit) {
  for (const int resident : {0, 5}) {
    expect_refusal(changed(segment_config(8), &Config::blocks_per_sm, resident), Gradient{}, kSm90,
                   "blocks_per_sm is " + std::to_string(resident) +
                       "; 8 warps and 53360 bytes of shared memory a block allow 1 to 4 on sm_90");
  }
}

}  // namespace
}  // namespace vnjit
