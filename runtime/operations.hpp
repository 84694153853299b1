#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "vnjit/codegen/problem.hpp"
#include "vnjit/runtime/runtime.hpp"

// The seed module's functions, with its names and meaning, on host memory: each plans (from the
// runtime's cache), copies in, runs and copies out. For one call; a program that runs every
// generation holds plans and device buffers itself. All matrices are contiguous, row-major fp32.

namespace vnjit {

/// Y (pop, batch, out). `x` is (batch, in), or (pop, batch, in) with the individual layout; batch
/// follows from its size. `weight` is (out, in); an empty `bias` is none. All functions: with
/// antithetic noise there are two individuals a seed. Throws InvalidArgument where sizes disagree.
std::vector<float> virtual_perturbed_linear(Runtime& runtime, const std::shared_ptr<Device>& device,
                                            const NoiseSpec& noise, InputLayout layout,
                                            std::span<const float> x, std::span<const float> weight,
                                            std::span<const float> bias,
                                            std::span<const std::int64_t> seeds, std::int64_t out,
                                            std::int64_t in, float sigma, std::int64_t offset);

/// (out, in): sum_i fitness[i]·N_i / (pop_size·sigma).
std::vector<float> virtual_weight_gradient(Runtime& runtime, const std::shared_ptr<Device>& device,
                                           const NoiseSpec& noise, std::span<const float> fitness,
                                           std::span<const std::int64_t> seeds, std::int64_t out,
                                           std::int64_t in, float sigma, std::int64_t pop_size,
                                           std::int64_t offset);

/// (out). `offset` is that of the bias itself: the weight's offset + out·in.
std::vector<float> virtual_bias_gradient(Runtime& runtime, const std::shared_ptr<Device>& device,
                                         const NoiseSpec& noise, std::span<const float> fitness,
                                         std::span<const std::int64_t> seeds, std::int64_t out,
                                         float sigma, std::int64_t pop_size, std::int64_t offset);

/// (pop): mean_k |center[k] + sigma·noise[i, k]|.
std::vector<float> virtual_reduce_metric(Runtime& runtime, const std::shared_ptr<Device>& device,
                                         const NoiseSpec& noise, std::span<const float> center,
                                         std::span<const std::int64_t> seeds, float sigma,
                                         std::int64_t offset);

}  // namespace vnjit
