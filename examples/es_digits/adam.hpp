#pragma once

#include <span>
#include <vector>

namespace es_digits {

/// Kingma & Ba, "Adam: a method for stochastic optimization", 2015, climbing instead of
/// descending.
class Adam {
 public:
  explicit Adam(std::size_t parameters);

  /// Moves every parameter by about `rate`, whatever the scale of the gradient.
  void ascend(std::span<float> parameters, std::span<const float> gradient, float rate);

 private:
  int steps_ = 0;
  std::vector<float> mean_;
  std::vector<float> square_;
};

}  // namespace es_digits
