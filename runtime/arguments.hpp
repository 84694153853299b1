#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

// What one run of a plan is given. Every pointer points into the memory of the plan's device:
// device memory for a GPU, host memory for the CPU backend, unless it says otherwise. Strides are
// in elements; 0 means contiguous. Nothing is written but the named outputs.

namespace vnjit {

/// Perturbation scale: a value, or a pointer to one float in the memory of the device, read when
/// the kernel runs (a captured graph would freeze a value).
struct Sigma {
  float value = 0.0f;
  const float* pointer = nullptr;

  Sigma() = default;
  Sigma(float scale) : value(scale) {}
  Sigma(const float* scale) : pointer(scale) {}
};

/// Scratch memory of the device, at least Plan::workspace_bytes(...), 256-byte aligned. With null
/// data a run that needs some allocates it in the order of its stream.
struct Workspace {
  void* data = nullptr;
  std::size_t bytes = 0;
};

struct PerturbedLinearArguments {
  const void* x = nullptr;              ///< (batch, in) or (pop, batch, in), of problem.input
  const void* weight = nullptr;         ///< (out, in), of problem.input
  const void* bias = nullptr;           ///< (out), of problem.input; null without bias
  const std::int64_t* seeds = nullptr;  ///< (pop), or (pop / 2) with antithetic noise
  void* y = nullptr;                    ///< (pop, batch, out), of problem.output; written
  Sigma sigma{};                        ///< any finite value, negative and zero too
  std::int64_t offset = 0;              ///< noise element of weight (0, 0)
  std::int64_t pop = 0;
  std::int64_t batch = 0;
  std::int64_t in = 0;
  std::int64_t out = 0;
  std::int64_t x_row_stride = 0;         ///< at least in
  std::int64_t x_individual_stride = 0;  ///< at least batch rows; only with individual layout
  std::int64_t weight_row_stride = 0;    ///< at least in
  std::int64_t y_row_stride = 0;         ///< at least out
  std::int64_t y_individual_stride = 0;  ///< at least batch rows
  std::int64_t noise_row_stride = 0;     ///< at least in; noise elements from row to row
};

/// One block of parameters of a gradient. What the problem's update has no use for stays null.
struct GradientBlock {
  std::int64_t offset = 0;  ///< noise element of (0, 0)
  std::int64_t rows = 0;
  std::int64_t columns = 0;
  float* output = nullptr;  ///< (rows, columns); written; may be null where there is an update
  std::int64_t output_row_stride = 0;
  std::int64_t noise_row_stride = 0;
  float* weight = nullptr;             ///< (rows, columns); updated in place
  float* first_moment = nullptr;       ///< (rows, columns); of adam, updated in place; 0 at first
  float* second_moment = nullptr;      ///< likewise
  std::int64_t weight_row_stride = 0;  ///< of weight and of both moments
};

/// The step of an update. A captured graph freezes it.
struct UpdateStep {
  float learning_rate = 0.0f;  ///< finite; below 0 it goes downhill
  float beta1 = 0.9f;          ///< adam: decay of the first moment, in [0, 1)
  float beta2 = 0.999f;        ///< adam: decay of the second moment, in [0, 1)
  float epsilon = 1e-8f;       ///< adam: above 0; added to the root of the second moment
  std::int64_t step = 1;       ///< adam: number of this step, from 1
};

struct GradientArguments {
  const float* fitness = nullptr;           ///< (pop)
  const std::int64_t* seeds = nullptr;      ///< (pop), or (pop / 2) with antithetic noise
  Sigma sigma{};                            ///< finite, not 0
  std::int64_t pop = 0;                     ///< individuals summed here, at least 1
  std::int64_t pop_size = 0;                ///< the divisor; 0: pop
  UpdateStep update{};                      ///< where the problem has an update
  std::span<const GradientBlock> blocks{};  ///< in host memory
};

struct ReduceMetricArguments {
  const void* center = nullptr;         ///< (params), of problem.input
  const std::int64_t* seeds = nullptr;  ///< (pop), or (pop / 2) with antithetic noise
  float* metric = nullptr;              ///< (pop); written; NaN when params is 0
  Sigma sigma{};
  std::int64_t offset = 0;
  std::int64_t pop = 0;
  std::int64_t params = 0;
};

}  // namespace vnjit
