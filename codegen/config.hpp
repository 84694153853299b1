#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "vnjit/codegen/device_limits.hpp"
#include "vnjit/codegen/problem.hpp"

namespace vnjit {

/// How a kernel is built, by what multiplies.
enum class Family {
  simt,      ///< fp32 multiply-adds on ordinary cores: any size, stride and alignment
  mma_sync,  ///< warp-wide tensor core products (mma.sync), sm_80 and later
  wgmma,     ///< tensor core products of four warps fed by the copy engine, sm_90
};

std::string_view to_string(Family family);

/// Throws ConfigError naming the families.
Family parse_family(std::string_view name);

/// How a problem's kernel is laid out. What follows from it is a method or a function.
///
/// Perturbed linear: a thread block computes tiles of block_batch x block_out of one individual's Y
/// in stages of block_in along `in`, tiles of X and W in a shared-memory pipeline of `stages`.
/// Gradient and reduce metric load no tiles: a warp takes segments of block_in noise elements,
/// stages, block_out and block_batch are 1.
///
/// The tensor families keep two products apart, X·W^T and X·N^T, each operand as exact as its type
/// allows (`split`), or round W + sigma·N to the operands' type and make one (`fused`).
struct Config {
  Family family = Family::simt;
  bool fused = false;  ///< tensor families only; simt adds W + sigma·N in fp32
  int block_out = 64;
  int block_batch = 64;
  int block_in = 64;
  int stages = 2;
  int warps = 8;
  int blocks_per_sm = 1;  ///< resident thread blocks a multiprocessor it counts on
  int individuals = 1;    ///< that a block computes side by side; tensor families, reduce metric

  int threads() const { return warps * 32; }

  friend bool operator==(const Config&, const Config&) = default;
};

/// For example `simt_o64b64k64_s2_w8_r1`, `mma_sync_o64b8k64_s2_w4_r2_i8`, `wgmma_fused_o128...`.
std::string to_string(const Config& config);

/// Inverse of to_string. Throws ConfigError naming the part that does not parse.
Config parse_config(std::string_view text);

/// Bytes of one pipeline stage; 0 where the operation has no pipeline.
std::int64_t stage_bytes(const Config& config, const Problem& problem);

/// Bytes of shared memory a block needs outside its pipeline.
std::int64_t fixed_shared_bytes(const Config& config, const Problem& problem);

/// Bytes of shared memory of a block: fixed plus all stages.
std::int64_t shared_bytes(const Config& config, const Problem& problem);

/// Throws ConfigError naming the field, its value and what is allowed.
void validate(const Config& config, const Problem& problem, const DeviceLimits& limits);

inline bool is_tensor(Family family) { return family != Family::simt; }

}  // namespace vnjit
