#include "population.hpp"

#include <utility>

#include "digits.hpp"

namespace es_digits {
namespace {

std::size_t count(std::int64_t elements) { return static_cast<std::size_t>(elements); }

}  // namespace

Plans make_plans(vnjit::Runtime& runtime, const std::shared_ptr<vnjit::Device>& device,
                 const Problems& problems) {
  return {.hidden = runtime.plan(problems.hidden, device),
          .logits = runtime.plan(problems.logits, device),
          .gradient = runtime.plan(problems.gradient, device)};
}

ForwardPass::ForwardPass(Plans plans, const std::shared_ptr<vnjit::Device>& device,
                         const Network& network, Activation activation, std::int64_t pop,
                         std::int64_t batch)
    : plans_(std::move(plans)),
      network_(network),
      activation_(activation),
      pop_(pop),
      batch_(batch),
      seeds_(device, count(pop / 2)),
      images_(device, count(batch * kPixels)),
      hidden_(device, count(pop * batch * network.layers[0].out)),
      logits_(device, count(pop * batch * kClasses)),
      host_hidden_(hidden_.size()),
      host_logits_(logits_.size()) {}

vnjit::PerturbedLinearArguments ForwardPass::arguments(const Layer& layer, const float* parameters,
                                                       const Perturbation& perturbation) const {
  vnjit::PerturbedLinearArguments arguments;
  arguments.weight = parameters + layer.weight;
  arguments.bias = parameters + layer.bias;
  arguments.seeds = seeds_.data();
  arguments.sigma = perturbation.sigma;
  arguments.offset = layer.weight;
  arguments.pop = pop_;
  arguments.batch = batch_;
  arguments.in = layer.in;
  arguments.out = layer.out;
  return arguments;
}

std::span<const float> ForwardPass::run(const float* parameters, std::span<const float> images,
                                        const Perturbation& perturbation) {
  seeds_.copy_from(perturbation.seeds.data());
  images_.copy_from(images.data());

  vnjit::PerturbedLinearArguments first = arguments(network_.layers[0], parameters, perturbation);
  first.x = images_.data();
  first.y = hidden_.data();
  plans_.hidden->run(first);

  hidden_.copy_to(host_hidden_.data());
  activate(activation_, host_hidden_);
  hidden_.copy_from(host_hidden_.data());

  vnjit::PerturbedLinearArguments second = arguments(network_.layers[1], parameters, perturbation);
  second.x = hidden_.data();
  second.y = logits_.data();
  plans_.logits->run(second);

  logits_.copy_to(host_logits_.data());
  return host_logits_;
}

GradientPass::GradientPass(Plans plans, const std::shared_ptr<vnjit::Device>& device,
                           const Network& network, std::int64_t pop)
    : plans_(std::move(plans)),
      pop_(pop),
      seeds_(device, count(pop / 2)),
      fitness_(device, count(pop)),
      gradient_(device, count(network.parameter_count)),
      host_gradient_(gradient_.size()) {
  for (const Layer& layer : network.layers) {
    blocks_.push_back({.offset = layer.weight,
                       .rows = layer.out,
                       .columns = layer.in,
                       .output = gradient_.data() + layer.weight});
    blocks_.push_back({.offset = layer.bias,
                       .rows = 1,
                       .columns = layer.out,
                       .output = gradient_.data() + layer.bias});
  }
}

std::span<const float> GradientPass::run(std::span<const float> fitness,
                                         const Perturbation& perturbation) {
  seeds_.copy_from(perturbation.seeds.data());
  fitness_.copy_from(fitness.data());

  vnjit::GradientArguments arguments;
  arguments.fitness = fitness_.data();
  arguments.seeds = seeds_.data();
  arguments.sigma = perturbation.sigma;
  arguments.pop = pop_;
  arguments.blocks = blocks_;
  plans_.gradient->run(arguments);

  gradient_.copy_to(host_gradient_.data());
  return host_gradient_;
}

}  // namespace es_digits
