#pragma once

#include "cpu_reference.hpp"
#include "vnjit/runtime/check_arguments.hpp"
#include "vnjit/runtime/cpu/operations.hpp"

// A population whose gradient the CPU makes, and what it should be.

namespace vnjit::tests {

constexpr float kPopulationSigma = -0.25f;

struct Population {
  std::vector<float> fitness;
  std::vector<std::int64_t> seeds;

  Population(std::int64_t pop, bool antithetic)
      : fitness(random_values(pop, 5)), seeds(random_seeds(antithetic ? pop / 2 : pop, 6)) {
    // Full fp32 mantissas: products with short ones would be summed without rounding.
    for (float& value : fitness) value /= 3.0f;
  }

  std::int64_t pop() const { return static_cast<std::int64_t>(fitness.size()); }

  GradientArguments arguments(std::span<const GradientBlock> blocks) const {
    GradientArguments made;
    made.fitness = fitness.data();
    made.seeds = seeds.data();
    made.sigma = kPopulationSigma;
    made.pop = pop();
    made.blocks = blocks;
    return made;
  }
};

inline void run_gradient(const Gradient& problem, const GradientArguments& arguments,
                         int threads = 2) {
  cpu::ThreadPool pool(threads);
  cpu::gradient(problem, checked(problem, arguments), pool);
}

/// The gradient of `count` parameters from noise element `offset` on.
inline std::vector<float> gradient_of(const Gradient& problem, const Population& population,
                                      std::int64_t offset, std::int64_t count) {
  std::vector<float> output(static_cast<std::size_t>(count), kNaN);
  const GradientBlock block{.offset = offset, .rows = 1, .columns = count, .output = output.data()};
  run_gradient(problem, population.arguments({&block, 1}));
  return output;
}

/// Sum of fitness times noise over the population, of one element.
inline double noise_sum(const NoiseSpec& noise, const Population& population,
                        std::int64_t element) {
  double sum = 0;
  for (std::int64_t i = 0; i < population.pop(); ++i) {
    sum += static_cast<double>(population.fitness[static_cast<std::size_t>(i)]) *
           individual_noise(noise, population.seeds, i, element);
  }
  return sum;
}

inline std::vector<double> noise_sums(const NoiseSpec& noise, const Population& population,
                                      std::int64_t offset, std::int64_t count, double divisor) {
  std::vector<double> values;
  for (std::int64_t n = 0; n < count; ++n) {
    values.push_back(noise_sum(noise, population, offset + n) / divisor);
  }
  return values;
}

}  // namespace vnjit::tests
