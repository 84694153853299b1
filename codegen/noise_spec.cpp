#include "vnjit/codegen/noise_spec.hpp"

#include <fmt/format.h>

#include "noise/contract.cuh"
#include "vnjit/codegen/error.hpp"
#include "vnjit/codegen/parse.hpp"

namespace vnjit {
namespace {

constexpr NoiseSpec kTriton{Generator::triton, Distribution::uniform, 10};
constexpr NoiseSpec kSplitMix64{Generator::splitmix64, Distribution::uniform, 0};

std::string_view distribution_name(Distribution distribution) {
  switch (distribution) {
    case Distribution::uniform:
      return "uniform";
    case Distribution::uniform8:
      return "uniform8";
    case Distribution::rademacher:
      return "rademacher";
    case Distribution::normal:
      return "normal";
  }
  return "?";
}

NoiseSpec generator_defaults(std::string_view name) {
  if (name == "triton") return kTriton;
  if (name == "splitmix64") return kSplitMix64;
  if (name == "philox") return NoiseSpec{};
  throw InvalidArgument(
      fmt::format("noise generator '{}' is unknown; use triton, splitmix64 or philox", name));
}

Distribution parse_distribution(std::string_view name) {
  for (const Distribution distribution : {Distribution::uniform, Distribution::uniform8,
                                          Distribution::rademacher, Distribution::normal}) {
    if (name == distribution_name(distribution)) return distribution;
  }
  throw InvalidArgument(fmt::format(
      "noise distribution '{}' is unknown; use uniform, uniform8, rademacher or normal", name));
}

void require_fixed(const NoiseSpec& noise, const NoiseSpec& fixed, std::string_view name) {
  if (noise.distribution != fixed.distribution) {
    throw InvalidArgument(
        fmt::format("noise distribution {} is not defined for {}; it has uniform only",
                    distribution_name(noise.distribution), name));
  }
  if (noise.rounds != fixed.rounds) {
    throw InvalidArgument(fmt::format("noise rounds {} are not defined for {}; it has {}",
                                      noise.rounds, name, fixed.rounds));
  }
}

}  // namespace

int noise_contract_version() { return noise::kContractVersion; }

double NoiseSpec::variance() const {
  if (distribution == Distribution::rademacher || distribution == Distribution::normal) return 1.0;
  if (generator != Generator::philox) return 1.0 / 12.0;
  return (1.0 - (distribution == Distribution::uniform8 ? 0x1p-16 : 0x1p-46)) / 12.0;
}

void NoiseSpec::validate() const {
  if (generator != Generator::triton && generator != Generator::splitmix64 &&
      generator != Generator::philox) {
    throw InvalidArgument(
        fmt::format("noise generator {} is no Generator", static_cast<int>(generator)));
  }
  if (distribution_name(distribution) == "?") {
    throw InvalidArgument(
        fmt::format("noise distribution {} is no Distribution", static_cast<int>(distribution)));
  }
  if (generator == Generator::triton) return require_fixed(*this, kTriton, "triton");
  if (generator == Generator::splitmix64) return require_fixed(*this, kSplitMix64, "splitmix64");
  if (rounds != 7 && rounds != 10) {
    throw InvalidArgument(
        fmt::format("noise rounds {} are not offered for philox; use 7 or 10", rounds));
  }
}

std::string to_string(const NoiseSpec& noise) {
  if (noise.generator == Generator::triton) return "triton";
  if (noise.generator == Generator::splitmix64) return "splitmix64";
  return fmt::format("philox:{}:{}", distribution_name(noise.distribution), noise.rounds);
}

NoiseSpec parse_noise_spec(std::string_view text) {
  const auto parts = split(text, ':');
  if (parts.size() > 3) {
    throw InvalidArgument(fmt::format(
        "noise '{}' has more than three parts; use GENERATOR[:DISTRIBUTION[:ROUNDS]]", text));
  }
  NoiseSpec noise = generator_defaults(parts[0]);
  if (parts.size() > 1) noise.distribution = parse_distribution(parts[1]);
  if (parts.size() > 2) {
    const auto rounds = parse_integer<int>(parts[2]);
    if (!rounds) {
      throw InvalidArgument(fmt::format("noise rounds '{}' are not a whole number", parts[2]));
    }
    noise.rounds = *rounds;
  }
  noise.validate();
  return noise;
}

}  // namespace vnjit
