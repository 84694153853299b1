#pragma once

#include <cstdint>

#include "vnjit/codegen/problem.hpp"
#include "vnjit/runtime/arguments.hpp"

namespace vnjit::cpu {

/// Noise elements summed at a time, so that they stay in the first cache.
constexpr std::int64_t kSumElements = 1024;

/// A gradient's sums of fitness times noise over the population, for any part of the noise. Keeps
/// both arguments; those of the run are checked ones.
class PopulationSum {
 public:
  PopulationSum(const Gradient& problem, const GradientArguments& arguments);

  /// gradients[n] = that of noise element first + n, for n < count <= kSumElements: the same bits
  /// whatever the first and the count. All are NaN where sums are integers and not every fitness,
  /// or difference of a pair, is finite. Any number of threads may call it.
  void make(std::uint64_t first, std::int64_t count, float* gradients) const;

 private:
  float fitness_of(std::int64_t seed) const;
  void make_integers(std::uint64_t first, std::int64_t count, float* gradients) const;
  void make_floats(std::uint64_t first, std::int64_t count, float* gradients) const;

  const NoiseSpec& noise_;
  const GradientArguments& arguments_;
  std::int64_t seeds_;
  bool integers_;
  bool finite_ = true;
  int shift_ = 0;       ///< of the fixed point
  double unit_ = 1.0;   ///< of integer noise
  double scale_ = 1.0;  ///< what makes the gradient of a sum
};

}  // namespace vnjit::cpu
