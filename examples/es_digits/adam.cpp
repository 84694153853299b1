#include "adam.hpp"

#include <cmath>

namespace es_digits {
namespace {

constexpr float kMeanDecay = 0.9f;
constexpr float kSquareDecay = 0.999f;
constexpr float kEpsilon = 1e-8f;

}  // namespace

Adam::Adam(std::size_t parameters) : mean_(parameters), square_(parameters) {}

void Adam::ascend(std::span<float> parameters, std::span<const float> gradient, float rate) {
  ++steps_;
  const float mean_weight = 1.0f - std::pow(kMeanDecay, static_cast<float>(steps_));
  const float square_weight = 1.0f - std::pow(kSquareDecay, static_cast<float>(steps_));
  for (std::size_t i = 0; i < parameters.size(); ++i) {
    mean_[i] += (1.0f - kMeanDecay) * (gradient[i] - mean_[i]);
    square_[i] += (1.0f - kSquareDecay) * (gradient[i] * gradient[i] - square_[i]);
    parameters[i] +=
        rate * (mean_[i] / mean_weight) / (std::sqrt(square_[i] / square_weight) + kEpsilon);
  }
}

}  // namespace es_digits
