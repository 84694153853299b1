#include "vnjit/codegen/noise_spec.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "noise/noise.cuh"
#include "vnjit/codegen/error.hpp"

namespace vnjit {
namespace {

using testing::ThrowsMessage;

constexpr NoiseSpec kTriton{Generator::triton, Distribution::uniform, 10};
constexpr NoiseSpec kSplitMix64{Generator::splitmix64, Distribution::uniform, 0};

TEST(NoiseSpec, IsPhiloxUniform8OfSevenRoundsByDefault) {
  EXPECT_EQ(to_string(NoiseSpec{}), "philox:uniform8:7");
  EXPECT_FALSE(NoiseSpec{}.antithetic);
}

TEST(NoiseSpec, ParsesWhatItPrints) {
  for (const char* text : {"triton", "splitmix64", "philox:uniform:7", "philox:uniform:10",
                           "philox:uniform8:7", "philox:uniform8:10", "philox:rademacher:7",
                           "philox:rademacher:10", "philox:normal:7", "philox:normal:10"}) {
    EXPECT_EQ(to_string(parse_noise_spec(text)), text);
  }
}

TEST(NoiseSpec, TakesMissingPartsFromTheGenerator) {
  EXPECT_EQ(parse_noise_spec("philox"), NoiseSpec{});
  EXPECT_EQ(parse_noise_spec("philox:uniform8"), NoiseSpec{});
  EXPECT_EQ(parse_noise_spec("philox:rademacher"),
            (NoiseSpec{Generator::philox, Distribution::rademacher, 7}));
  EXPECT_EQ(parse_noise_spec("philox:normal"),
            (NoiseSpec{Generator::philox, Distribution::normal, 7}));
  EXPECT_EQ(parse_noise_spec("triton"), kTriton);
  EXPECT_EQ(parse_noise_spec("triton:uniform"), kTriton);
  EXPECT_EQ(parse_noise_spec("triton:uniform:10"), kTriton);
  EXPECT_EQ(parse_noise_spec("splitmix64"), kSplitMix64);
  EXPECT_EQ(parse_noise_spec("splitmix64:uniform:0"), kSplitMix64);
}

TEST(NoiseSpec, ItsTextDoesNotHoldAntithetic) {
  NoiseSpec noise;
  noise.antithetic = true;
  EXPECT_EQ(to_string(noise), "philox:uniform8:7");
}

struct Refused {
  const char* text;
  const char* message;
};

TEST(NoiseSpec, RefusesWhatDoesNotParseSayingWhatIsAllowed) {
  const Refused cases[] = {
      {"xorshift", "noise generator 'xorshift' is unknown; use triton, splitmix64 or philox"},
      {"", "noise generator '' is unknown; use triton, splitmix64 or philox"},
      {"Philox", "noise generator 'Philox' is unknown; use triton, splitmix64 or philox"},
      {"philox:gauss",
       "noise distribution 'gauss' is unknown; use uniform, uniform8, rademacher or normal"},
      {"philox:", "noise distribution '' is unknown; use uniform, uniform8, rademacher or normal"},
      {"philox:uniform8:seven", "noise rounds 'seven' are not a whole number"},
      {"philox:uniform8:", "noise rounds '' are not a whole number"},
      {"philox:uniform8:7.0", "noise rounds '7.0' are not a whole number"},
      {"philox:uniform8:99999999999", "noise rounds '99999999999' are not a whole number"},
      {"philox:uniform8:7:1",
       "noise 'philox:uniform8:7:1' has more than three parts; use "
       "GENERATOR[:DISTRIBUTION[:ROUNDS]]"},
      {"philox:uniform8:8", "noise rounds 8 are not offered for philox; use 7 or 10"},
      {"philox:uniform8:-7", "noise rounds -7 are not offered for philox; use 7 or 10"},
      {"triton:uniform8",
       "noise distribution uniform8 is not defined for triton; it has uniform only"},
      {"triton:uniform:7", "noise rounds 7 are not defined for triton; it has 10"},
      {"splitmix64:rademacher",
       "noise distribution rademacher is not defined for splitmix64; it has uniform only"},
      {"triton:normal", "noise distribution normal is not defined for triton; it has uniform only"},
      {"splitmix64:normal",
       "noise distribution normal is not defined for splitmix64; it has uniform only"},
      {"philox:normal:8", "noise rounds 8 are not offered for philox; use 7 or 10"},
      {"splitmix64:uniform:10", "noise rounds 10 are not defined for splitmix64; it has 0"},
  };
  for (const Refused& refused : cases) {
    EXPECT_THAT([&] { parse_noise_spec(refused.text); },
                ThrowsMessage<InvalidArgument>(refused.message));
  }
}

TEST(NoiseSpec, ValidatesFieldsSetByHand) {
  EXPECT_THAT(
      [] {
        (NoiseSpec{Generator::philox, Distribution::uniform, 9}.validate());
      },
      ThrowsMessage<InvalidArgument>("noise rounds 9 are not offered for philox; use 7 or 10"));
  EXPECT_THAT([] { NoiseSpec{Generator::triton}.validate(); },
              ThrowsMessage<InvalidArgument>(
                  "noise distribution uniform8 is not defined for triton; it has uniform only"));
  EXPECT_NO_THROW(NoiseSpec{}.validate());
  EXPECT_NO_THROW(kTriton.validate());
  EXPECT_NO_THROW(kSplitMix64.validate());
}

TEST(NoiseSpec, VarianceOfUniform8IsThatOfItsBytes) {
  double squares = 0.0;  // exact: sums of multiples of 2^-18 below 2^6
  for (noise::u32 byte = 0; byte < 256; ++byte) {
    const double value = noise::PhiloxUniform8<7>::from_byte(byte);
    squares += value * value;
  }
  EXPECT_EQ(NoiseSpec{}.variance(), squares / 256);
}

TEST(NoiseSpec, VarianceOfUniformIsThatOfItsWords) {
  // The mean square of (2n + 1 - 2^23)·2^-24 over n in [0, 2^23) is (m^2 - 1)/(3·2^48), m = 2^23.
  const double points = 0x1p23;
  const double expected = (points * points - 1) / 3 * 0x1p-48;
  EXPECT_DOUBLE_EQ((NoiseSpec{Generator::philox, Distribution::uniform, 7}.variance()), expected);
  EXPECT_LT((NoiseSpec{Generator::philox, Distribution::uniform, 7}.variance()), 1.0 / 12);
}

TEST(NoiseSpec, VarianceOfTheOthers) {
  EXPECT_EQ((NoiseSpec{Generator::philox, Distribution::rademacher, 10}.variance()), 1.0);
  EXPECT_EQ((NoiseSpec{Generator::philox, Distribution::normal, 7}.variance()), 1.0);
  EXPECT_EQ((NoiseSpec{Generator::philox, Distribution::normal, 10}.variance()), 1.0);
  EXPECT_EQ(kTriton.variance(), 1.0 / 12);
  EXPECT_EQ(kSplitMix64.variance(), 1.0 / 12);
}

TEST(NoiseSpec, VarianceDoesNotDependOnRounds) {
  EXPECT_EQ((NoiseSpec{Generator::philox, Distribution::uniform8, 10}.variance()),
            NoiseSpec{}.variance());
}

TEST(NoiseSpec, TheContractHasVersionOne) { EXPECT_EQ(noise_contract_version(), 1); }

}  // namespace
}  // namespace vnjit
