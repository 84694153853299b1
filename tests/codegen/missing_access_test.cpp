#include <gtest/gtest.h>

#include "vnjit/codegen/config.hpp"
#include "vnjit/codegen/tensor_config.hpp"

namespace vnjit {
namespace {

constexpr PerturbedLinear kF16{.input = DataType::f16};
constexpr PerturbedLinear kTf32{.precision = Precision::tf32};
constexpr PerturbedLinear kOwnX{.input = DataType::f16, .layout = InputLayout::individual};

constexpr Config kMmaSync{.family = Family::mma_sync, .warps = 4};
constexpr Config kWgmma{.family = Family::wgmma, .warps = 4};

PerturbedLinear with_in(PerturbedLinear problem, std::int64_t in) {
  problem.in = in;
  return problem;
}

PerturbedLinear with_noise(PerturbedLinear problem, const char* noise) {
  problem.noise = parse_noise_spec(noise);
  return problem;
}

TEST(MissingAccess, IsNothingForContiguousBuffersOfConvenientSizes) {
  for (const Config& config : {kMmaSync, kWgmma}) {
    for (const PerturbedLinear& problem : {kF16, kTf32, kOwnX}) {
      EXPECT_EQ(missing_access(config, problem, contiguous_access(problem)), "");
    }
  }
}

TEST(MissingAccess, IsRowsOffTheirBoundaries) {
  const char* const f16 =
      "rows of X and W have to start and end on 16-byte boundaries (in is 1000; multiples of 8 do)";
  const char* const tf32 =
      "rows of X and W have to start and end on 16-byte boundaries (in is 1000; multiples of 4 do)";
  for (const Config& config : {kMmaSync, kWgmma}) {
    EXPECT_EQ(missing_access(config, with_in(kF16, 1000), {.noise_alignment = 64}), f16);
    EXPECT_EQ(missing_access(config, with_in(kTf32, 1000), {.noise_alignment = 64}), tf32);
    // Rows that are rounded first may lie anywhere.
    const PerturbedLinear converted{.precision = Precision::f16, .in = 1000};
    EXPECT_EQ(missing_access(config, converted, {.noise_alignment = 64}), "");
  }
}

TEST(MissingAccess, IsNoiseRowsOffTheGridOf16) {
  const Access rows{.vector_rows = true};
  EXPECT_EQ(missing_access(kMmaSync, with_in(kF16, 1000), rows),
            "noise rows have to start at multiples of 16 elements (in is 1000: plan for in = 1008 "
            "and run with noise_row_stride = 1008)");
  EXPECT_EQ(missing_access(kMmaSync, kF16, {.vector_rows = true, .noise_alignment = 16}), "");
  // The seed module's generators make an element at a time.
  EXPECT_EQ(missing_access(kMmaSync, with_noise(kF16, "triton"), rows), "");
  EXPECT_EQ(missing_access(kWgmma, with_noise(kOwnX, "splitmix64"), rows), "");
}

TEST(MissingAccess, IsTheGridOf64WhereWgmmaReadsWeights) {
  const Access sixteenths{.vector_rows = true, .noise_alignment = 16};
  const char* const missing =
      "a kernel that reads W needs noise rows at multiples of 64 elements (in is 784); mma_sync "
      "does not";
  const PerturbedLinear own = with_in(kOwnX, 784);
  EXPECT_EQ(missing_access(kWgmma, own, sixteenths), missing);
  EXPECT_EQ(missing_access(kMmaSync, own, sixteenths), "");
  EXPECT_EQ(missing_access(kWgmma, own, {.vector_rows = true, .noise_alignment = 64}), "");
  Config fused = kWgmma;
  fused.fused = true;
  EXPECT_EQ(missing_access(fused, with_in(kF16, 784), sixteenths), missing);
  EXPECT_EQ(missing_access(kWgmma, with_in(kF16, 784), sixteenths), "");
  // Only bytes are packed as they are drawn, and not for tf32.
  EXPECT_EQ(missing_access(kWgmma, with_noise(own, "philox:rademacher"), sixteenths), "");
  PerturbedLinear tf32 = with_in(kTf32, 784);
  tf32.layout = InputLayout::individual;
  EXPECT_EQ(missing_access(kWgmma, tf32, sixteenths), "");
}

TEST(MissingAccess, IsNarrowElementsOfTritonInTf32) {
  const Access wide{.vector_rows = true};
  const Access narrow{.vector_rows = true, .wide_counter = false};
  const char* const missing = "elements of triton noise have to lie below 2^32";
  EXPECT_EQ(missing_access(kMmaSync, with_noise(kTf32, "triton"), wide), missing);
  EXPECT_EQ(missing_access(kMmaSync, with_noise(kTf32, "triton"), narrow), "");
  EXPECT_EQ(missing_access(kMmaSync, with_noise(kTf32, "splitmix64"), wide), "");
  EXPECT_EQ(missing_access(kMmaSync, with_noise(kF16, "triton"), wide), "");
}

TEST(NeededKernels, FollowFamilyFormAndLayout) {
  Config fused = kMmaSync;
  fused.fused = true;
  EXPECT_TRUE(uses_base_product(kMmaSync, kF16));
  EXPECT_FALSE(uses_base_product(kMmaSync, kOwnX));
  EXPECT_FALSE(uses_base_product(fused, kF16));
  EXPECT_FALSE(uses_base_product({}, kF16));

  EXPECT_TRUE(converts_inputs(kWgmma, PerturbedLinear{.precision = Precision::f16}));
  EXPECT_TRUE(converts_inputs(fused, PerturbedLinear{.precision = Precision::bf16}));
  EXPECT_FALSE(converts_inputs(kWgmma, kTf32));
  EXPECT_FALSE(converts_inputs(kWgmma, kF16));
  EXPECT_FALSE(converts_inputs({}, PerturbedLinear{.precision = Precision::f16}));

  PerturbedLinear pairs = kF16;
  pairs.noise.antithetic = true;
  EXPECT_TRUE(stores_pairs(kMmaSync, pairs));
  EXPECT_FALSE(stores_pairs(kMmaSync, kF16));
  EXPECT_FALSE(stores_pairs(fused, pairs));
  EXPECT_FALSE(stores_pairs({}, pairs));
  pairs.layout = InputLayout::individual;
  EXPECT_FALSE(stores_pairs(kMmaSync, pairs));
}

}  // namespace
}  // namespace vnjit
