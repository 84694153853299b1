#include "vnjit/runtime/check_update.hpp"

#include <fmt/format.h>

#include <array>
#include <cmath>
#include <string_view>

#include "vnjit/codegen/error.hpp"

namespace vnjit {
namespace {

struct Buffer {
  std::string_view name;
  const float* data;
  bool used;    ///< by the update
  bool needed;  ///< where the block is not empty
};

void check_decay(std::string_view name, float value) {
  if (value >= 0.0f && value < 1.0f) return;
  throw InvalidArgument(
      fmt::format("update.{} is {}; it must be at least 0 and below 1", name, value));
}

void check_use(Update update, const Buffer& buffer, std::size_t index) {
  if (buffer.used || buffer.data == nullptr) return;
  throw InvalidArgument(fmt::format(
      "blocks[{}].{} is given; this plan's problem has {}: pass null", index, buffer.name,
      update == Update::none ? "no update" : "update sgd, which keeps no moments"));
}

void check_given(const Buffer& buffer, std::size_t index) {
  if (!buffer.needed || buffer.data != nullptr) return;
  throw InvalidArgument(fmt::format("blocks[{}].{} is null; allowed only when rows or columns is 0",
                                    index, buffer.name));
}

}  // namespace

void check_step(Update update, const UpdateStep& step) {
  if (update == Update::none) return;
  if (!std::isfinite(step.learning_rate)) {
    throw InvalidArgument(
        fmt::format("update.learning_rate is {}; it must be finite", step.learning_rate));
  }
  if (update == Update::sgd) return;
  check_decay("beta1", step.beta1);
  check_decay("beta2", step.beta2);
  if (!(step.epsilon > 0.0f && std::isfinite(step.epsilon))) {
    throw InvalidArgument(
        fmt::format("update.epsilon is {}; it must be finite and above 0", step.epsilon));
  }
  if (step.step < 1) {
    throw InvalidArgument(fmt::format("update.step is {}; steps are counted from 1", step.step));
  }
}

void check_update(Update update, const GradientBlock& block, std::size_t index) {
  const bool any = block.rows > 0 && block.columns > 0;
  const bool weight = update != Update::none;
  const bool moments = update == Update::adam;
  const std::array<Buffer, 4> buffers{{
      {"output", block.output, true, any && !weight},
      {"weight", block.weight, weight, any && weight},
      {"first_moment", block.first_moment, moments, any && moments},
      {"second_moment", block.second_moment, moments, any && moments},
  }};
  for (const Buffer& buffer : buffers) {
    check_use(update, buffer, index);
    check_given(buffer, index);
  }
}

}  // namespace vnjit
