#include "vnjit/runtime/gpu/partial_sums.hpp"

#include <gtest/gtest.h>

#include <limits>

namespace vnjit {
namespace {

TEST(PartialSums, AreNothingWhereThereIsOnePart) {
  const PartialSums none;
  EXPECT_EQ(none.counters, 0u);
  EXPECT_EQ(none.bytes, 0u);
}

TEST(PartialSums, FollowACounterOf4BytesAGroupOn256ByteBoundaries) {
  EXPECT_EQ(PartialSums(1, 10, 8).counters, 256u);
  EXPECT_EQ(PartialSums(64, 10, 8).counters, 256u);
  EXPECT_EQ(PartialSums(65, 10, 8).counters, 512u);
  EXPECT_EQ(PartialSums(std::int64_t{1} << 30, 10, 8).counters, std::size_t{1} << 32);
}

TEST(PartialSums, HaveRoomForEverySum) {
  EXPECT_EQ(PartialSums(65, 1000, 8).bytes, 512u + 8000);
  EXPECT_EQ(PartialSums(1, 1000, 4).bytes, 256u + 4000);
  // 64 parts of 2^30 units of 1024 elements.
  EXPECT_EQ(PartialSums(1, std::int64_t{1} << 46, 8).bytes, 256 + (std::size_t{1} << 49));
}

TEST(PartialSums, OfSizesBeyondAnyMemoryDoNotWrapAround) {
  constexpr std::size_t kMost = std::size_t{1} << 62;
  EXPECT_EQ(PartialSums(1, std::numeric_limits<std::int64_t>::max(), 8).bytes, kMost);
  EXPECT_EQ(PartialSums(1, (std::int64_t{1} << 59) + 1, 8).bytes, kMost);
  EXPECT_EQ(PartialSums(1, std::int64_t{1} << 59, 8).bytes, kMost + 256);
}

}  // namespace
}  // namespace vnjit
