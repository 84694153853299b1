#include "vnjit/codegen/access.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "vnjit/codegen/error.hpp"

namespace vnjit {
namespace {

using testing::ThrowsMessage;

/// Access number 0..7: which of rows16, noise64 and index32 are granted.
Access access_number(unsigned granted) {
  return {.vector_rows = (granted & 1) != 0,
          .aligned_noise = (granted & 2) != 0,
          .wide_index = (granted & 4) == 0};
}

std::string access_of(const PerturbedLinear& problem) {
  return to_string(contiguous_access(problem));
}

TEST(Access, IsPrintedAsWhatItGrants) {
  EXPECT_EQ(to_string(Access{}), "any");
  EXPECT_EQ(to_string(access_number(1)), "rows16");
  EXPECT_EQ(to_string(access_number(2)), "noise64");
  EXPECT_EQ(to_string(access_number(4)), "index32");
  EXPECT_EQ(to_string(access_number(7)), "rows16+noise64+index32");
}

TEST(Access, ParsesWhatItPrints) {
  for (unsigned granted = 0; granted < 8; ++granted) {
    const Access access = access_number(granted);
    EXPECT_EQ(parse_access(to_string(access)), access) << to_string(access);
  }
  EXPECT_EQ(parse_access("index32+rows16"), access_number(5));
}

TEST(Access, RefusesOtherTextNamingThePart) {
  EXPECT_THAT([] { parse_access("rows16+rows32"); },
              ThrowsMessage<InvalidArgument>(
                  "access 'rows32' is unknown; use any, or rows16, noise64 and index32 joined by "
                  "+"));
  for (const char* text : {"", "any+rows16", "rows16+", "Any", "rows16 + noise64"}) {
    EXPECT_THROW(parse_access(text), InvalidArgument) << text;
  }
}

TEST(Access, AKernelMayBeGivenBuffersThatGrantAllItTakesForGranted) {
  for (unsigned taken = 0; taken < 8; ++taken) {
    for (unsigned granted = 0; granted < 8; ++granted) {
      EXPECT_EQ(access_number(taken).allows(access_number(granted)), (taken & ~granted) == 0)
          << to_string(access_number(taken)) << " given " << to_string(access_number(granted));
    }
  }
}

TEST(Access, FollowsTheLengthOfARow) {
  EXPECT_EQ(access_of({.in = 1024}), "rows16+noise64+index32");
  EXPECT_EQ(access_of({.in = 784}), "rows16+index32");
  EXPECT_EQ(access_of({.in = 96}), "rows16+index32");
  EXPECT_EQ(access_of({.in = 33}), "index32");
  EXPECT_EQ(access_of({.in = 0}), "rows16+noise64+index32");
}

TEST(Access, CountsBytesForRowsAndElementsForNoise) {
  EXPECT_EQ(access_of({.in = 4}), "rows16+index32");
  EXPECT_EQ(access_of({.input = DataType::f16, .in = 4}), "index32");
  EXPECT_EQ(access_of({.input = DataType::bf16, .in = 784}), "rows16+index32");
  EXPECT_EQ(access_of({.input = DataType::bf16, .in = 64}), "rows16+noise64+index32");
}

TEST(Access, OnlyPhiloxNoiseComesInBlocks) {
  EXPECT_EQ(access_of({.noise = parse_noise_spec("triton"), .in = 1024}), "rows16+index32");
  EXPECT_EQ(access_of({.noise = parse_noise_spec("splitmix64"), .in = 1024}), "rows16+index32");
  EXPECT_EQ(access_of({.noise = parse_noise_spec("philox:rademacher"), .in = 1024}),
            "rows16+noise64+index32");
}

TEST(Access, AnyOfXWAndYMakesTheIndexWide) {
  EXPECT_EQ(access_of({.pop = 100'000, .batch = 1000, .out = 1024}), "rows16+noise64");
  EXPECT_EQ(access_of({.pop = 1, .batch = 1, .in = 65536, .out = 65536}), "rows16+noise64");
  EXPECT_EQ(access_of({.pop = 1, .batch = 1 << 20, .in = 4096, .out = 1}), "rows16+noise64");
  const PerturbedLinear shared{.pop = 4096, .batch = 1024, .in = 1024, .out = 1};
  EXPECT_EQ(access_of(shared), "rows16+noise64+index32");
  PerturbedLinear individual = shared;
  individual.layout = InputLayout::individual;
  EXPECT_EQ(access_of(individual), "rows16+noise64");
}

TEST(Access, TheIndexTurnsWideAtItsLimit) {
  EXPECT_EQ(kMaxNarrowIndex, std::int64_t{65536} * 32767);
  EXPECT_FALSE(contiguous_access(PerturbedLinear{.in = 65536, .out = 32767}).wide_index);
  EXPECT_TRUE(contiguous_access(PerturbedLinear{.in = 65536, .out = 32768}).wide_index);
}

TEST(Access, SizesWhoseProductOverflowsAreWide) {
  constexpr std::int64_t kHuge = std::int64_t{1} << 62;
  EXPECT_TRUE(contiguous_access(PerturbedLinear{.pop = kHuge, .batch = 4, .out = 1}).wide_index);
  EXPECT_TRUE(contiguous_access(PerturbedLinear{.in = kHuge, .out = kHuge}).wide_index);
}

TEST(Access, OfTheOtherOperationsIsAny) {
  EXPECT_EQ(to_string(contiguous_access(Gradient{})), "any");
  EXPECT_EQ(to_string(contiguous_access(ReduceMetric{})), "any");
}

}  // namespace
}  // namespace vnjit
