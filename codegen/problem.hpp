#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "vnjit/codegen/data_type.hpp"
#include "vnjit/codegen/noise_spec.hpp"

// A problem is what the caller asks for, and nothing about how. Sizes in a problem guide the
// choice of a config; a plan runs for any sizes, unless `bake_shape` fixes them.

namespace vnjit {

enum class InputLayout {
  shared,      ///< X is (batch, in), the same for every individual
  individual,  ///< X is (pop, batch, in)
};

/// Y[i] = X[i]·(W + sigma·N_i)^T + (b + sigma·nb_i): Y (pop, batch, out), W (out, in), b (out).
/// Weight noise (j, k) is element offset + j·noise_row_stride + k, bias noise j is element
/// offset + out·noise_row_stride + j. Sums in fp32; Y is rounded to the nearest of its type.
struct PerturbedLinear {
  NoiseSpec noise{};
  DataType input = DataType::f32;   ///< of X, W and b
  DataType output = DataType::f32;  ///< of Y: f32, or the type of the input
  /// Of f32 inputs any, else their own, f32 or int8. int8 rounds X to 8 bits a row where it meets
  /// noise, which has to be philox:uniform8 of a shared X; X·W^T keeps the input's type, TF32 of
  /// f32.
  Precision precision = Precision::input;
  bool bias = true;
  InputLayout layout = InputLayout::shared;
  std::int64_t pop = 256;
  std::int64_t batch = 64;
  std::int64_t in = 1024;
  std::int64_t out = 1024;
  bool bake_shape = false;  ///< make `in` and `out` compile-time constants; a run must match them

  friend bool operator==(const PerturbedLinear&, const PerturbedLinear&) = default;
};

enum class Normalize {
  seed,      ///< divide by pop_size·sigma, as the seed module: Var(N) times the gradient
  unbiased,  ///< divide by pop_size·sigma·Var(N): an estimate of the gradient itself
};

/// What a gradient changes, beside being written: parameters in fp32, in place and uphill, for
/// fitness is to grow. So that a gradient need not go to memory at all.
enum class Update {
  none,
  sgd,   ///< W += learning_rate·G
  adam,  ///< Adam's step of G (Kingma and Ba, "Adam: a method for stochastic optimization", 2015)
};

std::string_view to_string(Update update);

/// Inverse of to_string; throws InvalidArgument naming the updates there are.
Update parse_update(std::string_view text);

/// G[j, k] = sum_i fitness[i]·N_i[j, k] / (pop_size·sigma), over blocks of (rows, columns)
/// parameters. A bias of n parameters is a block of one row and n columns.
///
/// With philox:uniform8 and philox:rademacher the sum is one of integers: fitness in fixed point,
/// rounded at 2^-31 of the largest, makes the same bits on every device, CPU included. Other noise
/// is summed in fp32 with an error that does not grow with the population.
struct Gradient {
  NoiseSpec noise{};
  Normalize normalize = Normalize::seed;
  Update update = Update::none;
  bool vector = false;  ///< a bias: rows is 1 and the output shape is (columns)
  std::int64_t pop = 256;
  std::int64_t rows = 1024;
  std::int64_t columns = 1024;

  friend bool operator==(const Gradient&, const Gradient&) = default;
};

/// metric[i] = mean_k |center[k] + sigma·N_i[k]| over n_params parameters, element offset + k.
struct ReduceMetric {
  NoiseSpec noise{};
  DataType input = DataType::f32;  ///< of center
  std::int64_t pop = 256;
  std::int64_t params = 1'000'000;

  friend bool operator==(const ReduceMetric&, const ReduceMetric&) = default;
};

using Problem = std::variant<PerturbedLinear, Gradient, ReduceMetric>;

/// `perturbed-linear`, `weight-gradient`, `bias-gradient` or `reduce-metric`.
std::string_view operation_name(const Problem& problem);

const NoiseSpec& noise_of(const Problem& problem);

/// The precision asked for, with `input` resolved to the input's own type.
Precision operand_precision(const PerturbedLinear& problem);

/// The problem with its sizes 0, but for those that are baked in: what differs between problems
/// whose plans can run each other's arguments.
Problem without_sizes(const Problem& problem);

/// Throws InvalidArgument naming the field: negative sizes, an odd pop with antithetic noise, …
void validate(const Problem& problem);

/// Shape of the result, without running anything.
std::vector<std::int64_t> output_shape(const Problem& problem);

/// The operation and flags of the `vnjit` command that make the same source, for example
/// `perturbed-linear --dtype f32 --bias --x shared --noise philox:uniform8:7`. Sizes that do not
/// reach the source are not among them.
std::string command_flags(const Problem& problem);

/// Flat element offset of each parameter block: the sum of the element counts before it, each
/// start rounded up to a multiple of `align`. With align = 1 these are the seed module's.
/// Throws InvalidArgument for a negative size, align < 1, or a total beyond 2^63.
std::vector<std::int64_t> compute_offsets(const std::vector<std::vector<std::int64_t>>& shapes,
                                          std::int64_t align = 1);

}  // namespace vnjit
