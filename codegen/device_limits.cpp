#include "vnjit/codegen/device_limits.hpp"

#include <fmt/format.h>

#include <array>

#include "vnjit/codegen/error.hpp"

namespace vnjit {
namespace {

constexpr std::int64_t kKiB = 1024;

// CUDA C++ Programming Guide, table "Technical specifications per compute capability"; the SM
// count and the boost clock are those of the product named in the header.
DeviceLimits limits(std::string_view name, int major, int minor, int sms, int clock_mhz,
                    std::int64_t shared_sm, std::int64_t reserved, int warps, int blocks) {
  DeviceLimits result;
  result.name = name;
  result.compute_major = major;
  result.compute_minor = minor;
  result.sm_count = sms;
  result.clock_mhz = clock_mhz;
  result.shared_per_sm = shared_sm * kKiB;
  result.shared_reserved_per_block = reserved * kKiB;
  result.shared_per_block_optin = (shared_sm - reserved) * kKiB;
  result.max_warps_per_sm = warps;
  result.max_blocks_per_sm = blocks;
  return result;
}

constexpr std::array<std::string_view, 7> kPresets = {"sm_75", "sm_80",  "sm_86", "sm_89",
                                                      "sm_90", "sm_100", "sm_120"};

}  // namespace

std::span<const std::string_view> preset_names() { return kPresets; }

DeviceLimits DeviceLimits::preset(std::string_view name) {
  if (name == "sm_75") return limits(name, 7, 5, 40, 1590, 64, 0, 32, 16);
  if (name == "sm_80") return limits(name, 8, 0, 108, 1410, 164, 1, 64, 32);
  if (name == "sm_86") return limits(name, 8, 6, 82, 1695, 100, 1, 48, 16);
  if (name == "sm_89") return limits(name, 8, 9, 128, 2520, 100, 1, 48, 24);
  if (name == "sm_90") return limits(name, 9, 0, 132, 1755, 228, 1, 64, 32);
  if (name == "sm_100") return limits(name, 10, 0, 148, 1965, 228, 1, 64, 32);
  if (name == "sm_120") return limits(name, 12, 0, 170, 2407, 100, 1, 48, 24);
  throw InvalidArgument(
      fmt::format("architecture '{}' has no preset; use {}", name, fmt::join(kPresets, ", ")));
}

std::string DeviceLimits::arch() const {
  return fmt::format("sm_{}{}", compute_major, compute_minor);
}

std::int64_t DeviceLimits::shared_budget() const {
  if (shared_per_block_optin > 0) return shared_per_block_optin;
  if (shared_per_block > 0) return shared_per_block;
  return 48 * kKiB;
}

}  // namespace vnjit
