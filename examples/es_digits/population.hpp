#pragma once

#include <memory>
#include <span>
#include <vector>

#include "activation.hpp"
#include "network.hpp"

namespace es_digits {

/// Everything that is made once, before the first generation.
struct Plans {
  std::shared_ptr<const vnjit::Plan> hidden;
  std::shared_ptr<const vnjit::Plan> logits;
  std::shared_ptr<const vnjit::Plan> gradient;
};

Plans make_plans(vnjit::Runtime& runtime, const std::shared_ptr<vnjit::Device>& device,
                 const Problems& problems);

/// The perturbation of a population: one seed for each two individuals, which take it with +sigma
/// and -sigma (NoiseSpec::antithetic).
struct Perturbation {
  std::vector<std::int64_t> seeds;  ///< (pop / 2)
  float sigma = 0;
};

/// Runs a population of fixed size over batches of fixed size. Owns the device memory for it.
class ForwardPass {
 public:
  ForwardPass(Plans plans, const std::shared_ptr<vnjit::Device>& device, const Network& network,
              Activation activation, std::int64_t pop, std::int64_t batch);

  /// Logits (pop, batch, kClasses) of every individual for `images` (batch, kPixels), valid until
  /// the next call. `parameters` is in device memory, all else in host memory.
  std::span<const float> run(const float* parameters, std::span<const float> images,
                             const Perturbation& perturbation);

 private:
  vnjit::PerturbedLinearArguments arguments(const Layer& layer, const float* parameters,
                                            const Perturbation& perturbation) const;

  Plans plans_;
  Network network_;
  Activation activation_;
  std::int64_t pop_;
  std::int64_t batch_;
  vnjit::Buffer<std::int64_t> seeds_;
  vnjit::Buffer<float> images_;
  vnjit::Buffer<float> hidden_;
  vnjit::Buffer<float> logits_;
  std::vector<float> host_hidden_;
  std::vector<float> host_logits_;
};

/// Estimates the gradient of the fitness by all parameters. Owns the device memory for it.
class GradientPass {
 public:
  GradientPass(Plans plans, const std::shared_ptr<vnjit::Device>& device, const Network& network,
               std::int64_t pop);

  /// (parameter_count), valid until the next call. `fitness` is (pop).
  std::span<const float> run(std::span<const float> fitness, const Perturbation& perturbation);

 private:
  Plans plans_;
  std::int64_t pop_;
  vnjit::Buffer<std::int64_t> seeds_;
  vnjit::Buffer<float> fitness_;
  vnjit::Buffer<float> gradient_;
  std::vector<vnjit::GradientBlock> blocks_;
  std::vector<float> host_gradient_;
};

}  // namespace es_digits
