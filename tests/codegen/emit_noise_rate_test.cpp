#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "examples.hpp"
#include "vnjit/codegen/emit.hpp"
#include "vnjit/codegen/error.hpp"

namespace vnjit {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;
using testing::StartsWith;
using testing::ThrowsMessage;

const DeviceLimits kSm90 = DeviceLimits::preset("sm_90");

KernelSource emitted(const char* noise, const DeviceLimits& limits = kSm90) {
  return emit_noise_rate(parse_noise_spec(noise), limits);
}

TEST(EmitNoiseRate, SaysHowToCompileAndLaunch) {
  const KernelSource source = emitted("philox:uniform8:10", DeviceLimits::preset("sm_86"));
  EXPECT_EQ(source.entry, "vnjit_noise_rate_philox_uniform8_10");
  EXPECT_EQ(source.arch, "sm_86");
  EXPECT_THAT(source.options, ElementsAre("--gpu-architecture=sm_86", "--std=c++17"));
  EXPECT_EQ(source.threads, 256);
  EXPECT_EQ(source.shared_bytes, 0);
  EXPECT_THAT(source.text, HasSubstr("__launch_bounds__(256, 4)\n"
                                     "vnjit_noise_rate_philox_uniform8_10(const "
                                     "vnjit::NoiseRateParams params) {\n"));
  EXPECT_EQ(emitted("triton").entry, "vnjit_noise_rate_triton");
}

TEST(EmitNoiseRate, OpensWithWhatTheKernelIs) {
  EXPECT_THAT(emitted("philox:rademacher").text,
              HasSubstr(": noise alone, the words of 8 calls a thread and seed\n"
                        "// noise:  philox:rademacher:7, contract version 1\n"));
  EXPECT_THAT(emitted("triton").text, HasSubstr(": noise alone, 16 floats a thread and seed\n"
                                                "// noise:  triton, contract version 1\n"));
}

TEST(EmitNoiseRate, YieldsOneSelfContainedFileAndTheSameBytesAgain) {
  for (const DeviceLimits& limits : tests::every_preset()) {
    for (const NoiseSpec& noise : tests::every_noise()) {
      const KernelSource source = emit_noise_rate(noise, limits);
      SCOPED_TRACE(source.entry);
      EXPECT_EQ(source.text, emit_noise_rate(noise, limits).text);
      EXPECT_THAT(source.text, StartsWith("// vnjit "));
      EXPECT_THAT(source.text, Not(HasSubstr("#include")));
      EXPECT_THAT(source.text, Not(HasSubstr("//@")));
      EXPECT_THAT(source.text, Not(HasSubstr("\n\n\n")));
      EXPECT_THAT(source.text, HasSubstr("\n" + source.entry + "(const "));
    }
  }
}

TEST(EmitNoiseRate, TakesWordsOfWholeCallsWhereTheyHoldTheValues) {
  for (const char* noise : {"philox:uniform", "philox:uniform8", "philox:rademacher"}) {
    const std::string text = emitted(noise).text;
    EXPECT_THAT(text, HasSubstr("kCalls = 8;"));
    EXPECT_THAT(text, Not(HasSubstr("LaneNoise")));
  }
  for (const char* noise : {"triton", "splitmix64", "philox:normal"}) {
    const std::string text = emitted(noise).text;
    EXPECT_THAT(text, HasSubstr("LaneNoise::make(keys, place, values);"));
    EXPECT_THAT(text, Not(HasSubstr("kCalls")));
  }
}

TEST(EmitNoiseRate, CountsTheValuesOfAThread) {
  const auto values = [](const char* noise) { return noise_rate_values(parse_noise_spec(noise)); };
  EXPECT_EQ(values("philox:uniform"), 8 * 4);
  EXPECT_EQ(values("philox:uniform8"), 8 * 16);
  EXPECT_EQ(values("philox:rademacher"), 8 * 128);
  EXPECT_EQ(values("philox:normal"), 16);
  EXPECT_EQ(values("triton"), 16);
  EXPECT_EQ(values("splitmix64"), 16);
}

TEST(EmitNoiseRate, OfAntitheticNoiseIsNoOther) {
  EXPECT_EQ(emit_noise_rate({.antithetic = true}, kSm90).text,
            emit_noise_rate({.antithetic = false}, kSm90).text);
}

TEST(EmitNoiseRate, RefusesNoiseThatIsNone) {
  EXPECT_THAT([] { emit_noise_rate({.rounds = 9}, kSm90); },
              ThrowsMessage<InvalidArgument>(StartsWith("noise rounds 9 are not offered")));
}

}  // namespace
}  // namespace vnjit
