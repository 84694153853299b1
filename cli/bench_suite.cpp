#include "bench_suite.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "bench_forward.hpp"
#include "bench_gradient.hpp"
#include "bench_reduce.hpp"
#include "vnjit/codegen/error.hpp"

namespace vnjit::cli {
namespace {

std::array<Suite, 3> suites() { return {forward_suite(), gradient_suite(), reduce_suite()}; }

/// A list of the names of what there is.
template <typename Range, typename Name>
std::string join_names(const Range& all, Name name) {
  std::vector<std::string_view> names(all.size());
  std::ranges::transform(all, names.begin(), name);
  return fmt::format("{}", fmt::join(names, ", "));
}

}  // namespace

std::string suite_names() { return join_names(suites(), &Suite::name); }

Suite suite_named(std::string_view name) {
  const auto all = suites();
  const auto found = std::ranges::find(all, name, &Suite::name);
  if (found == all.end()) {
    throw InvalidArgument(fmt::format("there is no suite '{}'; use {}", name, suite_names()));
  }
  return *found;
}

std::vector<NoiseVariant> noise_variants() {
  return {{"", NoiseSpec{}},
          {"-uniform", parse_noise_spec("philox:uniform")},
          {"-triton", parse_noise_spec("triton")},
          {"-normal", parse_noise_spec("philox:normal")},
          {"-rademacher", parse_noise_spec("philox:rademacher")}};
}

std::vector<BenchCase> named_cases(const Suite& suite, std::span<const std::string> names) {
  std::vector<BenchCase> all = suite.cases();
  if (names.empty()) return all;
  std::vector<BenchCase> cases;
  for (const std::string& name : names) {
    const auto found = std::ranges::find(all, name, &BenchCase::name);
    if (found == all.end()) {
      throw InvalidArgument(
          fmt::format("there is no case '{}'; use {}", name, join_names(all, &BenchCase::name)));
    }
    cases.push_back(*found);
  }
  return cases;
}

}  // namespace vnjit::cli
