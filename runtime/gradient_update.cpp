#include "vnjit/runtime/gradient_update.hpp"

#include <cmath>

namespace vnjit {
namespace {

/// What of a moment its decay has filled by `step`, from 0 at the start.
double filled(float decay, std::int64_t step) {
  return 1.0 - std::pow(static_cast<double>(decay), static_cast<double>(step));
}

}  // namespace

AdamStep adam_step_of(const UpdateStep& step) {
  return {.learning_rate = static_cast<float>(static_cast<double>(step.learning_rate) /
                                              filled(step.beta1, step.step)),
          .beta1 = step.beta1,
          .beta2 = step.beta2,
          .root_correction = static_cast<float>(1.0 / std::sqrt(filled(step.beta2, step.step))),
          .epsilon = step.epsilon};
}

}  // namespace vnjit
