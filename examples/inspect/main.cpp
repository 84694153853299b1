// Prints the source of two specializations and how they differ. Needs no GPU and no compiler.

#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <exception>
#include <string>
#include <string_view>
#include <vector>
#include <vnjit/vnjit.hpp>

namespace {

std::vector<std::string_view> lines_of(std::string_view text) {
  std::vector<std::string_view> lines;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    lines.push_back(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return lines;
}

/// common[i][j]: length of the longest common subsequence of a from line i on and b from j on.
std::vector<std::vector<int>> common_lengths(const std::vector<std::string_view>& a,
                                             const std::vector<std::string_view>& b) {
  std::vector<std::vector<int>> common(a.size() + 1, std::vector<int>(b.size() + 1));
  for (std::size_t i = a.size(); i-- > 0;) {
    for (std::size_t j = b.size(); j-- > 0;) {
      common[i][j] =
          a[i] == b[j] ? common[i + 1][j + 1] + 1 : std::max(common[i + 1][j], common[i][j + 1]);
    }
  }
  return common;
}

/// Lines of `a` alone behind `-`, lines of `b` alone behind `+`, each run of them behind a header
/// with the line numbers it starts at.
void print_difference(const std::vector<std::string_view>& a,
                      const std::vector<std::string_view>& b) {
  const std::vector<std::vector<int>> common = common_lengths(a, b);
  bool in_run = false;
  for (std::size_t i = 0, j = 0; i < a.size() || j < b.size();) {
    if (i < a.size() && j < b.size() && a[i] == b[j]) {
      in_run = false;
      ++i, ++j;
      continue;
    }
    if (!in_run) fmt::print("@@ -{} +{} @@\n", i + 1, j + 1);
    in_run = true;
    if (j == b.size() || (i < a.size() && common[i + 1][j] >= common[i][j + 1])) {
      fmt::print("-{}\n", a[i++]);
    } else {
      fmt::print("+{}\n", b[j++]);
    }
  }
}

void run() {
  const vnjit::DeviceLimits limits = vnjit::DeviceLimits::preset("sm_90");
  vnjit::PerturbedLinear problem{.pop = 256, .batch = 64, .in = 1024, .out = 1024};
  const vnjit::Config config = vnjit::choose_config(problem, limits);

  problem.bias = true;
  const vnjit::KernelSource with_bias = vnjit::emit(problem, config, limits);
  problem.bias = false;
  const vnjit::KernelSource without_bias = vnjit::emit(problem, config, limits);

  fmt::print("// ==== with bias: {}\n{}\n", with_bias.entry, with_bias.text);
  fmt::print("// ==== without bias: {}\n{}\n", without_bias.entry, without_bias.text);
  fmt::print("==== difference, - with bias, + without\n");
  print_difference(lines_of(with_bias.text), lines_of(without_bias.text));
}

}  // namespace

int main() {
  try {
    run();
  } catch (const std::exception& error) {
    std::fprintf(stderr, "inspect: %s\n", error.what());
    return 1;
  }
}
