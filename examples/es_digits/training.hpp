#pragma once

#include <cstdint>
#include <functional>
#include <memory>

#include "digits.hpp"
#include "objective.hpp"
#include "population.hpp"

namespace es_digits {

struct Settings {
  std::int64_t generations = 300;
  std::int64_t population = 256;  ///< even: individuals come in pairs
  std::int64_t batch = 256;       ///< images a generation
  float sigma = 0.2f;
  float rate = 0.04f;  ///< of Adam at the start; falls in a line to 0 behind the last generation
  Activation activation = Activation::gelu;
  vnjit::NoiseSpec noise{.antithetic = true};
  std::int64_t seed = 0;  ///< of the initial parameters, the batches and the noise
};

struct Progress {
  std::int64_t generation = 0;         ///< done so far
  Score score;                         ///< mean over the population, on this generation's batch
  double noise_values_per_second = 0;  ///< used by forward pass and gradient, since the start
};

/// Trains on `train` and returns the parameters. The same settings give the same parameters on
/// the same device.
std::vector<float> train(const Settings& settings, const Network& network, const Plans& plans,
                         const std::shared_ptr<vnjit::Device>& device, const Digits& train,
                         const std::function<void(const Progress&)>& report);

/// The score of unperturbed parameters.
Score evaluate(const Settings& settings, const Network& network, const Plans& plans,
               const std::shared_ptr<vnjit::Device>& device, const Digits& digits,
               const std::vector<float>& parameters);

}  // namespace es_digits
