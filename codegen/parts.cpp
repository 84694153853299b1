#include "vnjit/codegen/parts.hpp"

#include <fmt/format.h>

namespace vnjit {

std::string constant(std::string_view name, std::int64_t value, std::string_view why) {
  return fmt::format("constexpr int {} = {};{}{}\n", name, value, why.empty() ? "" : "  // ", why);
}

std::string includes(const std::vector<std::string>& files) {
  std::string text;
  for (const std::string& file : files) text += fmt::format("#include \"{}\"\n", file);
  return text;
}

std::string noise_fragment(const NoiseSpec& noise) {
  switch (noise.generator) {
    case Generator::triton:
      return "noise/triton.cuh";
    case Generator::splitmix64:
      return "noise/splitmix64.cuh";
    case Generator::philox:
      break;
  }
  switch (noise.distribution) {
    case Distribution::uniform:
      return "noise/philox_uniform.cuh";
    case Distribution::uniform8:
      return "noise/philox_uniform8.cuh";
    case Distribution::rademacher:
      return "noise/philox_rademacher.cuh";
    case Distribution::normal:
      return "noise/philox_normal.cuh";
  }
  return {};
}

std::string noise_type(const NoiseSpec& noise) {
  switch (noise.generator) {
    case Generator::triton:
      return "noise::Triton";
    case Generator::splitmix64:
      return "noise::SplitMix64";
    case Generator::philox:
      break;
  }
  switch (noise.distribution) {
    case Distribution::uniform:
      return fmt::format("noise::PhiloxUniform<{}>", noise.rounds);
    case Distribution::uniform8:
      return fmt::format("noise::PhiloxUniform8<{}>", noise.rounds);
    case Distribution::rademacher:
      return fmt::format("noise::PhiloxRademacher<{}>", noise.rounds);
    case Distribution::normal:
      return fmt::format("noise::PhiloxNormal<{}>", noise.rounds);
  }
  return {};
}

}  // namespace vnjit
