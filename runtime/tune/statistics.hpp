#pragma once

#include <span>
#include <vector>

namespace vnjit {

/// 0 of nothing.
double median(std::vector<double> values);

/// The standard error of the median of values as they scatter: 1.2533 sigma / sqrt(n), of normal
/// values, with sigma = 1.4826 median |value - median|, which a few outliers do not move.
double error_of_median(const std::vector<double>& values);

/// Spearman's rank correlation, ties with their mean rank; 0 for fewer than two pairs or where one
/// side has but one value. Throws InvalidArgument for sides of different lengths.
double rank_correlation(std::span<const double> first, std::span<const double> second);

}  // namespace vnjit
