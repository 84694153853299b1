#include "vnjit/runtime/tune/statistics.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>

#include "vnjit/codegen/error.hpp"

namespace vnjit {
namespace {

std::vector<double> ranks(std::span<const double> values) {
  std::vector<std::size_t> order(values.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::ranges::sort(order, {}, [&](std::size_t n) { return values[n]; });
  std::vector<double> result(values.size());
  for (std::size_t first = 0; first < order.size();) {
    std::size_t end = first;
    while (end < order.size() && values[order[end]] == values[order[first]]) ++end;
    const double mean = (static_cast<double>(first) + static_cast<double>(end - 1)) / 2;
    for (; first < end; ++first) result[order[first]] = mean;
  }
  return result;
}

}  // namespace

double median(std::vector<double> values) {
  if (values.empty()) return 0;
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::ranges::nth_element(values, middle);
  if (values.size() % 2 != 0) return *middle;
  return (*middle + *std::max_element(values.begin(), middle)) / 2;
}

double error_of_median(const std::vector<double>& values) {
  if (values.empty()) return 0;
  const double center = median(values);
  std::vector<double> off;
  for (const double value : values) off.push_back(std::abs(value - center));
  return 1.2533 * 1.4826 * median(off) / std::sqrt(static_cast<double>(values.size()));
}

double rank_correlation(std::span<const double> first, std::span<const double> second) {
  if (first.size() != second.size()) {
    throw InvalidArgument(fmt::format("{} and {} values have no rank correlation; give as many",
                                      first.size(), second.size()));
  }
  const std::vector<double> a = ranks(first);
  const std::vector<double> b = ranks(second);
  const double mean = (static_cast<double>(a.size()) - 1) / 2;
  double ab = 0;
  double aa = 0;
  double bb = 0;
  for (std::size_t n = 0; n < a.size(); ++n) {
    ab += (a[n] - mean) * (b[n] - mean);
    aa += (a[n] - mean) * (a[n] - mean);
    bb += (b[n] - mean) * (b[n] - mean);
  }
  return aa > 0 && bb > 0 ? ab / std::sqrt(aa * bb) : 0;
}

}  // namespace vnjit
