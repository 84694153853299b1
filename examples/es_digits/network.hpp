#pragma once

#include <array>
#include <cstdint>
#include <vector>
#include <vnjit/vnjit.hpp>

#include "random.hpp"

namespace es_digits {

/// A fully connected layer, by its place in the vector of all parameters. A parameter's index is
/// also its noise element: that is all the forward pass and the gradient have to agree on.
struct Layer {
  std::int64_t in = 0;
  std::int64_t out = 0;
  std::int64_t weight = 0;  ///< of (out, in)
  std::int64_t bias = 0;    ///< of (out), right behind the weight
};

/// The 64-128-10 perceptron's parameters: weight and bias of one layer after the other.
struct Network {
  std::array<Layer, 2> layers;
  std::int64_t parameter_count = 0;
};

Network make_network();

/// Weights uniform with variance 1 / in, biases 0.
std::vector<float> initial_parameters(const Network& network, Random& random);

/// What the program asks of vnjit, in the order of a generation. Sizes guide the choice of a
/// kernel; the kernels run for others too.
struct Problems {
  vnjit::PerturbedLinear hidden;  ///< the same images for every individual
  vnjit::PerturbedLinear logits;  ///< every individual's own hidden values
  vnjit::Gradient gradient;       ///< weights and biases of both layers in one run
};

Problems make_problems(const Network& network, const vnjit::NoiseSpec& noise, std::int64_t pop,
                       std::int64_t batch);

}  // namespace es_digits
