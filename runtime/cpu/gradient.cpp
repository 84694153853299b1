#include <algorithm>

#include "vnjit/runtime/check_arguments.hpp"
#include "vnjit/runtime/cpu/operations.hpp"
#include "vnjit/runtime/cpu/population_sum.hpp"
#include "vnjit/runtime/cpu/vector_clones.hpp"
#include "vnjit/runtime/gradient_update.hpp"

namespace vnjit::cpu {
namespace {

/// A noise row this much longer than its columns is summed whole, to keep rows together.
constexpr std::int64_t kMaxGap = 64;

/// How a block is cut into tasks: runs of noise elements, one for all rows or one for each.
struct Runs {
  std::int64_t count;     ///< runs of the block
  std::int64_t elements;  ///< of one run, unused ones between rows included
  std::int64_t chunks;    ///< of one run
};

Runs runs_of(const GradientBlock& block) {
  if (block.rows == 0 || block.columns == 0) return {0, 0, 1};
  const bool whole = block.noise_row_stride - block.columns < kMaxGap;
  const std::int64_t elements =
      whole ? (block.rows - 1) * block.noise_row_stride + block.columns : block.columns;
  return {whole ? 1 : block.rows, elements, (elements + kSumElements - 1) / kSumElements};
}

VNJIT_VECTOR_CLONES
void sgd_steps(float learning_rate, const float* gradients, std::int64_t count, float* weights) {
  for (std::int64_t n = 0; n < count; ++n) {
    weights[n] = sgd_step(weights[n], gradients[n], learning_rate);
  }
}

VNJIT_VECTOR_CLONES
void adam_steps(const AdamStep& step, const float* gradients, std::int64_t count, float* weights,
                float* first_moments, float* second_moments) {
  for (std::int64_t n = 0; n < count; ++n) {
    weights[n] = adam_step(step, weights[n], gradients[n], first_moments[n], second_moments[n]);
  }
}

/// What becomes of a gradient: it is written, and parameters step along it.
class Results {
 public:
  Results(Update update, const UpdateStep& step)
      : update_(update), learning_rate_(step.learning_rate) {
    if (update == Update::adam) adam_ = adam_step_of(step);
  }

  /// Of the elements [first, first + count) of a block's noise, what is in its columns.
  void take(const GradientBlock& block, std::int64_t first, std::int64_t count,
            const float* gradients) const {
    for (std::int64_t n = 0; n < count;) {
      const std::int64_t row = (first + n) / block.noise_row_stride;
      const std::int64_t column = (first + n) % block.noise_row_stride;
      const std::int64_t end = std::min(count, n + block.columns - column);
      if (n < end) take_row(block, row, column, end - n, gradients + n);
      n += block.noise_row_stride - column;
    }
  }

 private:
  void take_row(const GradientBlock& block, std::int64_t row, std::int64_t column,
                std::int64_t count, const float* gradients) const {
    if (block.output != nullptr) {
      std::copy_n(gradients, count, block.output + row * block.output_row_stride + column);
    }
    const std::int64_t at = row * block.weight_row_stride + column;
    if (update_ == Update::sgd) {
      sgd_steps(learning_rate_, gradients, count, block.weight + at);
    } else if (update_ == Update::adam) {
      adam_steps(adam_, gradients, count, block.weight + at, block.first_moment + at,
                 block.second_moment + at);
    }
  }

  Update update_;
  float learning_rate_;
  AdamStep adam_{};
};

}  // namespace

void gradient(const Gradient& problem, const GradientArguments& arguments, ThreadPool& pool) {
  const PopulationSum sum(problem, arguments);
  const Results results(problem.update, arguments.update);
  std::int64_t tasks = 0;
  for (std::size_t b = 0; b < arguments.blocks.size(); ++b) {
    const Runs runs = runs_of(checked(arguments.blocks[b], b));
    tasks += runs.count * runs.chunks;
  }
  pool.parallel_for(tasks, [&](std::int64_t task) {
    std::size_t b = 0;
    GradientBlock block = checked(arguments.blocks[b], b);
    Runs runs = runs_of(block);
    while (task >= runs.count * runs.chunks) {
      task -= runs.count * runs.chunks;
      ++b;
      block = checked(arguments.blocks[b], b);
      runs = runs_of(block);
    }
    const std::int64_t chunk = task % runs.chunks * kSumElements;
    const std::int64_t first = task / runs.chunks * block.noise_row_stride + chunk;
    const std::int64_t count = std::min(kSumElements, runs.elements - chunk);
    float gradients[kSumElements];
    sum.make(static_cast<std::uint64_t>(block.offset + first), count, gradients);
    results.take(block, first, count, gradients);
  });
}

}  // namespace vnjit::cpu
