#include "vnjit/codegen/access.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <vector>

#include "vnjit/codegen/error.hpp"
#include "vnjit/codegen/parse.hpp"

namespace vnjit {
namespace {

void grant(Access& access, std::string_view name) {
  if (name == "rows16") {
    access.vector_rows = true;
  } else if (name == "noise16") {
    access.noise_alignment = std::max(access.noise_alignment, 16);
  } else if (name == "noise64") {
    access.noise_alignment = 64;
  } else if (name == "index32") {
    access.wide_index = false;
  } else if (name == "counter32") {
    access.wide_counter = false;
  } else {
    throw InvalidArgument(fmt::format(
        "access '{}' is unknown; use any, or rows16, noise16 or noise64, index32 and counter32 "
        "joined by +",
        name));
  }
}

// Counted in double: what overflows 64 bits is certainly wide.
bool is_wide(std::int64_t a, std::int64_t b, std::int64_t c = 1) {
  return static_cast<double>(a) * static_cast<double>(b) * static_cast<double>(c) >
         static_cast<double>(kMaxNarrowIndex);
}

}  // namespace

std::string to_string(const Access& access) {
  std::vector<std::string> names;
  if (access.vector_rows) names.emplace_back("rows16");
  if (access.noise_alignment > 1) names.push_back(fmt::format("noise{}", access.noise_alignment));
  if (!access.wide_index) names.emplace_back("index32");
  if (!access.wide_counter) names.emplace_back("counter32");
  return names.empty() ? "any" : fmt::format("{}", fmt::join(names, "+"));
}

Access parse_access(std::string_view text) {
  Access access;
  if (text == "any") return access;
  for (const std::string_view name : split(text, '+')) grant(access, name);
  return access;
}

int noise_alignment_of(std::int64_t elements) {
  if (elements % 64 == 0) return 64;
  return elements % 16 == 0 ? 16 : 1;
}

double noise_end(std::int64_t offset, std::int64_t out, std::int64_t noise_row_stride,
                 std::int64_t in) {
  constexpr double kTileRows = 256;  // a tile hangs over the end of W by fewer
  constexpr double kBlock = 64;      // and a row's last block of noise over the row's
  return static_cast<double>(offset) +
         (static_cast<double>(out) + kTileRows - 1) * static_cast<double>(noise_row_stride) +
         static_cast<double>(in) + kBlock;
}

std::int64_t narrow_noise_elements(const NoiseSpec& noise) {
  constexpr std::int64_t kCounters = std::int64_t{1} << 32;
  if (noise.generator != Generator::philox) return kCounters;
  switch (noise.distribution) {
    case Distribution::uniform:
    case Distribution::normal:
      return kCounters * 4;  // the values of a call
    case Distribution::uniform8:
    case Distribution::rademacher:  // kernels count its sixteens of elements, eight a call
      return kCounters * 16;
  }
  return kCounters;
}

Access contiguous_access(const Problem& problem) {
  const auto* linear = std::get_if<PerturbedLinear>(&problem);
  if (!linear) return {};
  const std::int64_t pop = linear->layout == InputLayout::individual ? linear->pop : 1;
  Access access;
  access.vector_rows = linear->in % 16 * size_bytes(linear->input) % 16 == 0;
  if (linear->noise.generator == Generator::philox) {
    access.noise_alignment = noise_alignment_of(linear->in);
  }
  access.wide_index = is_wide(pop, linear->batch, linear->in) || is_wide(linear->out, linear->in) ||
                      is_wide(linear->pop, linear->batch, linear->out);
  access.wide_counter = noise_end(0, linear->out, linear->in, linear->in) >
                        static_cast<double>(narrow_noise_elements(linear->noise));
  return access;
}

}  // namespace vnjit
