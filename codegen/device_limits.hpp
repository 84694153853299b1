#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

namespace vnjit {

/// What the choice of a config needs to know of a device, as plain data: filled by a device query
/// at run time or from a named preset, so that everything up to the binary needs no GPU.
struct DeviceLimits {
  std::string name = "sm_90";  ///< preset name, or the device's own
  int compute_major = 9;       ///< compute capability
  int compute_minor = 0;
  int sm_count = 132;
  int clock_mhz = 1755;                        ///< the highest of the multiprocessors
  std::int64_t shared_per_block = 49152;       ///< bytes, without opt-in
  std::int64_t shared_per_block_optin = 0;     ///< bytes; 0 where the device does not report it
  std::int64_t shared_per_sm = 0;              ///< bytes
  std::int64_t shared_reserved_per_block = 0;  ///< bytes the system takes of each block's share
  int registers_per_sm = 65536;
  int registers_per_thread = 255;
  int max_warps_per_sm = 64;
  int max_blocks_per_sm = 32;
  int max_threads_per_block = 1024;
  std::int64_t max_grid_x = 2147483647;

  /// `sm_90`: the architecture a kernel is compiled for.
  std::string arch() const;

  /// Shared memory one block may use: opt-in limit, else the default limit, else 48 KB.
  std::int64_t shared_budget() const;

  /// Whether copies from global to shared memory can run in the background (cp.async).
  bool has_async_copy() const { return compute_major >= 8; }

  /// Whether thread blocks can be launched in clusters that read each other's shared memory.
  bool has_clusters() const { return compute_major >= 9; }

  /// Whether a warpgroup can multiply matrices out of shared memory (wgmma: sm_90a alone).
  bool has_wgmma() const { return compute_major == 9 && compute_minor == 0; }

  friend bool operator==(const DeviceLimits&, const DeviceLimits&) = default;

  /// `sm_75`, `sm_80`, `sm_86`, `sm_89`, `sm_90`, `sm_100` or `sm_120`, with the limits of CUDA's
  /// table of compute capabilities and the SM count and boost clock of T4, A100, RTX 3090,
  /// RTX 4090, H100/H200, B200 and RTX 5090. Throws InvalidArgument naming the presets.
  static DeviceLimits preset(std::string_view name);
};

std::span<const std::string_view> preset_names();

}  // namespace vnjit
