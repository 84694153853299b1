#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "examples.hpp"
#include "vnjit/codegen/config.hpp"
#include "vnjit/codegen/error.hpp"

namespace vnjit {
namespace {

using testing::ThrowsMessage;

const DeviceLimits kSm75 = DeviceLimits::preset("sm_75");
const DeviceLimits kSm80 = DeviceLimits::preset("sm_80");
const DeviceLimits kSm86 = DeviceLimits::preset("sm_86");
const DeviceLimits kSm90 = DeviceLimits::preset("sm_90");

constexpr PerturbedLinear kF16{.input = DataType::f16};
constexpr PerturbedLinear kTf32{.precision = Precision::tf32};
constexpr PerturbedLinear kOwnX{.input = DataType::f16, .layout = InputLayout::individual};

Config mma_sync(int block_batch = 64) {
  return {.family = Family::mma_sync, .block_batch = block_batch, .warps = 4};
}

Config wgmma(int block_batch = 64) {
  return {.family = Family::wgmma, .block_batch = block_batch, .warps = 4};
}

PerturbedLinear with_in(PerturbedLinear problem, std::int64_t in) {
  problem.in = in;
  return problem;
}

PerturbedLinear with_noise(PerturbedLinear problem, const char* noise) {
  problem.noise = parse_noise_spec(noise);
  return problem;
}

TEST(TensorConfig, IsPrintedShort) {
  Config config{.family = Family::wgmma,
                .block_out = 256,
                .block_batch = 128,
                .block_in = 64,
                .stages = 5,
                .warps = 16};
  EXPECT_EQ(to_string(config), "wgmma_o256b128k64_s5_w16_r1");
  config.fused = true;
  EXPECT_EQ(to_string(config), "wgmma_fused_o256b128k64_s5_w16_r1");
  Config side_by_side = mma_sync(8);
  side_by_side.individuals = 8;
  side_by_side.blocks_per_sm = 2;
  EXPECT_EQ(to_string(side_by_side), "mma_sync_o64b8k64_s2_w4_r2_i8");
}

TEST(TensorConfig, ParsesWhatItPrints) {
  for (const Family family : {Family::simt, Family::mma_sync, Family::wgmma}) {
    for (const bool fused : {false, true}) {
      for (const int individuals : {1, 2, 8, 17}) {
        const Config config{.family = family,
                            .fused = fused,
                            .block_out = 128,
                            .block_batch = 32,
                            .block_in = 256,
                            .stages = 6,
                            .warps = 9,
                            .blocks_per_sm = 3,
                            .individuals = individuals};
        EXPECT_EQ(parse_config(to_string(config)), config) << to_string(config);
      }
    }
  }
}

TEST(TensorConfig, OneIndividualMayBeWritten) {
  EXPECT_EQ(parse_config("mma_sync_o64b8k64_s2_w4_r2_i1"),
            parse_config("mma_sync_o64b8k64_s2_w4_r2"));
}

TEST(TensorConfig, FamiliesAreNamed) {
  for (const Family family : {Family::simt, Family::mma_sync, Family::wgmma}) {
    EXPECT_EQ(parse_family(to_string(family)), family);
  }
  for (const std::string name : {"", "mma", "WGMMA", "wgmma_"}) {
    EXPECT_THAT([&] { parse_family(name); },
                ThrowsMessage<ConfigError>("family '" + name +
                                           "' is unknown; use simt, mma_sync or wgmma"));
  }
}

TEST(TensorConfig, CountsTheBytesOfAPipelineStage) {
  // X alone where the base product is made before; 2 bytes an operand, or 4 of tf32.
  EXPECT_EQ(stage_bytes(mma_sync(), kF16), 64 * 64 * 2);
  EXPECT_EQ(stage_bytes(mma_sync(), kTf32), 64 * 64 * 4);
  // Precision, not the input, says what lies in a stage.
  EXPECT_EQ(stage_bytes(wgmma(), PerturbedLinear{.precision = Precision::bf16}), 64 * 64 * 2);
  // W beside it where each individual has its own X, and where the sum is rounded.
  EXPECT_EQ(stage_bytes(mma_sync(8), kOwnX), (8 + 64) * 64 * 2);
  Config config = mma_sync(8);
  config.individuals = 4;
  EXPECT_EQ(stage_bytes(config, kOwnX), (4 * 8 + 64) * 64 * 2);
  config = wgmma(8);
  config.fused = true;
  EXPECT_EQ(stage_bytes(config, kF16), (8 + 64) * 64 * 2);
}

TEST(TensorConfig, CountsTheBytesOutsideThePipelineInWholeKibibytes) {
  // 16 rows of 68 floats, 64 floats of bias, round keys of 64 bytes a warp, 128 of barriers: 4992.
  EXPECT_EQ(fixed_shared_bytes(mma_sync(), kF16), 5 * 1024);
  // 8 rows; no bias: 2560.
  EXPECT_EQ(fixed_shared_bytes(mma_sync(8), PerturbedLinear{.input = DataType::f16, .bias = false}),
            3 * 1024);
  // A group of four warps each for 256 outputs, each with rows of its own: 19584.
  Config config = wgmma(128);
  config.block_out = 256;
  config.warps = 16;
  EXPECT_EQ(fixed_shared_bytes(config, kF16), 20 * 1024);
  // 80 bytes of round keys for each of 8 individuals: 2176 + 256 + 2560 + 128 = 5120.
  config = mma_sync(8);
  config.individuals = 8;
  EXPECT_EQ(fixed_shared_bytes(config, with_noise(kOwnX, "philox:uniform8:10")), 5 * 1024);
  // Seeds of 8 bytes: 2176 + 256 + 256 + 128.
  EXPECT_EQ(fixed_shared_bytes(config, with_noise(kOwnX, "triton")), 3 * 1024);
  EXPECT_EQ(shared_bytes(config, kOwnX),
            fixed_shared_bytes(config, kOwnX) + 2 * stage_bytes(config, kOwnX));
}

TEST(TensorConfig, TakesWhatFits) {
  EXPECT_NO_THROW(validate(mma_sync(), kF16, kSm80));
  EXPECT_NO_THROW(validate(mma_sync(8), kOwnX, kSm86));
  EXPECT_NO_THROW(validate(wgmma(), kF16, kSm90));
  EXPECT_NO_THROW(validate(wgmma(256), PerturbedLinear{.precision = Precision::bf16}, kSm90));
  Config config = mma_sync(8);
  config.stages = 1;
  config.individuals = 8;
  EXPECT_NO_THROW(validate(config, kOwnX, kSm80));
  config = wgmma(16);
  config.block_in = 4 * 32;
  config.stages = 6;
  EXPECT_NO_THROW(validate(config, kTf32, kSm90));
  config.block_out = 192;
  config.warps = 12;
  EXPECT_NO_THROW(validate(config, kTf32, kSm90));
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

TEST(TensorConfig, RefusesExactProducts) {
  expect_refusal(mma_sync(), PerturbedLinear{}, kSm90,
                 "family is mma_sync; tensor cores round operands, and the problem's precision is "
                 "f32: ask for tf32, f16 or bf16, or use simt");
  expect_refusal(wgmma(), PerturbedLinear{.input = DataType::bf16, .precision = Precision::f32},
                 kSm90,
                 "family is wgmma; tensor cores round operands, and the problem's precision is "
                 "f32: ask for input, or use simt");
}

TEST(TensorConfig, RefusesDevicesWithoutTheInstruction) {
  for (const DeviceLimits& limits : tests::every_preset()) {
    if (limits.name == "sm_90") continue;
    expect_refusal(wgmma(), kF16, limits,
                   "family is wgmma; " + limits.name + " has no wgmma, only sm_90 has");
  }
  expect_refusal(mma_sync(), kF16, kSm75,
                 "family is mma_sync; it needs sm_80 or later, and this is sm_75");
}

TEST(TensorConfig, RefusesTilesThatTheInstructionsDoNotMake) {
  for (const int value : {0, 16, 32, 96, 320}) {
    expect_refusal(changed(mma_sync(), &Config::block_out, value), kF16, kSm90,
                   "block_out is " + std::to_string(value) + "; it is a multiple of 64 up to 256");
  }
  for (const int value : {2, 8}) {
    expect_refusal(changed(wgmma(), &Config::warps, value), kF16, kSm90,
                   "warps is " + std::to_string(value) + "; 64 outputs, 16 a warp, take 4");
  }
  expect_refusal(changed(wgmma(), &Config::block_out, 256), kF16, kSm90,
                 "warps is 4; 256 outputs, 16 a warp, take 16");
  for (const int value : {0, 1, 4, 24, 512}) {
    expect_refusal(
        changed(wgmma(), &Config::block_batch, value), kF16, kSm90,
        "block_batch is " + std::to_string(value) + "; it is a power of two from 8 to 256");
  }
  for (const int value : {0, 32, 96, 320}) {
    expect_refusal(changed(mma_sync(), &Config::block_in, value), kF16, kSm90,
                   "block_in is " + std::to_string(value) +
                       "; it is a multiple of 64 up to 256 (rows of 128 bytes)");
  }
  for (const int value : {-32, 16, 160}) {
    expect_refusal(changed(mma_sync(), &Config::block_in, value), kTf32, kSm90,
                   "block_in is " + std::to_string(value) +
                       "; it is a multiple of 32 up to 128 (rows of 128 bytes)");
  }
}

TEST(TensorConfig, RefusesDepthsOutsideTheFamilysRange) {
  for (const int value : {0, 7}) {
    expect_refusal(changed(mma_sync(8), &Config::stages, value), kF16, kSm90,
                   "stages is " + std::to_string(value) + "; of mma_sync it is 1 to 6");
  }
  for (const int value : {1, 7}) {
    expect_refusal(changed(wgmma(8), &Config::stages, value), kF16, kSm90,
                   "stages is " + std::to_string(value) + "; of wgmma it is 2 to 6");
  }
}

TEST(TensorConfig, RefusesIndividualsSideBySideOfASharedX) {
  for (const int value : {0, 2}) {
    expect_refusal(changed(mma_sync(8), &Config::individuals, value), kF16, kSm90,
                   "individuals is " + std::to_string(value) +
                       "; it is 1 to 8 where each has its own X, else 1");
  }
  expect_refusal(changed(mma_sync(8), &Config::individuals, 9), kOwnX, kSm90,
                 "individuals is 9; it is 1 to 8 where each has its own X, else 1");
}

TEST(TensorConfig, RefusesOfSimtWhatOnlyTensorFamiliesHave) {
  expect_refusal({.fused = true}, PerturbedLinear{}, kSm90,
                 "fused and individuals are true and 1; simt has neither");
  expect_refusal({.individuals = 2}, PerturbedLinear{}, kSm90,
                 "fused and individuals are false and 2; simt has neither");
}

TEST(TensorConfig, RefusesMoreSharedMemoryThanTheDeviceHas) {
  expect_refusal(changed(mma_sync(256), &Config::stages, 3), kOwnX, kSm86,
                 "stages is 3: 128000 bytes of shared memory a block, and sm_86 has 101376; use "
                 "fewer stages or a smaller tile");
  expect_refusal(changed(mma_sync(64), &Config::blocks_per_sm, 13), kF16, kSm90,
                 "blocks_per_sm is 13; 4 warps and 21504 bytes of shared memory a block allow 1 "
                 "to 10 on sm_90");
}

TEST(TensorConfig, RefusesSizesWhoseContiguousBuffersMissAccess) {
  expect_refusal(mma_sync(), with_in(kF16, 33), kSm90,
                 "family is mma_sync; rows of X and W have to start and end on 16-byte boundaries "
                 "(in is 33; multiples of 8 do)");
  expect_refusal(mma_sync(), with_in(kF16, 1000), kSm90,
                 "family is mma_sync; noise rows have to start at multiples of 16 elements (in is "
                 "1000: plan for in = 1008 and run with noise_row_stride = 1008)");
  EXPECT_NO_THROW(validate(mma_sync(), with_in(with_noise(kF16, "triton"), 1000), kSm90));
}

TEST(TensorConfig, RefusesSizesThatItDoesNotCount) {
  PerturbedLinear problem = with_in(kF16, 5'000'000'000);
  expect_refusal(mma_sync(), problem, kSm90,
                 "family is mma_sync; it counts rows and columns in 32 bits, and in is 5000000000");
  problem.bake_shape = true;
  EXPECT_EQ(choose_config(problem, kSm90).family, Family::simt);
}

}  // namespace
}  // namespace vnjit
