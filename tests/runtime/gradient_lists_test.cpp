#include "vnjit/runtime/gpu/gradient_lists.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>
#include <vector>

#include "gradient_units.hpp"
#include "vnjit/codegen/error.hpp"

namespace vnjit {
namespace {

using testing::Each;
using testing::ElementsAre;
using testing::Field;
using testing::IsEmpty;
using testing::ThrowsMessage;
using tests::List;
using tests::lists_of;
using tests::params_of;
using tests::Unit;
using tests::unit_of;

constexpr std::int64_t kSegment = 512;
constexpr std::int64_t kMaxUnits = std::int64_t{1} << 30;

/// Runs of the only block of the only list.
BlockRuns runs_of(const GradientBlock& block, std::int64_t segment = kSegment) {
  const std::vector<List> lists = lists_of({block}, 64, segment);
  if (lists.size() != 1 || lists[0].blocks.size() != 1) return {-1, -1, -1};
  EXPECT_EQ(lists[0].units, lists[0].blocks[0].runs.count * lists[0].blocks[0].runs.units);
  return lists[0].blocks[0].runs;
}

void expect_runs(const BlockRuns& runs, std::int64_t count, std::int64_t elements,
                 std::int64_t units) {
  EXPECT_EQ(runs.count, count);
  EXPECT_EQ(runs.elements, elements);
  EXPECT_EQ(runs.units, units);
}

TEST(GradientLists, RowsWithoutGapsBecomeOne) {
  float output[1];
  const std::vector<List> lists =
      lists_of({{.offset = 100, .rows = 30, .columns = 70, .output = output}});
  ASSERT_EQ(lists.size(), 1u);
  ASSERT_EQ(lists[0].blocks.size(), 1u);
  const ListedBlock& listed = lists[0].blocks[0];
  expect_runs(listed.runs, 1, 2100, 5);  // elements 100 to 2199
  EXPECT_EQ(lists[0].units, 5);
  EXPECT_EQ(listed.first_unit, 0);
  EXPECT_EQ(listed.block.rows, 1);
  EXPECT_EQ(listed.block.columns, 2100);
  EXPECT_EQ(listed.block.offset, 100);
  EXPECT_EQ(listed.block.output, output);
}

TEST(GradientLists, AGapInOutputWeightOrNoiseKeepsTheRows) {
  const GradientBlock block{.rows = 30, .columns = 70};
  for (const auto stride : {&GradientBlock::output_row_stride, &GradientBlock::weight_row_stride,
                            &GradientBlock::noise_row_stride}) {
    GradientBlock other = block;
    other.*stride = 71;
    const std::vector<List> lists = lists_of({other});
    ASSERT_EQ(lists.size(), 1u);
    EXPECT_EQ(lists[0].blocks[0].block.rows, 30);
    EXPECT_EQ(lists[0].blocks[0].block.columns, 70);
    EXPECT_EQ(lists[0].blocks[0].block.*stride, 71);
    other.*stride = 70;
    EXPECT_EQ(lists_of({other})[0].blocks[0].block.rows, 1);
  }
}

TEST(GradientLists, SmallGapsOfNoiseArePartOfARunAndLargeOnesEndIt) {
  const auto runs = [](std::int64_t offset, std::int64_t columns, std::int64_t gap) {
    return runs_of(
        {.offset = offset, .rows = 10, .columns = columns, .noise_row_stride = columns + gap});
  };
  expect_runs(runs(0, 100, 511), 1, 9 * 611 + 100, 11);
  expect_runs(runs(0, 512, 512), 10, 512, 1);  // aligned
  expect_runs(runs(1024, 1000, 536), 10, 1000, 2);
  expect_runs(runs(0, 100, 512), 10, 100, 2);  // a run may begin anywhere
  expect_runs(runs(1, 512, 512), 10, 512, 2);
  expect_runs(runs(0, 514, 512), 10, 514, 3);
}

TEST(GradientLists, OneRowHasNoGap) {
  expect_runs(runs_of({.rows = 1, .columns = 512, .noise_row_stride = 5000}), 1, 512, 1);
  expect_runs(runs_of({.offset = 511, .rows = 1, .columns = 2, .noise_row_stride = 5000}), 1, 2, 2);
}

TEST(GradientLists, LongSegmentsTakeLargerGaps) {
  const GradientBlock block{.rows = 10, .columns = 100, .noise_row_stride = 800};
  expect_runs(runs_of(block, 512), 10, 100, 2);
  expect_runs(runs_of(block, 1024), 1, 7300, 8);
}

TEST(GradientLists, BlocksFollowEachOther) {
  const std::vector<List> lists = lists_of({{.rows = 4, .columns = 512},
                                            {.rows = 1, .columns = 10},
                                            {.rows = 3, .columns = 512, .noise_row_stride = 1024}});
  ASSERT_EQ(lists.size(), 1u);
  EXPECT_EQ(lists[0].units, 4 + 1 + 3);
  EXPECT_THAT(lists[0].blocks,
              ElementsAre(Field(&ListedBlock::first_unit, 0), Field(&ListedBlock::first_unit, 4),
                          Field(&ListedBlock::first_unit, 5)));
}

std::vector<std::size_t> sizes_of(const std::vector<List>& lists) {
  std::vector<std::size_t> sizes;
  sizes.reserve(lists.size());
  for (const List& list : lists) sizes.push_back(list.blocks.size());
  return sizes;
}

TEST(GradientLists, HoldAsManyBlocksAsTheCapacity) {
  std::vector<GradientBlock> blocks(5, {.rows = 1, .columns = 1});
  for (std::size_t n = 0; n < 5; ++n) blocks[n].offset = static_cast<std::int64_t>(n);
  const std::vector<List> lists = lists_of(blocks, 2);
  EXPECT_THAT(sizes_of(lists), ElementsAre(2, 2, 1));
  for (std::size_t n = 0; n < 5; ++n) {
    const ListedBlock& listed = lists[n / 2].blocks[n % 2];
    EXPECT_EQ(listed.block.offset, static_cast<std::int64_t>(n));
    EXPECT_EQ(listed.first_unit, static_cast<std::int64_t>(n % 2));
  }
  EXPECT_THAT(sizes_of(lists_of(blocks, 5)), ElementsAre(5));
  EXPECT_THAT(sizes_of(lists_of(blocks, 4)), ElementsAre(4, 1));
}

TEST(GradientLists, HoldNoMoreThan128Blocks) {
  const std::vector<GradientBlock> blocks(300, {.rows = 1, .columns = 1});
  EXPECT_THAT(sizes_of(lists_of(blocks, 1000)), ElementsAre(128, 128, 44));
}

TEST(GradientLists, FillAKernels4KilobytesOfParameters) {
  EXPECT_LE(sizeof(GradientListParams<GradientBlockParams>), 4096u);
  EXPECT_LE(sizeof(GradientListParams<SgdBlockParams>), 4096u);
  EXPECT_LE(sizeof(GradientListParams<AdamBlockParams>), 4096u);
  EXPECT_EQ(GradientListParams<GradientBlockParams>::kBlocks, 71);
  EXPECT_EQ(GradientListParams<SgdBlockParams>::kBlocks, 55);
  EXPECT_EQ(GradientListParams<AdamBlockParams>::kBlocks, 45);
}

TEST(GradientLists, LeaveOutEmptyBlocks) {
  EXPECT_THAT(lists_of({}), IsEmpty());
  EXPECT_THAT(lists_of({{.rows = 0, .columns = 5}, {.rows = 5, .columns = 0}}), IsEmpty());
  const std::vector<List> lists = lists_of({{.rows = 0, .columns = 5},
                                            {.offset = 7, .rows = 1, .columns = 5},
                                            {.rows = 5, .columns = 0, .noise_row_stride = 9000}},
                                           1);
  ASSERT_THAT(sizes_of(lists), ElementsAre(1));
  EXPECT_EQ(lists[0].blocks[0].block.offset, 7);
}

constexpr std::int64_t kRow = 524288;  // 1024 units
constexpr std::int64_t kLargeGap = 1024;

TEST(GradientLists, RowsBeyond2To30UnitsGoToAnotherList) {
  constexpr std::int64_t kStride = kRow + kLargeGap;
  constexpr std::int64_t kRows = (std::int64_t{1} << 21) + 3;
  const std::vector<List> lists =
      lists_of({{.offset = 512, .rows = kRows, .columns = kRow, .noise_row_stride = kStride}});
  ASSERT_THAT(sizes_of(lists), ElementsAre(1, 1, 1));
  std::int64_t row = 0;
  for (const List& list : lists) {
    const ListedBlock& listed = list.blocks[0];
    EXPECT_EQ(listed.first_unit, 0);
    EXPECT_EQ(listed.block.offset, 512 + row * kStride);
    EXPECT_EQ(listed.runs.units, 1024);
    EXPECT_EQ(list.units, listed.runs.count * 1024);
    EXPECT_LE(list.units, kMaxUnits);
    row += listed.runs.count;
    // Its last unit is that of its last row.
    const std::vector<GradientBlockParams> params = params_of(list);
    const Unit last = unit_of(params, list.units, static_cast<unsigned>(list.units - 1), kSegment);
    EXPECT_TRUE(last.exists);
    EXPECT_EQ(last.row, listed.runs.count - 1);
    EXPECT_EQ(last.first, kRow - 512);
    EXPECT_FALSE(unit_of(params, list.units, static_cast<unsigned>(list.units), kSegment).exists);
  }
  EXPECT_EQ(row, kRows);
  EXPECT_EQ(lists[0].units, kMaxUnits);
}

TEST(GradientLists, RowsFillWhatIsLeftOfAList) {
  constexpr std::int64_t kStride = 2048 + kLargeGap;
  std::vector<float> memory(12000);
  float* const data = memory.data();
  const std::vector<List> lists = lists_of({{.rows = 1, .columns = (kMaxUnits - 10) * kSegment},
                                            {.offset = 1024,
                                             .rows = 4,
                                             .columns = 2048,
                                             .output = data,
                                             .output_row_stride = 2500,
                                             .noise_row_stride = kStride,
                                             .weight = data + 1,
                                             .first_moment = data + 2,
                                             .second_moment = data + 3,
                                             .weight_row_stride = 3000}});
  ASSERT_THAT(sizes_of(lists), ElementsAre(2, 1));
  EXPECT_EQ(lists[0].units, kMaxUnits - 2);
  EXPECT_EQ(lists[0].blocks[1].first_unit, kMaxUnits - 10);
  expect_runs(lists[0].blocks[1].runs, 2, 2048, 4);
  EXPECT_EQ(lists[0].blocks[1].block.offset, 1024);
  EXPECT_EQ(lists[1].units, 8);
  const ListedBlock& rest = lists[1].blocks[0];
  expect_runs(rest.runs, 2, 2048, 4);
  EXPECT_EQ(rest.first_unit, 0);
  EXPECT_EQ(rest.block.offset, 1024 + 2 * kStride);
  EXPECT_EQ(rest.block.output, data + 5000);
  EXPECT_EQ(rest.block.weight, data + 1 + 6000);
  EXPECT_EQ(rest.block.first_moment, data + 2 + 6000);
  EXPECT_EQ(rest.block.second_moment, data + 3 + 6000);
}

TEST(GradientLists, RowsMovedOnKeepNullPointers) {
  const std::vector<List> lists = lists_of({{.rows = (std::int64_t{1} << 20) + 1,
                                             .columns = kRow,
                                             .noise_row_stride = kRow + kLargeGap}});
  ASSERT_THAT(sizes_of(lists), ElementsAre(1, 1));
  const GradientBlock& rest = lists[1].blocks[0].block;
  EXPECT_THAT(
      (std::vector<const float*>{rest.output, rest.weight, rest.first_moment, rest.second_moment}),
      Each(nullptr));
}

TEST(GradientLists, ABlockThatDoesNotFitBeginsTheNextList) {
  const std::vector<List> lists = lists_of({{.rows = 1, .columns = (kMaxUnits - 2) * kSegment},
                                            {.offset = 9, .rows = 1, .columns = 1024}});
  ASSERT_THAT(sizes_of(lists), ElementsAre(1, 1));
  EXPECT_EQ(lists[0].units, kMaxUnits - 2);
  EXPECT_EQ(lists[1].units, 3);
}

TEST(GradientLists, RefusesARunOfMoreUnitsThanALaunchHas) {
  constexpr std::int64_t kMost = kMaxUnits * kSegment;  // 549755813888
  EXPECT_NO_THROW(lists_of({{.rows = 1, .columns = kMost}}));
  const auto refusal = [](const std::string& shape) {
    return ThrowsMessage<InvalidArgument>("a block has " + shape +
                                          " parameters; a gradient takes blocks of up to "
                                          "549755813888");
  };
  EXPECT_THAT([] { lists_of({{.rows = 1, .columns = kMost + 1}}); }, refusal("1 x 549755813889"));
  EXPECT_THAT([] { lists_of({{.offset = 1, .rows = 1 << 20, .columns = 1 << 19}}); },
              refusal("1048576 x 524288"));
  // Of rows a run each, one row.
  EXPECT_THAT(
      [] { lists_of({{.rows = 2, .columns = kMost + 1, .noise_row_stride = kMost + 1024}}); },
      refusal("2 x 549755813889"));
  EXPECT_THAT([] { lists_of({{.rows = 1, .columns = std::numeric_limits<std::int64_t>::max()}}); },
              refusal("1 x 9223372036854775807"));
}

}  // namespace
}  // namespace vnjit
