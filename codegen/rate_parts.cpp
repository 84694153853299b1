#include <fmt/format.h>

#include "vnjit/codegen/emit.hpp"
#include "vnjit/codegen/parts.hpp"

namespace vnjit {
namespace {

/// So many that what a thread does once a seed costs little beside them; more take registers.
constexpr int kCalls = 8;
constexpr int kLaneValues = 16;

/// Values of a Philox call whose words are values before they are numbers; 0 of other noise.
int word_values(const NoiseSpec& noise) {
  if (noise.generator != Generator::philox) return 0;
  if (noise.distribution == Distribution::uniform) return 4;
  if (noise.distribution == Distribution::uniform8) return 16;
  if (noise.distribution == Distribution::rademacher) return 128;
  return 0;
}

}  // namespace

std::int64_t noise_rate_values(const NoiseSpec& noise) {
  const int values = word_values(noise);
  return values == 0 ? kLaneValues : kCalls * values;
}

Parts noise_rate_parts(const NoiseSpec& noise, int threads) {
  const bool words = word_values(noise) != 0;
  Parts parts;
  parts.root = "simt/noise_rate.cuh";
  parts.function = "noise_rate";
  parts.params = "NoiseRateParams";
  parts.summary =
      words ? fmt::format("the words of {} calls", kCalls) : fmt::format("{} floats", kLaneValues);
  parts.includes = {noise_fragment(noise)};
  parts.constants =
      fmt::format("using Noise = {};\n\n", noise_type(noise)) + constant("kThreads", threads);
  if (words) {
    parts.constants += constant("kCalls", kCalls);
    parts.files["simt/rate_noise.cuh"] = includes({"simt/rate_words.cuh"});
  } else {
    parts.files["simt/rate_noise.cuh"] = includes({"simt/rate_values.cuh"});
    parts.files["simt/lane_noise.cuh"] = includes({lane_fragment(noise)});
  }
  return parts;
}

}  // namespace vnjit
