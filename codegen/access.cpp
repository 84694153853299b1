#include "vnjit/codegen/access.hpp"

#include <fmt/format.h>

#include <array>
#include <vector>

#include "vnjit/codegen/error.hpp"
#include "vnjit/codegen/parse.hpp"

namespace vnjit {
namespace {

struct Part {
  std::string_view name;
  bool Access::*member;
  bool granted;  // value of the member when the part is named
};

constexpr std::array<Part, 3> kParts = {{{"rows16", &Access::vector_rows, true},
                                         {"noise64", &Access::aligned_noise, true},
                                         {"index32", &Access::wide_index, false}}};

// Counted in double: what overflows 64 bits is certainly wide.
bool is_wide(std::int64_t a, std::int64_t b, std::int64_t c = 1) {
  return static_cast<double>(a) * static_cast<double>(b) * static_cast<double>(c) >
         static_cast<double>(kMaxNarrowIndex);
}

}  // namespace

std::string to_string(const Access& access) {
  std::vector<std::string_view> names;
  for (const Part& part : kParts) {
    if (access.*part.member == part.granted) names.push_back(part.name);
  }
  return names.empty() ? "any" : fmt::format("{}", fmt::join(names, "+"));
}

Access parse_access(std::string_view text) {
  Access access;
  if (text == "any") return access;
  for (const std::string_view name : split(text, '+')) {
    bool known = false;
    for (const Part& part : kParts) {
      if (name != part.name) continue;
      access.*part.member = part.granted;
      known = true;
    }
    if (!known) {
      throw InvalidArgument(fmt::format(
          "access '{}' is unknown; use any, or rows16, noise64 and index32 joined by +", name));
    }
  }
  return access;
}

Access contiguous_access(const Problem& problem) {
  const auto* linear = std::get_if<PerturbedLinear>(&problem);
  if (!linear) return {};
  const std::int64_t pop = linear->layout == InputLayout::individual ? linear->pop : 1;
  Access access;
  access.vector_rows = linear->in % 16 * size_bytes(linear->input) % 16 == 0;
  access.aligned_noise = linear->noise.generator == Generator::philox && linear->in % 64 == 0;
  access.wide_index = is_wide(pop, linear->batch, linear->in) || is_wide(linear->out, linear->in) ||
                      is_wide(linear->pop, linear->batch, linear->out);
  return access;
}

}  // namespace vnjit
