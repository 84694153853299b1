#include "network.hpp"

#include <cmath>

#include "digits.hpp"

namespace es_digits {
namespace {

constexpr std::int64_t kHidden = 128;

}  // namespace

Network make_network() {
  const std::vector<std::int64_t> start =
      vnjit::compute_offsets({{kHidden, kPixels}, {kHidden}, {kClasses, kHidden}, {kClasses}});
  Network network;
  network.layers[0] = {.in = kPixels, .out = kHidden, .weight = start[0], .bias = start[1]};
  network.layers[1] = {.in = kHidden, .out = kClasses, .weight = start[2], .bias = start[3]};
  network.parameter_count = start[3] + kClasses;
  return network;
}

std::vector<float> initial_parameters(const Network& network, Random& random) {
  std::vector<float> parameters(static_cast<std::size_t>(network.parameter_count));
  for (const Layer& layer : network.layers) {
    const float scale = std::sqrt(3.0f / static_cast<float>(layer.in));
    for (std::int64_t i = layer.weight; i < layer.bias; ++i) {
      parameters[static_cast<std::size_t>(i)] = scale * random.symmetric();
    }
  }
  return parameters;
}

Problems make_problems(const Network& network, const vnjit::NoiseSpec& noise, std::int64_t pop,
                       std::int64_t batch) {
  const auto linear = [&](const Layer& layer, vnjit::InputLayout layout) {
    return vnjit::PerturbedLinear{.noise = noise,
                                  .bias = true,
                                  .layout = layout,
                                  .pop = pop,
                                  .batch = batch,
                                  .in = layer.in,
                                  .out = layer.out};
  };
  return {.hidden = linear(network.layers[0], vnjit::InputLayout::shared),
          .logits = linear(network.layers[1], vnjit::InputLayout::individual),
          .gradient = {.noise = noise,
                       .pop = pop,
                       .rows = network.layers[0].out,
                       .columns = network.layers[0].in}};
}

}  // namespace es_digits
