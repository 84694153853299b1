#pragma once

#include <span>
#include <vector>

namespace es_digits {

/// Kingma & Ba, "Adam: a method for stochastic optimization", 2015, climbing instead of
/// descending. Each step is about `rate` long in every coordinate, whatever the gradient's scale.
class Adam {
 public:
  Adam(std::size_t parameters, float rate);

  void ascend(std::span<float> parameters, std::span<const float> gradient);

 private:
  float rate_;
  int steps_ = 0;
  std::vector<float> mean_;
  std::vector<float> square_;
};

}  // namespace es_digits
