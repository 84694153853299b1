#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "vnjit/codegen/device_limits.hpp"
#include "vnjit/codegen/problem.hpp"

namespace vnjit {

/// How a kernel is built, by name of its method.
enum class Family {
  simt,  ///< fp32 multiply-adds on ordinary cores: any size, stride and alignment
};

/// How a problem's kernel is laid out. What follows from it is a method or a function.
///
/// Perturbed linear: a thread block computes block_batch x block_out of one individual's Y in
/// steps of block_in along `in`, tiles of X and W in a shared-memory pipeline of `stages`.
/// Gradient and reduce metric load no tiles: a block covers block_in parameters, stages is 1 and
/// block_out and block_batch are 1; a gradient's warps share the population.
struct Config {
  Family family = Family::simt;
  int block_out = 64;
  int block_batch = 64;
  int block_in = 64;
  int stages = 2;
  int warps = 8;
  int blocks_per_sm = 1;  ///< resident thread blocks a multiprocessor it counts on

  int threads() const { return warps * 32; }

  friend bool operator==(const Config&, const Config&) = default;
};

/// For example `simt_o64b64k64_s2_w8_r1`.
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

}  // namespace vnjit
