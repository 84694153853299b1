#include "vnjit/codegen/device_limits.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "vnjit/codegen/error.hpp"

namespace vnjit {
namespace {

using testing::ElementsAre;
using testing::ThrowsMessage;

constexpr std::int64_t kKiB = 1024;

struct Expected {
  const char* name;
  int major;
  int minor;
  int sm_count;
  int clock_mhz;
  std::int64_t block_optin;
  std::int64_t sm_shared;
  std::int64_t reserved;
  int warps;
  int blocks;
};

// CUDA C++ Programming Guide, technical specifications per compute capability; SM counts and
// boost clocks of T4, A100, RTX 3090, RTX 4090, H100 SXM, B200 and RTX 5090.
constexpr Expected kExpected[] = {
    {"sm_75", 7, 5, 40, 1590, 64 * kKiB, 64 * kKiB, 0, 32, 16},
    {"sm_80", 8, 0, 108, 1410, 163 * kKiB, 164 * kKiB, kKiB, 64, 32},
    {"sm_86", 8, 6, 82, 1695, 99 * kKiB, 100 * kKiB, kKiB, 48, 16},
    {"sm_89", 8, 9, 128, 2520, 99 * kKiB, 100 * kKiB, kKiB, 48, 24},
    {"sm_90", 9, 0, 132, 1755, 227 * kKiB, 228 * kKiB, kKiB, 64, 32},
    {"sm_100", 10, 0, 148, 1965, 227 * kKiB, 228 * kKiB, kKiB, 64, 32},
    {"sm_120", 12, 0, 170, 2407, 99 * kKiB, 100 * kKiB, kKiB, 48, 24},
};

TEST(DeviceLimits, PresetsHoldTheTablesOfTheArchitecture) {
  for (const Expected& expected : kExpected) {
    SCOPED_TRACE(expected.name);
    const DeviceLimits limits = DeviceLimits::preset(expected.name);
    EXPECT_EQ(limits.name, expected.name);
    EXPECT_EQ(limits.arch(), expected.name);
    EXPECT_EQ(limits.compute_major, expected.major);
    EXPECT_EQ(limits.compute_minor, expected.minor);
    EXPECT_EQ(limits.sm_count, expected.sm_count);
    EXPECT_EQ(limits.clock_mhz, expected.clock_mhz);
    EXPECT_EQ(limits.shared_per_block, 48 * kKiB);
    EXPECT_EQ(limits.shared_per_block_optin, expected.block_optin);
    EXPECT_EQ(limits.shared_per_sm, expected.sm_shared);
    EXPECT_EQ(limits.shared_reserved_per_block, expected.reserved);
    EXPECT_EQ(limits.max_warps_per_sm, expected.warps);
    EXPECT_EQ(limits.max_blocks_per_sm, expected.blocks);
    EXPECT_EQ(limits.max_threads_per_block, 1024);
    EXPECT_EQ(limits.registers_per_sm, 65536);
    EXPECT_EQ(limits.registers_per_thread, 255);
    EXPECT_EQ(limits.max_grid_x, 2147483647);
  }
}

TEST(DeviceLimits, ListsItsPresets) {
  EXPECT_THAT(preset_names(),
              ElementsAre("sm_75", "sm_80", "sm_86", "sm_89", "sm_90", "sm_100", "sm_120"));
}

TEST(DeviceLimits, RefusesOtherNamesListingThePresets) {
  EXPECT_THAT([] { DeviceLimits::preset("sm_70"); },
              ThrowsMessage<InvalidArgument>(
                  "architecture 'sm_70' has no preset; use sm_75, sm_80, sm_86, sm_89, sm_90, "
                  "sm_100, sm_120"));
  for (const char* name : {"", "90", "sm_9", "sm_900", "SM_90"}) {
    EXPECT_THROW(DeviceLimits::preset(name), InvalidArgument) << name;
  }
}

TEST(DeviceLimits, BudgetFallsBackFromOptInToDefaultTo48KB) {
  DeviceLimits limits = DeviceLimits::preset("sm_86");
  EXPECT_EQ(limits.shared_budget(), 99 * kKiB);
  limits.shared_per_block_optin = 0;
  limits.shared_per_block = 40 * kKiB;
  EXPECT_EQ(limits.shared_budget(), 40 * kKiB);
  limits.shared_per_block = 0;
  EXPECT_EQ(limits.shared_budget(), 48 * kKiB);
}

TEST(DeviceLimits, CopiesRunInTheBackgroundFromSm80On) {
  for (const std::string_view name : preset_names()) {
    EXPECT_EQ(DeviceLimits::preset(name).has_async_copy(), name != "sm_75") << name;
  }
}

TEST(DeviceLimits, WarpgroupsMultiplyOnSm90Alone) {
  for (const std::string_view name : preset_names()) {
    EXPECT_EQ(DeviceLimits::preset(name).has_wgmma(), name == "sm_90") << name;
  }
  DeviceLimits limits = DeviceLimits::preset("sm_90");
  limits.compute_minor = 3;
  EXPECT_FALSE(limits.has_wgmma());
}

}  // namespace
}  // namespace vnjit
