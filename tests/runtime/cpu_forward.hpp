#pragma once

#include "cpu_reference.hpp"
#include "vnjit/runtime/check_arguments.hpp"
#include "vnjit/runtime/cpu/operations.hpp"

// A forward pass on the CPU and what it should give.

namespace vnjit::tests {

inline std::size_t index(std::int64_t value) { return static_cast<std::size_t>(value); }

/// A forward pass with its inputs. Strides of 0 are contiguous; gaps of inputs hold NaN.
struct Forward {
  PerturbedLinear problem;
  PerturbedLinearArguments sizes;  ///< sizes, strides, sigma and offset
  std::vector<std::int64_t> seeds;
  std::vector<float> x;
  std::vector<float> weight;
  std::vector<float> bias;

  Forward(const PerturbedLinear& what, const PerturbedLinearArguments& how)
      : problem(what), sizes(how) {
    const bool individual = problem.layout == InputLayout::individual;
    seeds = random_seeds(problem.noise.antithetic ? sizes.pop / 2 : sizes.pop, 1);
    PerturbedLinearArguments filled = filled_sizes();
    x = rows(individual ? sizes.pop : 1, filled.x_individual_stride, sizes.batch,
             filled.x_row_stride, sizes.in, 2);
    weight = rows(1, 0, sizes.out, filled.weight_row_stride, sizes.in, 3);
    bias = random_values(sizes.out, 4);
  }

  /// The sizes with every stride filled in.
  PerturbedLinearArguments filled_sizes() const {
    PerturbedLinearArguments arguments = sizes;
    const auto never_read = [](std::uintptr_t number) {
      return reinterpret_cast<float*>(number << 40);
    };
    arguments.x = never_read(1);
    arguments.weight = never_read(2);
    arguments.bias = problem.bias ? never_read(3) : nullptr;
    arguments.y = never_read(4);
    arguments.seeds = seeds.data();
    return checked(problem, arguments);
  }

  static std::vector<float> rows(std::int64_t blocks, std::int64_t block_stride, std::int64_t count,
                                 std::int64_t stride, std::int64_t length, unsigned seed) {
    std::vector<float> made(index((blocks - 1) * block_stride + count * stride), kNaN);
    const std::vector<float> values = random_values(blocks * count * length, seed);
    for (std::int64_t n = 0; n < blocks * count * length; ++n) {
      const std::int64_t row = n / length;
      made[index(row / count * block_stride + row % count * stride + n % length)] =
          values[index(n)];
    }
    return made;
  }

  /// Y with its gaps, which start as NaN like the rest.
  std::vector<float> run(int threads) const { return run_into(threads, kNaN); }

  /// Y in 16 bits, every one of which is set before.
  std::vector<std::uint16_t> run_rounded(int threads) const {
    return run_into(threads, std::uint16_t{0xFFFF});
  }

  template <typename Output>
  std::vector<Output> run_into(int threads, Output before) const {
    PerturbedLinearArguments arguments = filled_sizes();
    const std::vector<std::byte> x_bytes = encoded(problem.input, x);
    const std::vector<std::byte> weight_bytes = encoded(problem.input, weight);
    const std::vector<std::byte> bias_bytes = encoded(problem.input, bias);
    std::vector<Output> y(index(arguments.pop * arguments.y_individual_stride), before);
    arguments.x = x_bytes.data();
    arguments.weight = weight_bytes.data();
    arguments.bias = problem.bias ? bias_bytes.data() : nullptr;
    arguments.y = y.data();
    cpu::ThreadPool pool(threads);
    cpu::perturbed_linear(problem, checked(problem, arguments), pool);
    return y;
  }

  /// (pop, batch, out), contiguous.
  std::vector<float> contiguous(const std::vector<float>& y) const {
    const PerturbedLinearArguments filled = filled_sizes();
    std::vector<float> values;
    for (std::int64_t i = 0; i < sizes.pop; ++i) {
      for (std::int64_t b = 0; b < sizes.batch; ++b) {
        for (std::int64_t j = 0; j < sizes.out; ++j) {
          values.push_back(y[index(i * filled.y_individual_stride + b * filled.y_row_stride + j)]);
        }
      }
    }
    return values;
  }

  std::vector<double> reference() const {
    const PerturbedLinearArguments a = filled_sizes();
    const double sigma = a.sigma.value;
    std::vector<double> y;
    for (std::int64_t i = 0; i < a.pop; ++i) {
      std::vector<double> perturbed;
      std::vector<double> offsets;
      for (std::int64_t j = 0; j < a.out; ++j) {
        const std::int64_t row = a.offset + j * a.noise_row_stride;
        const std::int64_t last = a.offset + a.out * a.noise_row_stride + j;
        for (std::int64_t k = 0; k < a.in; ++k) {
          perturbed.push_back(weight[index(j * a.weight_row_stride + k)] +
                              sigma * individual_noise(problem.noise, seeds, i, row + k));
        }
        offsets.push_back(problem.bias ? bias[index(j)] +
                                             sigma * individual_noise(problem.noise, seeds, i, last)
                                       : 0.0);
      }
      for (std::int64_t b = 0; b < a.batch; ++b) {
        const std::int64_t row = i * a.x_individual_stride + b * a.x_row_stride;
        for (std::int64_t j = 0; j < a.out; ++j) {
          double sum = offsets[index(j)];
          for (std::int64_t k = 0; k < a.in; ++k) {
            sum += x[index(row + k)] * perturbed[index(j * a.in + k)];
          }
          y.push_back(sum);
        }
      }
    }
    return y;
  }
};

inline PerturbedLinearArguments sizes(std::int64_t pop, std::int64_t batch, std::int64_t in,
                                      std::int64_t out) {
  PerturbedLinearArguments arguments;
  arguments.sigma = 0.37f;
  arguments.offset = 1000;
  arguments.pop = pop;
  arguments.batch = batch;
  arguments.in = in;
  arguments.out = out;
  return arguments;
}

}  // namespace vnjit::tests
