#include "vnjit/codegen/access.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <utility>

#include "examples.hpp"
#include "vnjit/codegen/error.hpp"

namespace vnjit {
namespace {

using testing::ThrowsMessage;

/// Access number 0..23: which of rows16, index32 and counter32 are granted, and how aligned noise
/// rows are.
constexpr unsigned kAccesses = 24;
constexpr int kAlignments[] = {1, 16, 64};

Access access_number(unsigned number) {
  return {.vector_rows = (number & 1) != 0,
          .noise_alignment = kAlignments[number / 8],
          .wide_index = (number & 2) == 0,
          .wide_counter = (number & 4) == 0};
}

std::string access_of(const PerturbedLinear& problem) {
  return to_string(contiguous_access(problem));
}

TEST(Access, IsPrintedAsWhatItGrants) {
  EXPECT_EQ(to_string(Access{}), "any");
  EXPECT_EQ(to_string({.vector_rows = true}), "rows16");
  EXPECT_EQ(to_string({.noise_alignment = 16}), "noise16");
  EXPECT_EQ(to_string({.noise_alignment = 64}), "noise64");
  EXPECT_EQ(to_string({.wide_index = false}), "index32");
  EXPECT_EQ(to_string({.wide_counter = false}), "counter32");
  EXPECT_EQ(to_string({.vector_rows = true, .wide_index = false, .wide_counter = false}),
            "rows16+index32+counter32");
  EXPECT_EQ(to_string({.vector_rows = true, .noise_alignment = 64, .wide_index = false}),
            "rows16+noise64+index32");
  EXPECT_EQ(to_string({.vector_rows = true, .noise_alignment = 16}), "rows16+noise16");
}

TEST(Access, ParsesWhatItPrints) {
  for (unsigned number = 0; number < kAccesses; ++number) {
    const Access access = access_number(number);
    EXPECT_EQ(parse_access(to_string(access)), access) << to_string(access);
  }
  EXPECT_EQ(parse_access("index32+rows16"),
            (Access{.vector_rows = true, .noise_alignment = 1, .wide_index = false}));
}

TEST(Access, GrantsTheWiderOfTwoAlignments) {
  EXPECT_EQ(parse_access("noise16+noise64"), Access{.noise_alignment = 64});
  EXPECT_EQ(parse_access("noise64+noise16"), Access{.noise_alignment = 64});
}

TEST(Access, RefusesOtherTextNamingThePart) {
  EXPECT_THAT([] { parse_access("rows16+rows32"); },
              ThrowsMessage<InvalidArgument>(
                  "access 'rows32' is unknown; use any, or rows16, noise16 or noise64, index32 and "
                  "counter32 joined by +"));
  for (const char* text :
       {"", "any+rows16", "rows16+", "Any", "rows16 + noise64", "noise1", "noise32", "noise"}) {
    EXPECT_THROW(parse_access(text), InvalidArgument) << text;
  }
}

TEST(Access, AKernelMayBeGivenBuffersThatGrantAllItTakesForGranted) {
  for (unsigned taken = 0; taken < kAccesses; ++taken) {
    for (unsigned granted = 0; granted < kAccesses; ++granted) {
      const bool allowed = (taken & 7 & ~granted) == 0 && taken / 8 <= granted / 8;
      EXPECT_EQ(access_number(taken).allows(access_number(granted)), allowed)
          << to_string(access_number(taken)) << " given " << to_string(access_number(granted));
    }
  }
}

TEST(Access, AlignmentIsTheLargestThatDivides) {
  for (const std::int64_t elements : {0, 64, 128, 1024}) {
    EXPECT_EQ(noise_alignment_of(elements), 64) << elements;
  }
  for (const std::int64_t elements : {16, 32, 48, 96, 784}) {
    EXPECT_EQ(noise_alignment_of(elements), 16) << elements;
  }
  for (const std::int64_t elements : {1, 8, 15, 33, 63, 785}) {
    EXPECT_EQ(noise_alignment_of(elements), 1) << elements;
  }
}

TEST(Access, FollowsTheLengthOfARow) {
  EXPECT_EQ(access_of({.in = 1024}), "rows16+noise64+index32+counter32");
  EXPECT_EQ(access_of({.in = 784}), "rows16+noise16+index32+counter32");
  EXPECT_EQ(access_of({.in = 96}), "rows16+noise16+index32+counter32");
  EXPECT_EQ(access_of({.in = 40}), "rows16+index32+counter32");
  EXPECT_EQ(access_of({.in = 33}), "index32+counter32");
  EXPECT_EQ(access_of({.in = 0}), "rows16+noise64+index32+counter32");
}

TEST(Access, CountsBytesForRowsAndElementsForNoise) {
  EXPECT_EQ(access_of({.in = 4}), "rows16+index32+counter32");
  EXPECT_EQ(access_of({.input = DataType::f16, .in = 4}), "index32+counter32");
  EXPECT_EQ(access_of({.input = DataType::bf16, .in = 784}), "rows16+noise16+index32+counter32");
  EXPECT_EQ(access_of({.input = DataType::bf16, .in = 64}), "rows16+noise64+index32+counter32");
}

TEST(Access, OnlyPhiloxNoiseComesInBlocks) {
  EXPECT_EQ(access_of({.noise = parse_noise_spec("triton"), .in = 1024}),
            "rows16+index32+counter32");
  EXPECT_EQ(access_of({.noise = parse_noise_spec("splitmix64"), .in = 1024}),
            "rows16+index32+counter32");
  EXPECT_EQ(access_of({.noise = parse_noise_spec("triton"), .in = 784}),
            "rows16+index32+counter32");
  EXPECT_EQ(access_of({.noise = parse_noise_spec("philox:rademacher"), .in = 1024}),
            "rows16+noise64+index32+counter32");
  EXPECT_EQ(access_of({.noise = parse_noise_spec("philox:normal"), .in = 1024}),
            "rows16+noise64+index32+counter32");
}

TEST(Access, AnyOfXWAndYMakesTheIndexWide) {
  EXPECT_EQ(access_of({.pop = 100'000, .batch = 1000, .out = 1024}), "rows16+noise64+counter32");
  EXPECT_EQ(access_of({.pop = 1, .batch = 1, .in = 65536, .out = 65536}),
            "rows16+noise64+counter32");
  EXPECT_EQ(access_of({.pop = 1, .batch = 1 << 20, .in = 4096, .out = 1}),
            "rows16+noise64+counter32");
  const PerturbedLinear shared{.pop = 4096, .batch = 1024, .in = 1024, .out = 1};
  EXPECT_EQ(access_of(shared), "rows16+noise64+index32+counter32");
  PerturbedLinear individual = shared;
  individual.layout = InputLayout::individual;
  EXPECT_EQ(access_of(individual), "rows16+noise64+counter32");
}

TEST(Access, TheIndexTurnsWideAtItsLimit) {
  EXPECT_EQ(kMaxNarrowIndex, std::int64_t{65536} * 32767);
  EXPECT_FALSE(contiguous_access(PerturbedLinear{.in = 65536, .out = 32767}).wide_index);
  EXPECT_TRUE(contiguous_access(PerturbedLinear{.in = 65536, .out = 32768}).wide_index);
}

// Of the last tile 255 rows may hang over the end of W, and of a row 64 elements.
TEST(Access, TheCounterTurnsWideWhereTheGeneratorsCountersDo) {
  EXPECT_EQ(noise_end(100, 10, 1000, 900), 100 + 265 * 1000 + 964);
  const auto wide = [](const char* noise, std::int64_t elements) {
    // (out + 255)·in + in + 64 elements, with in = 64
    const PerturbedLinear problem{
        .noise = parse_noise_spec(noise), .in = 64, .out = elements / 64 - 257};
    return contiguous_access(problem).wide_counter;
  };
  constexpr std::int64_t kCounters = std::int64_t{1} << 32;
  for (const auto& [noise, elements] :
       {std::pair{"triton", kCounters}, std::pair{"splitmix64", kCounters},
        std::pair{"philox:uniform", 4 * kCounters}, std::pair{"philox:uniform8", 16 * kCounters},
        std::pair{"philox:rademacher", 16 * kCounters},
        std::pair{"philox:normal", 4 * kCounters}}) {
    EXPECT_EQ(narrow_noise_elements(parse_noise_spec(noise)), elements);
    EXPECT_FALSE(wide(noise, elements)) << noise;
    EXPECT_TRUE(wide(noise, elements + 64)) << noise;
  }
}

// A tensor kernel counts calls of the generator, elements, or sixteens of them, in one type.
TEST(Access, NarrowElementsAreNoMoreThanEveryWayOfCountingThemAllows) {
  for (const NoiseSpec& noise : tests::every_noise()) {
    const std::int64_t each = noise.generator == Generator::philox ? 16 : 1;
    EXPECT_LE(narrow_noise_elements(noise), each << 32) << to_string(noise);
  }
}

TEST(Access, SizesWhoseProductOverflowsAreWide) {
  constexpr std::int64_t kHuge = std::int64_t{1} << 62;
  EXPECT_TRUE(contiguous_access(PerturbedLinear{.in = kHuge, .out = kHuge}).wide_counter);
  EXPECT_TRUE(contiguous_access(PerturbedLinear{.pop = kHuge, .batch = 4, .out = 1}).wide_index);
  EXPECT_TRUE(contiguous_access(PerturbedLinear{.in = kHuge, .out = kHuge}).wide_index);
}

TEST(Access, OfTheOtherOperationsIsAny) {
  EXPECT_EQ(to_string(contiguous_access(Gradient{})), "any");
  EXPECT_EQ(to_string(contiguous_access(ReduceMetric{})), "any");
}

}  // namespace
}  // namespace vnjit
