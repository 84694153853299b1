#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "vnjit/codegen/error.hpp"
#include "vnjit/codegen/problem.hpp"

namespace vnjit {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;
using testing::ThrowsMessage;

constexpr std::int64_t kTwoTo62 = std::int64_t{1} << 62;

TEST(ComputeOffsets, EqualsTheSeedModule) {
  EXPECT_THAT(compute_offsets({{256, 784}, {256}, {10, 256}, {10}}),
              ElementsAre(0, 200704, 200960, 203520));
  EXPECT_THAT(compute_offsets({{3, 4, 5}, {}, {7}}), ElementsAre(0, 60, 61));
  EXPECT_THAT(compute_offsets({}), IsEmpty());
}

TEST(ComputeOffsets, AnEmptyBlockTakesNoElements) {
  EXPECT_THAT(compute_offsets({{5}, {3, 0}, {2}}), ElementsAre(0, 5, 5));
}

TEST(ComputeOffsets, ASizeOfZeroMakesAnyBlockEmpty) {
  EXPECT_THAT(compute_offsets({{kTwoTo62, 4, 0}, {1}}), ElementsAre(0, 0));
}

TEST(ComputeOffsets, RoundsEachStartUpToTheAlignment) {
  EXPECT_THAT(compute_offsets({{10, 33}, {64}, {7}, {1}}, 64), ElementsAre(0, 384, 448, 512));
  EXPECT_THAT(compute_offsets({{10}, {10}}, 3), ElementsAre(0, 12));
  EXPECT_THAT(compute_offsets({{10}, {10}}, 1), ElementsAre(0, 10));
}

TEST(ComputeOffsets, ReachesTheLastElement) {
  constexpr std::int64_t kLast = std::numeric_limits<std::int64_t>::max();
  EXPECT_THAT(compute_offsets({{kTwoTo62}, {kTwoTo62 - 1}, {0}}), ElementsAre(0, kTwoTo62, kLast));
}

TEST(ComputeOffsets, RefusesElementsBeyondTwoTo63NamingTheBlock) {
  EXPECT_THAT(
      [] {
        compute_offsets({{1}, {kTwoTo62, 2}});
      },
      ThrowsMessage<InvalidArgument>(
          "shapes[1] takes the elements beyond 2^63; noise has no more"));
  EXPECT_THAT(
      [] {
        compute_offsets({{kTwoTo62}, {kTwoTo62}});
      },
      ThrowsMessage<InvalidArgument>(
          "shapes[1] takes the elements beyond 2^63; noise has no more"));
  EXPECT_THAT(
      [] {
        compute_offsets({{kTwoTo62}, {kTwoTo62 - 1}, {1}}, 64);
      },
      ThrowsMessage<InvalidArgument>(
          "shapes[2] takes the elements beyond 2^63; noise has no more"));
}

TEST(ComputeOffsets, RefusesNegativeSizesAndAlignmentsBelowOne) {
  EXPECT_THAT(
      [] {
        compute_offsets({{4}, {3, -2}});
      },
      ThrowsMessage<InvalidArgument>("shapes[1] is -2; sizes are 0 or more"));
  EXPECT_THAT(
      [] {
        compute_offsets({{0, -2}});
      },
      ThrowsMessage<InvalidArgument>("shapes[0] is -2; sizes are 0 or more"));
  EXPECT_THAT([] { compute_offsets({{4}}, 0); },
              ThrowsMessage<InvalidArgument>("align is 0; it is 1 or more"));
}

}  // namespace
}  // namespace vnjit
