#include "training.hpp"

#include <chrono>

#include "adam.hpp"
#include "parallel.hpp"

namespace es_digits {
namespace {

using Clock = std::chrono::steady_clock;

Perturbation draw_perturbation(const Settings& settings, Random& random) {
  Perturbation perturbation;
  perturbation.sigma = settings.sigma;
  for (std::int64_t pair = 0; pair < settings.population / 2; ++pair) {
    perturbation.seeds.push_back(static_cast<std::int64_t>(random.next()));
  }
  return perturbation;
}

/// One score for each individual; `logits` is (pop, batch, kClasses).
std::vector<Score> score_individuals(std::span<const float> logits, const Digits& batch) {
  const std::size_t values = batch.labels.size() * kClasses;
  std::vector<Score> scores(logits.size() / values);
  for_each_part(scores.size(), [&](std::size_t begin, std::size_t end) {
    for (std::size_t i = begin; i < end; ++i) {
      scores[i] = score(logits.subspan(i * values, values), batch.labels);
    }
  });
  return scores;
}

std::vector<float> fitness_of(const std::vector<Score>& scores) {
  std::vector<double> fitness;
  fitness.reserve(scores.size());
  for (const Score& individual : scores) fitness.push_back(-individual.loss);
  return centred_ranks(fitness);
}

Score mean_of(const std::vector<Score>& scores) {
  Score mean;
  for (const Score& individual : scores) {
    mean.loss += individual.loss / static_cast<double>(scores.size());
    mean.accuracy += individual.accuracy / static_cast<double>(scores.size());
  }
  return mean;
}

float rate_at(const Settings& settings, std::int64_t generation) {
  const std::int64_t left = settings.generations - generation + 1;
  return settings.rate * static_cast<float>(left) / static_cast<float>(settings.generations);
}

/// Noise values a second, when every generation uses every individual's noise twice.
double noise_rate(const Settings& settings, const Network& network, std::int64_t generations,
                  Clock::time_point start) {
  const std::chrono::duration<double> elapsed = Clock::now() - start;
  return 2.0 * static_cast<double>(generations) * static_cast<double>(settings.population) *
         static_cast<double>(network.parameter_count) / elapsed.count();
}

}  // namespace

std::vector<float> train(const Settings& settings, const Network& network, const Plans& plans,
                         const std::shared_ptr<vnjit::Device>& device, const Digits& train,
                         const std::function<void(const Progress&)>& report) {
  Random random(static_cast<std::uint64_t>(settings.seed));
  std::vector<float> parameters = initial_parameters(network, random);
  vnjit::Buffer<float> device_parameters(device, parameters.size());
  ForwardPass forward(plans, device, network, settings.activation, settings.population,
                      settings.batch);
  GradientPass gradient(plans, device, network, settings.population);
  BatchSampler sampler(train, settings.batch);
  Adam adam(parameters.size());

  const Clock::time_point start = Clock::now();
  for (std::int64_t generation = 1; generation <= settings.generations; ++generation) {
    const Digits& batch = sampler.next(random);
    const Perturbation perturbation = draw_perturbation(settings, random);
    device_parameters.copy_from(parameters.data());
    const std::vector<Score> scores =
        score_individuals(forward.run(device_parameters.data(), batch.images, perturbation), batch);
    adam.ascend(parameters, gradient.run(fitness_of(scores), perturbation),
                rate_at(settings, generation));
    report({.generation = generation,
            .score = mean_of(scores),
            .noise_values_per_second = noise_rate(settings, network, generation, start)});
  }
  return parameters;
}

Score evaluate(const Settings& settings, const Network& network, const Plans& plans,
               const std::shared_ptr<vnjit::Device>& device, const Digits& digits,
               const std::vector<float>& parameters) {
  // Both individuals of the smallest population are the unperturbed network when sigma is 0.
  constexpr std::int64_t kPair = 2;
  const Perturbation none{.seeds = {0}, .sigma = 0};
  const vnjit::Buffer<float> device_parameters(device, parameters.data(), parameters.size());
  ForwardPass forward(plans, device, network, settings.activation, kPair, digits.count());
  return score_individuals(forward.run(device_parameters.data(), digits.images, none), digits)
      .front();
}

}  // namespace es_digits
