#include <gtest/gtest.h>

#include <algorithm>

#include "cpu_forward.hpp"
#include "vnjit/runtime/cpu/floats.hpp"

// Results of 16 bits.

namespace vnjit {
namespace {

using tests::Forward;
using tests::index;
using tests::sizes;

/// The batch is one that is summed in several parts.
TEST(CpuOutputs, RoundsTheFp32SumsToOutputsOf16Bits) {
  for (const DataType type : {DataType::f16, DataType::bf16}) {
    for (const InputLayout layout : {InputLayout::shared, InputLayout::individual}) {
      Forward forward({.input = type, .layout = layout}, sizes(2, 2051, 300, 35));
      const std::vector<float> sums = forward.run(2);
      std::vector<std::uint16_t> expected(sums.size());
      cpu::store_floats(type, sums.data(), static_cast<std::int64_t>(sums.size()), expected.data(),
                        0);
      forward.problem.output = type;
      EXPECT_EQ(forward.run_rounded(2), expected)
          << to_string(type) << " layout " << static_cast<int>(layout);
    }
  }
}

/// A sum of fp32 keeps the ones that each 16-bit sum would round away.
TEST(CpuOutputs, DoesNotSumIn16Bits) {
  Forward forward({.input = DataType::f16, .output = DataType::f16, .bias = false},
                  sizes(1, 1, 1025, 1));
  forward.sizes.sigma = 0.0f;
  std::ranges::fill(forward.x, 1.0f);
  std::ranges::fill(forward.weight, 1.0f);
  forward.weight[0] = 4096.0f;
  EXPECT_EQ(forward.run_rounded(1), std::vector<std::uint16_t>{0x6D00});  // 5120
}

TEST(CpuOutputs, LeavesGapsOfOutputsOf16BitsAlone) {
  PerturbedLinearArguments arguments = sizes(3, 8, 33, 35);
  arguments.y_row_stride = 36;
  arguments.y_individual_stride = 8 * 36 + 5;
  const Forward forward({.input = DataType::bf16, .output = DataType::bf16}, arguments);
  const std::vector<std::uint16_t> y = forward.run_rounded(2);
  for (std::int64_t n = 0; n < static_cast<std::int64_t>(y.size()); ++n) {
    const std::int64_t in_individual = n % (8 * 36 + 5);
    const bool gap = in_individual >= 8 * 36 || in_individual % 36 >= 35;
    ASSERT_EQ(y[index(n)] == 0xFFFF, gap) << n;
  }
}

}  // namespace
}  // namespace vnjit
