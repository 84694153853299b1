#include "vnjit/codegen/sum_config.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <string_view>

#include "vnjit/codegen/family_limits.hpp"
#include "vnjit/codegen/require.hpp"

namespace vnjit {
namespace {

constexpr int kMaxGroup = 64;  // individuals whose sums a reduce metric's block keeps

std::int64_t round_up(std::int64_t value, std::int64_t multiple) {
  return (value + multiple - 1) / multiple * multiple;
}

/// A seed's round keys in shared memory: 8 bytes a round, or the seed.
std::int64_t alignment(const NoiseSpec& noise) {
  return noise.generator == Generator::splitmix64 ? 8 : 16;
}
std::int64_t key_bytes(const NoiseSpec& noise) {
  return round_up(std::int64_t{8} * std::max(noise.rounds, 1), alignment(noise));
}

void validate_untiled(const Config& config, std::string_view operation) {
  require(config.block_out == 1 && config.block_batch == 1, [&] {
    return fmt::format("block_out and block_batch are {} and {}; {} has no such tiles, both are 1",
                       config.block_out, config.block_batch, operation);
  });
  require(config.stages == 1, [&] {
    return fmt::format("stages is {}; {} loads no tiles, it is 1", config.stages, operation);
  });
  require(!config.fused,
          [&] { return fmt::format("fused is set; {} has no such form", operation); });
}

void validate_segment(const Config& config, int elements) {
  require(config.block_in == elements, [&] {
    return fmt::format("block_in is {}; a warp takes {} elements here", config.block_in, elements);
  });
}

}  // namespace

bool has_integer_sums(const NoiseSpec& noise) {
  return noise.generator == Generator::philox && (noise.distribution == Distribution::uniform8 ||
                                                  noise.distribution == Distribution::rademacher);
}

int segment_elements(const Gradient& problem, Family family) {
  return family == Family::mma_sync && problem.noise.distribution == Distribution::rademacher
             ? 2 * kSegment
             : kSegment;
}

int total_bytes(const Gradient& problem) { return has_integer_sums(problem.noise) ? 8 : 4; }

std::int64_t sum_fixed_bytes(const Config& config, const Gradient& problem) {
  const std::int64_t keys = key_bytes(problem.noise);
  const std::int64_t individual = round_up(keys + 4, alignment(problem.noise));
  const std::int64_t total = total_bytes(problem);
  const std::int64_t warp = config.block_in * total + total + 4;  // totals, fitness, its bits
  return round_up(config.threads() * individual + config.warps * warp + 4,
                  alignment(problem.noise));
}

std::int64_t sum_fixed_bytes(const Config& config, const ReduceMetric& problem) {
  constexpr std::int64_t kSum = 8;
  return round_up(config.individuals * (key_bytes(problem.noise) + config.threads() * kSum) + 4,
                  alignment(problem.noise));
}

void validate_sum(const Config& config, const Gradient& problem, const DeviceLimits& limits) {
  require(config.family != Family::wgmma, [&] {
    return std::string("family is wgmma; kernels of gradients are simt or mma_sync");
  });
  require(config.family == Family::simt || has_integer_sums(problem.noise), [&] {
    return fmt::format(
        "family is mma_sync; noise is {}, and its products are those of philox:uniform8 and "
        "philox:rademacher",
        to_string(problem.noise));
  });
  require(config.family == Family::simt || limits.compute_major >= 8, [&] {
    return fmt::format("family is mma_sync; {} has none, it is of sm_80 and later", limits.arch());
  });
  validate_untiled(config, operation_name(problem));
  validate_segment(config, segment_elements(problem, config.family));
  require(is_power_of_two(config.warps) && config.warps <= 8, [&] {
    return fmt::format("warps is {}; a gradient has a power of two from 1 to 8", config.warps);
  });
  require(config.individuals == 1, [&] {
    return fmt::format("individuals is {}; of a gradient it is 1", config.individuals);
  });
}

void validate_sum(const Config& config, const ReduceMetric& problem) {
  require(config.family == Family::simt, [&] {
    return fmt::format("family is {}; kernels of {} are simt", to_string(config.family),
                       operation_name(problem));
  });
  validate_untiled(config, operation_name(problem));
  validate_segment(config, kSegment);
  require(config.individuals >= 2 && config.individuals <= kMaxGroup && config.individuals % 2 == 0,
          [&] {
            return fmt::format("individuals is {}; it is an even number from 2 to {}",
                               config.individuals, kMaxGroup);
          });
}

std::vector<Config> sum_layouts(const Gradient& problem, const DeviceLimits& limits) {
  std::vector<Config> result;
  for (const Family family : {Family::mma_sync, Family::simt}) {
    // 16 resident warps leave a thread 128 registers, which the slowest generators use up, and 8
    // leave it 255: bits of rademacher noise take 128 for their sums alone.
    const bool bits =
        family == Family::mma_sync && problem.noise.distribution == Distribution::rademacher;
    for (const int warps : {8, 4}) {
      Config config{.family = family,
                    .block_out = 1,
                    .block_batch = 1,
                    .block_in = segment_elements(problem, family),
                    .stages = 1,
                    .warps = warps};
      config.blocks_per_sm =
          std::min((bits ? 8 : 16) / warps,
                   std::max(1, resident_blocks(warps, sum_fixed_bytes(config, problem), limits)));
      result.push_back(config);
    }
  }
  return result;
}

std::vector<Config> sum_layouts(const ReduceMetric&) {
  std::vector<Config> result;
  for (const int resident : {3, 2, 1}) {
    result.push_back({.block_out = 1,
                      .block_batch = 1,
                      .block_in = kSegment,
                      .stages = 1,
                      .warps = 8,
                      .blocks_per_sm = resident,
                      .individuals = 16});
  }
  return result;
}

}  // namespace vnjit
