#include "vnjit/codegen/config.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "examples.hpp"
#include "vnjit/codegen/error.hpp"

namespace vnjit {
namespace {

using testing::ThrowsMessage;
using tests::metric_config;
using tests::segment_config;

const DeviceLimits kSm75 = DeviceLimits::preset("sm_75");
const DeviceLimits kSm86 = DeviceLimits::preset("sm_86");
const DeviceLimits kSm90 = DeviceLimits::preset("sm_90");

TEST(Config, IsPrintedShort) {
  EXPECT_EQ(to_string(Config{}), "simt_o64b64k64_s2_w8_r1");
  EXPECT_EQ(to_string(segment_config(16)), "simt_o1b1k512_s1_w16_r1");
  const Config config{.block_out = 128,
                      .block_batch = 8,
                      .block_in = 192,
                      .stages = 3,
                      .warps = 4,
                      .blocks_per_sm = 2};
  EXPECT_EQ(to_string(config), "simt_o128b8k192_s3_w4_r2");
  EXPECT_EQ(to_string(metric_config(4, 16)), "simt_o1b1k512_s1_w4_r1_i16");
}

TEST(Config, ParsesWhatItPrints) {
  for (const NoiseSpec& noise : tests::every_noise()) {
    for (const Problem& problem : tests::every_operation(noise)) {
      for (const Config& config : candidates(problem, kSm90)) {
        ASSERT_EQ(parse_config(to_string(config)), config) << to_string(config);
      }
    }
  }
}

TEST(Config, RefusesTextThatDoesNotParseAndSaysWhere) {
  const struct {
    const char* text;
    const char* at;
  } cases[] = {
      {"simt_", ""},
      {"simt_o", "o"},
      {"simt_o64b64_s2_w8_r1", "_s2_w8_r1"},
      {"simt_b64o64k64_s2_w8_r1", "b64o64k64_s2_w8_r1"},
      {"simt_o-64b64k64_s2_w8_r1", "o-64b64k64_s2_w8_r1"},
      {"simt_o99999999999b64k64_s2_w8_r1", "o99999999999b64k64_s2_w8_r1"},
      {"simt_o64b64k64s2_w8_r1", "s2_w8_r1"},
      {"simt_o64b64k64_w8_s2_r1", "w8_s2_r1"},
      {"simt_o64b64k64_s2_w8", ""},
      {"simt_o64b64k64_s2_w8_", ""},
      {"simt_o64b64k64_s2_w8_r1 ", " "},
      {"simt_o64b64k64_s2_w8_r1_r1", "r1"},
      {"mma_sync_o64b8k64_s2_w4_r2_i", "i"},
      {"mma_sync_o64b8k64_s2_w4_r2_i8_i8", "_i8"},
      {"wgmma_fusedo64b8k64_s2_w4_r2", "fusedo64b8k64_s2_w4_r2"},
      {"wgmma_fused_fused_o64b8k64_s2_w4_r2", "fused_o64b8k64_s2_w4_r2"},
  };
  for (const auto& refused : cases) {
    EXPECT_THAT([&] { parse_config(refused.text); },
                ThrowsMessage<ConfigError>("config '" + std::string(refused.text) +
                                           "' does not parse at '" + refused.at +
                                           "'; a config reads like simt_o64b64k64_s2_w8_r1"));
  }
}

TEST(Config, RefusesFamiliesThereAreNot) {
  for (const std::string text : {"", "mma_o64b64k64_s2_w8_r1", "simt", "Simt_o64", "mma_sync"}) {
    EXPECT_THAT([&] { parse_config(text); },
                ThrowsMessage<ConfigError>("config '" + text +
                                           "' names no kernel family; there are simt, mma_sync "
                                           "and wgmma"));
  }
}

TEST(Config, CountsTheBytesOfAPipelineStage) {
  // Tiles of X (64x64) and W (64 rows, padded by 8 elements).
  EXPECT_EQ(stage_bytes({}, PerturbedLinear{}), (64 * 64 + 64 * 72) * 4);
  EXPECT_EQ(stage_bytes({}, PerturbedLinear{.input = DataType::f16}), (64 * 64 + 64 * 72) * 2);
  EXPECT_EQ(stage_bytes({.block_out = 16, .block_batch = 128, .block_in = 192}, PerturbedLinear{}),
            (128 * 192 + 16 * 200) * 4);
  EXPECT_EQ(stage_bytes(segment_config(), Gradient{}), 0);
  EXPECT_EQ(stage_bytes(metric_config(), ReduceMetric{}), 0);
}

TEST(Config, CountsTheBytesOutsideThePipeline) {
  // The perturbed tile in fp32, padded by 4 outputs, and the perturbed bias.
  EXPECT_EQ(fixed_shared_bytes({}, PerturbedLinear{}), (64 * 68 + 64) * 4);
  EXPECT_EQ(fixed_shared_bytes({}, PerturbedLinear{.bias = false}), 64 * 68 * 4);
  EXPECT_EQ(fixed_shared_bytes({}, PerturbedLinear{.input = DataType::bf16}), (64 * 68 + 64) * 4);
  // A gradient's threads have an individual each, its warps a sum an element.
  EXPECT_EQ(fixed_shared_bytes(segment_config(4), Gradient{}),
            4 * 32 * (64 + 16) + 4 * (512 * 8 + 8 + 4) + 16);
  // A reduction's individuals have a sum a thread.
  EXPECT_EQ(fixed_shared_bytes(metric_config(4, 2), ReduceMetric{}), 2 * (64 + 4 * 32 * 8) + 16);
}

TEST(Config, CountsAllBytesOfABlock) {
  EXPECT_EQ(shared_bytes({}, PerturbedLinear{}), 17664 + 2 * 34816);
  EXPECT_EQ(shared_bytes({.stages = 5}, PerturbedLinear{}), 17664 + 5 * 34816);
  EXPECT_EQ(shared_bytes(segment_config(), Gradient{}), 53360);
  EXPECT_EQ(shared_bytes(metric_config(), ReduceMetric{}), 33808);
}

TEST(Config, TakesWhatFits) {
  EXPECT_NO_THROW(validate({}, PerturbedLinear{}, kSm90));
  EXPECT_NO_THROW(validate({.blocks_per_sm = 2}, PerturbedLinear{}, kSm90));
  EXPECT_NO_THROW(validate({.stages = 1}, PerturbedLinear{}, kSm75));
  EXPECT_NO_THROW(validate({.block_out = 256, .block_batch = 4, .stages = 1, .warps = 2},
                           PerturbedLinear{}, kSm90));
  EXPECT_NO_THROW(
      validate({.block_in = 16}, PerturbedLinear{.noise = parse_noise_spec("triton")}, kSm90));
  EXPECT_NO_THROW(validate(segment_config(1), Gradient{}, kSm75));
  EXPECT_NO_THROW(validate(segment_config(8, Family::mma_sync), Gradient{}, kSm90));
  EXPECT_NO_THROW(validate(metric_config(32, 2), ReduceMetric{}, kSm75));
}

struct Refused {
  Config config;
  const char* message;
};

void expect_refusals(std::initializer_list<Refused> cases, const Problem& problem,
                     const DeviceLimits& limits) {
  for (const Refused& refused : cases) {
    EXPECT_THAT([&] { validate(refused.config, problem, limits); },
                ThrowsMessage<ConfigError>(refused.message));
  }
}

TEST(Config, RefusesTilesOutsideTheirRanges) {
  expect_refusals({{{.block_out = 48}, "block_out is 48; it is a power of two from 16 to 256"},
                   {{.block_out = 8}, "block_out is 8; it is a power of two from 16 to 256"},
                   {{.block_out = 512}, "block_out is 512; it is a power of two from 16 to 256"},
                   {{.block_out = -64}, "block_out is -64; it is a power of two from 16 to 256"},
                   {{.block_batch = 3}, "block_batch is 3; it is a power of two from 1 to 256"},
                   {{.block_batch = 0}, "block_batch is 0; it is a power of two from 1 to 256"},
                   {{.block_batch = 512}, "block_batch is 512; it is a power of two from 1 to 256"},
                   {{.block_in = 32},
                    "block_in is 32; it is a multiple of 64 (philox noise is made in blocks of "
                    "64)"},
                   {{.block_in = 0},
                    "block_in is 0; it is a multiple of 64 (philox noise is made in blocks of 64)"},
                   {{.block_in = -64},
                    "block_in is -64; it is a multiple of 64 (philox noise is made in blocks of "
                    "64)"}},
                  PerturbedLinear{}, kSm90);
  expect_refusals({{{.block_in = 24},
                    "block_in is 24; it is a multiple of 16 (rows are copied in pieces of 16 "
                    "bytes)"}},
                  PerturbedLinear{.noise = parse_noise_spec("triton")}, kSm90);
}

TEST(Config, RefusesWarpsThatDoNotShareATileEvenly) {
  expect_refusals(
      {{{.warps = 0}, "warps is 0; a block has 1 to 32"},
       {{.warps = 33}, "warps is 33; a block has 1 to 32"},
       {{.warps = 1},
        "warps is 1; a tile of 64x64 gives each thread 128 outputs, and a thread takes 4 outputs "
        "of 1 to 16 batch rows"},
       {{.block_out = 16, .warps = 16},
        "warps is 16; a tile of 16x64 gives each thread 2 outputs, and a thread takes 4 outputs of "
        "1 to 16 batch rows"},
       {{.block_batch = 32, .warps = 5},
        "warps is 5; a tile of 64x32 gives each thread 12.8 outputs, and a thread takes 4 outputs "
        "of 1 to 16 batch rows"},
       {{.block_out = 256, .block_batch = 4, .warps = 1},
        "warps is 1; a row of 256 outputs, 4 a thread, takes 2 or more"}},
      PerturbedLinear{}, kSm90);
}

TEST(Config, RefusesMoreStagesThanCopiesCanFill) {
  expect_refusals({{{.stages = 0}, "stages is 0; on sm_90 it is 1 to 4"},
                   {{.stages = 5}, "stages is 5; on sm_90 it is 1 to 4"}},
                  PerturbedLinear{}, kSm90);
  expect_refusals(
      {{{.stages = 3}, "stages is 3; on sm_75 it is 1 to 2 (copies pass through registers)"}},
      PerturbedLinear{}, kSm75);
}

TEST(Config, RefusesMoreSharedMemoryThanTheDeviceHas) {
  expect_refusals({{{.stages = 4},
                    "stages is 4: 156928 bytes of shared memory a block, and sm_86 has 101376; use "
                    "fewer stages or a smaller tile"}},
                  PerturbedLinear{}, kSm86);
  expect_refusals({{{.block_in = 1 << 30, .stages = 4},
                    "stages is 4: 2491081039872 bytes of shared memory a block, and sm_90 has "
                    "232448; use fewer stages or a smaller tile"}},
                  PerturbedLinear{.bias = false}, kSm90);
}

TEST(Config, RefusesMoreResidentBlocksThanFit) {
  expect_refusals({{{.blocks_per_sm = 3},
                    "blocks_per_sm is 3; 8 warps and 87296 bytes of shared memory a block allow 1 "
                    "to 2 on sm_90"},
                   {{.blocks_per_sm = 0},
                    "blocks_per_sm is 0; 8 warps and 87296 bytes of shared memory a block allow 1 "
                    "to 2 on sm_90"}},
                  PerturbedLinear{}, kSm90);
  Config config = metric_config(32, 2);
  config.blocks_per_sm = 2;
  expect_refusals({{config,
                    "blocks_per_sm is 2; 32 warps and 16528 bytes of shared memory a block allow 1 "
                    "to 1 on sm_75"}},
                  ReduceMetric{}, kSm75);
}

}  // namespace
}  // namespace vnjit
