#include "vnjit/runtime/check_overlap.hpp"

#include <gmock/gmock.h>

#include <vector>

#include "vnjit/codegen/error.hpp"
#include "vnjit/runtime/check_arguments.hpp"

namespace vnjit {
namespace {

using testing::HasSubstr;
using testing::StartsWith;

/// Memory that is never read: only addresses are looked at.
std::byte* memory(std::uintptr_t at) { return reinterpret_cast<std::byte*>(0x10000 + at); }
float* floats(std::uintptr_t index) { return reinterpret_cast<float*>(memory(4 * index)); }

template <typename Check>
std::string refusal_of(const Check& check) {
  try {
    check();
  } catch (const InvalidArgument& refusal) {
    return refusal.what();
  }
  return "nothing was refused";
}

std::string overlap_of(const MemoryRegion& a, const MemoryRegion& b) {
  return refusal_of([&] {
    const MemoryRegion both[] = {a, b};
    check_overlap(both);
  });
}

MemoryRegion written(std::uintptr_t at, std::int64_t columns) {
  return {.name = {"a"}, .data = memory(at), .columns = columns, .written = true};
}

MemoryRegion read(std::uintptr_t at, std::int64_t columns) {
  return {.name = {"b"}, .data = memory(at), .columns = columns};
}

constexpr const char* kNothing = "nothing was refused";

TEST(CheckOverlap, NeighboursAreApartAndOneSharedByteIsRefused) {
  EXPECT_EQ(overlap_of(written(0, 16), read(16, 16)), kNothing);
  EXPECT_EQ(overlap_of(written(16, 16), read(0, 16)), kNothing);
  EXPECT_EQ(overlap_of(written(0, 17), read(16, 16)),
            "a and b overlap: 0x10000 to 0x10011 and 0x10010 to 0x10020; what a run writes needs "
            "memory of its own");
  EXPECT_THAT(overlap_of(read(0, 17), written(16, 16)), StartsWith("b and a overlap"));
  EXPECT_THAT(overlap_of(written(0, 100), read(50, 1)), StartsWith("a and b overlap"));
}

TEST(CheckOverlap, WhatIsOnlyReadMayBeShared) {
  EXPECT_EQ(overlap_of(read(0, 16), read(0, 16)), kNothing);
}

TEST(CheckOverlap, NullAndEmptyRegionsShareNothing) {
  MemoryRegion null = written(0, 16);
  null.data = nullptr;
  EXPECT_EQ(overlap_of(null, null), kNothing);
  for (const auto empty : {&MemoryRegion::columns, &MemoryRegion::rows, &MemoryRegion::slices}) {
    MemoryRegion nothing = written(4, 8);
    nothing.*empty = 0;
    EXPECT_EQ(overlap_of(written(0, 16), nothing), kNothing);
  }
}

TEST(CheckOverlap, RowsBetweenRowsAreApartUntilTheyShareAnElement) {
  MemoryRegion left = written(0, 6);
  left.rows = 5;
  left.row_stride = 10;
  MemoryRegion right = left;
  right.data = memory(6);
  right.columns = 4;
  EXPECT_EQ(overlap_of(left, right), kNothing);
  EXPECT_EQ(overlap_of(right, left), kNothing);
  right.columns = 5;
  EXPECT_THAT(overlap_of(left, right), HasSubstr("overlap"));
  right.columns = 4;
  right.data = memory(5);
  EXPECT_THAT(overlap_of(left, right), HasSubstr("overlap"));
  right.data = memory(16);  // in the second row
  EXPECT_EQ(overlap_of(left, right), kNothing);
  right.row_stride = 11;
  EXPECT_THAT(overlap_of(left, right), HasSubstr("overlap"));
}

TEST(CheckOverlap, OnePieceMayLieBetweenRows) {
  MemoryRegion rows = written(0, 6);
  rows.rows = 5;
  rows.row_stride = 10;
  EXPECT_EQ(overlap_of(rows, read(16, 4)), kNothing);
  EXPECT_THAT(overlap_of(rows, read(16, 5)), HasSubstr("overlap"));
  EXPECT_THAT(overlap_of(rows, read(6, 14)), HasSubstr("overlap"));
}

TEST(CheckOverlap, SlicesBetweenSlicesAreApart) {
  MemoryRegion y{.name = {"y"},
                 .data = memory(0),
                 .columns = 3,
                 .rows = 2,
                 .row_stride = 4,
                 .slices = 4,
                 .slice_stride = 20,
                 .written = true};
  MemoryRegion x = y;
  x.data = memory(8);
  x.row_stride = 5;
  EXPECT_EQ(overlap_of(y, x), kNothing);
  x.data = memory(13);
  EXPECT_THAT(overlap_of(y, x), HasSubstr("overlap"));
}

TEST(CheckOverlap, EveryPairOfSmallRegionsIsJudgedAsItsBytesAre) {
  int shared = 0;
  int apart = 0;
  for (std::uintptr_t at = 0; at < 14; ++at) {
    for (std::int64_t columns = 1; columns <= 4; ++columns) {
      for (std::int64_t rows = 1; rows <= 3; ++rows) {
        MemoryRegion a = written(0, 3);
        a.rows = 3;
        a.row_stride = 6;
        MemoryRegion b = read(at, columns);
        b.rows = rows;
        b.row_stride = 6;
        std::vector<int> used(40);
        for (int row = 0; row < 3; ++row) {
          for (int k = 0; k < 3; ++k) used[static_cast<std::size_t>(6 * row + k)] = 1;
        }
        bool meets = false;
        for (std::int64_t row = 0; row < rows; ++row) {
          for (std::int64_t k = 0; k < columns; ++k) {
            meets = meets || used[at + static_cast<std::size_t>(6 * row + k)] != 0;
          }
        }
        EXPECT_EQ(overlap_of(a, b) != kNothing, meets) << at << ' ' << columns << ' ' << rows;
        (meets ? shared : apart) += 1;
      }
    }
  }
  EXPECT_GT(shared, 20);
  EXPECT_GT(apart, 20);
}

// ---- Of the operations.

PerturbedLinearArguments linear_arguments() {
  return {.x = floats(0),
          .weight = floats(100),
          .bias = floats(200),
          .seeds = reinterpret_cast<std::int64_t*>(memory(1200)),
          .y = floats(400),
          .sigma = 0.1f,
          .pop = 4,
          .batch = 2,
          .in = 8,
          .out = 6};
}

std::string linear_refusal(const PerturbedLinearArguments& arguments,
                           const Workspace& workspace = {}) {
  return refusal_of([&] { checked(PerturbedLinear{}, arguments, workspace); });
}

TEST(CheckOverlap, AForwardPassMustNotWriteOverWhatItReads) {
  EXPECT_EQ(linear_refusal(linear_arguments()), kNothing);
  const auto with_y = [](void* y) {
    PerturbedLinearArguments arguments = linear_arguments();
    arguments.y = y;
    return linear_refusal(arguments);
  };
  EXPECT_THAT(with_y(floats(15)), StartsWith("y and x overlap"));
  EXPECT_THAT(with_y(floats(100)), StartsWith("y and weight overlap"));
  EXPECT_THAT(with_y(floats(205)), StartsWith("y and bias overlap"));
  EXPECT_THAT(with_y(floats(300)), StartsWith("y and seeds overlap"));
  const float sigma = 0;
  PerturbedLinearArguments arguments = linear_arguments();
  arguments.sigma = &sigma;
  arguments.y = const_cast<float*>(&sigma);
  EXPECT_THAT(linear_refusal(arguments), StartsWith("y and sigma overlap"));
}

TEST(CheckOverlap, AWorkspaceIsOfNoOtherUse) {
  EXPECT_EQ(linear_refusal(linear_arguments(), {memory(8192), 4096}), kNothing);
  EXPECT_THAT(linear_refusal(linear_arguments(), {memory(0), 256}),
              StartsWith("x and workspace overlap"));
  EXPECT_THAT(linear_refusal(linear_arguments(), {memory(1600), 256}),
              StartsWith("y and workspace overlap"));
}

TEST(CheckOverlap, ColumnsOfOneMatrixMayBeReadAndWritten) {
  PerturbedLinearArguments arguments = linear_arguments();
  arguments.y = floats(8);
  arguments.x_row_stride = arguments.y_row_stride = 14;
  arguments.weight = floats(1000);
  arguments.bias = floats(2000);
  arguments.seeds = reinterpret_cast<std::int64_t*>(memory(12000));
  EXPECT_EQ(linear_refusal(arguments), kNothing);
  arguments.y = floats(7);
  EXPECT_THAT(linear_refusal(arguments), StartsWith("y and x overlap"));
}

TEST(CheckOverlap, AMetricMustNotLieInWhatItReads) {
  const auto with_metric = [](float* metric, Workspace workspace = {}) {
    return refusal_of([&] {
      checked(ReduceMetric{},
              {.center = floats(0),
               .seeds = reinterpret_cast<std::int64_t*>(memory(800)),
               .metric = metric,
               .sigma = 0.1f,
               .pop = 4,
               .params = 100},
              workspace);
    });
  };
  EXPECT_EQ(with_metric(floats(300)), kNothing);
  EXPECT_THAT(with_metric(floats(99)), StartsWith("metric and center overlap"));
  EXPECT_THAT(with_metric(floats(200)), StartsWith("metric and seeds overlap"));
  EXPECT_THAT(with_metric(floats(300), {floats(301), 4}),
              StartsWith("metric and workspace overlap"));
}

std::string gradient_refusal(const std::vector<GradientBlock>& blocks, Update update = Update::none,
                             Workspace workspace = {}) {
  return refusal_of([&] {
    checked(Gradient{.update = update},
            {.fitness = floats(0),
             .seeds = reinterpret_cast<std::int64_t*>(memory(400)),
             .sigma = 0.1f,
             .pop = 10,
             .blocks = blocks},
            workspace);
  });
}

GradientBlock block_at(std::uintptr_t output, std::int64_t rows, std::int64_t columns) {
  return {.rows = rows, .columns = columns, .output = floats(output)};
}

TEST(CheckOverlap, BlocksOfAGradientAreApartInAnyOrder) {
  const std::vector<GradientBlock> ascending = {block_at(200, 5, 10), block_at(250, 2, 5),
                                                block_at(260, 1, 1), block_at(261, 0, 9)};
  EXPECT_EQ(gradient_refusal(ascending), kNothing);
  EXPECT_EQ(gradient_refusal({ascending.rbegin(), ascending.rend()}), kNothing);
  for (const bool reversed : {false, true}) {
    std::vector<GradientBlock> wrong = ascending;
    wrong[1].output = floats(249);
    if (reversed) std::ranges::reverse(wrong);
    EXPECT_THAT(gradient_refusal(wrong),
                StartsWith(reversed ? "blocks[3].output and blocks[2].output overlap"
                                    : "blocks[0].output and blocks[1].output overlap"));
  }
}

TEST(CheckOverlap, BlocksMayBeColumnsOfOneMatrix) {
  GradientBlock left = block_at(200, 5, 6);
  GradientBlock right = block_at(206, 5, 4);
  left.output_row_stride = right.output_row_stride = 10;
  EXPECT_EQ(gradient_refusal({left, right}), kNothing);
  right.columns = 5;
  EXPECT_THAT(gradient_refusal({left, right}),
              StartsWith("blocks[0].output and blocks[1].output overlap"));
}

TEST(CheckOverlap, AGradientMustNotLieInWhatItReadsOrInItsWorkspace) {
  EXPECT_THAT(gradient_refusal({block_at(9, 1, 2)}),
              StartsWith("fitness and blocks[0].output overlap"));
  EXPECT_THAT(gradient_refusal({block_at(110, 1, 2)}),
              StartsWith("seeds and blocks[0].output overlap"));
  EXPECT_THAT(gradient_refusal({block_at(200, 1, 2)}, Update::none, {floats(201), 4}),
              StartsWith("blocks[0].output and workspace overlap"));
  EXPECT_THAT(gradient_refusal({block_at(200, 1, 2)}, Update::none, {floats(9), 4}),
              StartsWith("fitness and workspace overlap"));
}

TEST(CheckOverlap, WeightsAndMomentsOfAllBlocksAreApart) {
  const auto block = [](std::uintptr_t at) {
    return GradientBlock{.rows = 2,
                         .columns = 5,
                         .output = floats(at),
                         .weight = floats(at + 10),
                         .first_moment = floats(at + 20),
                         .second_moment = floats(at + 30)};
  };
  EXPECT_EQ(gradient_refusal({block(200), block(240), block(280)}, Update::adam), kNothing);
  GradientBlock wrong = block(240);
  wrong.second_moment = floats(289);
  EXPECT_THAT(gradient_refusal({block(200), wrong, block(280)}, Update::adam),
              StartsWith("blocks[2].output and blocks[1].second_moment overlap"));
}

}  // namespace
}  // namespace vnjit
