#include "vnjit/runtime/gpu/linear_workspace.hpp"

#include <gtest/gtest.h>

#include <limits>

#include "cpu_reference.hpp"

namespace vnjit {
namespace {

using tests::refusal_of;

const Config kMma{.family = Family::mma_sync};
const PerturbedLinearArguments kSizes{.pop = 5, .batch = 3, .in = 33, .out = 7};

TEST(LinearWorkspace, SimtNeedsNone) {
  EXPECT_EQ(linear_workspace(Config{}, PerturbedLinear{}, kSizes), LinearWorkspace{});
}

TEST(LinearWorkspace, ASharedXHasABaseProductOfPaddedRows) {
  const PerturbedLinear problem{.input = DataType::f16};
  EXPECT_EQ(base_row_stride(7), 8);
  EXPECT_EQ(linear_workspace(kMma, problem, kSizes), (LinearWorkspace{.bytes = 256}));
  PerturbedLinearArguments larger = kSizes;
  larger.batch = 9;  // rows of 32 bytes
  EXPECT_EQ(linear_workspace(kMma, problem, larger).bytes, 512u);
}

TEST(LinearWorkspace, TheBaseProductFollowsConvertedInputs) {
  const PerturbedLinear problem{.precision = Precision::f16};
  EXPECT_EQ(converted_row_stride(33), 40);
  // X: 3 rows of 80 bytes, W: 7 rows, base: 3 rows of 32 bytes.
  EXPECT_EQ(linear_workspace(kMma, problem, kSizes), (LinearWorkspace{.weight = 256,
                                                                      .quantized = 1024,
                                                                      .row_scales = 1024,
                                                                      .base = 1024,
                                                                      .bytes = 1024 + 256}));
}

TEST(LinearWorkspace, AnXOfEachIndividualIsConvertedWhole) {
  const PerturbedLinear problem{.precision = Precision::bf16, .layout = InputLayout::individual};
  // X: 5 times 3 rows of 80 bytes, W: 7 rows, no base.
  EXPECT_EQ(
      linear_workspace(kMma, problem, kSizes),
      (LinearWorkspace{
          .weight = 1280, .quantized = 2048, .row_scales = 2048, .base = 2048, .bytes = 2048}));
}

TEST(LinearWorkspace, AQuantizedXHasAScaleARowAndRowsOfWholeSteps) {
  const PerturbedLinear problem{.input = DataType::f16, .precision = Precision::int8};
  EXPECT_EQ(quantized_row_stride(33), 128);
  EXPECT_EQ(quantized_row_stride(256), 256);
  // X: 3 rows of 128 bytes, scales: 3 of 8 bytes, base: 3 rows of 32 bytes.
  EXPECT_EQ(linear_workspace(kMma, problem, kSizes),
            (LinearWorkspace{.row_scales = 512, .base = 768, .bytes = 1024}));
}

TEST(LinearWorkspace, InputsOfTheirOwnTypeAreNotConverted) {
  const PerturbedLinear individual{.precision = Precision::tf32, .layout = InputLayout::individual};
  EXPECT_EQ(linear_workspace(kMma, individual, kSizes), LinearWorkspace{});
  Config fused = kMma;
  fused.fused = true;
  EXPECT_EQ(linear_workspace(fused, PerturbedLinear{.input = DataType::bf16}, kSizes),
            LinearWorkspace{});
}

TEST(LinearWorkspace, SizesBeyondAnyMemoryDoNotWrap) {
  constexpr std::int64_t kHuge = std::numeric_limits<std::int32_t>::max();
  const PerturbedLinear problem{.precision = Precision::f16, .layout = InputLayout::individual};
  EXPECT_GE(
      linear_workspace(kMma, problem, {.pop = kHuge, .batch = kHuge, .in = 1, .out = 1}).bytes,
      std::size_t{1} << 62);
}

TEST(LinearWorkspace, TooSmallOrMisalignedOnesAreRefused) {
  void* const memory = reinterpret_cast<void*>(std::uintptr_t{512});
  EXPECT_NO_THROW(check_workspace({memory, 768}, 768));
  EXPECT_EQ(refusal_of([&] {
              check_workspace({memory, 767}, 768);
            }),
            "workspace is 767 bytes; this run needs 768: give what workspace_bytes answers");
  EXPECT_EQ(refusal_of([&] {
              check_workspace({reinterpret_cast<void*>(std::uintptr_t{0x280}), 768}, 768);
            }),
            "workspace is 0x280; it must be a multiple of 256");
}

}  // namespace
}  // namespace vnjit
