#include "objective.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "digits.hpp"

namespace es_digits {
namespace {

double cross_entropy(std::span<const float> logits, int label) {
  const float largest = *std::max_element(logits.begin(), logits.end());
  float sum = 0;
  for (const float logit : logits) sum += std::exp(logit - largest);
  return std::log(sum) + largest - logits[static_cast<std::size_t>(label)];
}

}  // namespace

Score score(std::span<const float> logits, std::span<const int> labels) {
  Score total;
  for (std::size_t image = 0; image < labels.size(); ++image) {
    const auto row = logits.subspan(image * kClasses, kClasses);
    total.loss += cross_entropy(row, labels[image]);
    total.accuracy += std::max_element(row.begin(), row.end()) - row.begin() == labels[image];
  }
  const double count = static_cast<double>(labels.size());
  return {total.loss / count, total.accuracy / count};
}

std::vector<float> centred_ranks(std::span<const double> fitness) {
  std::vector<std::size_t> order(fitness.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::stable_sort(order.begin(), order.end(),
                   [&](std::size_t a, std::size_t b) { return fitness[a] < fitness[b]; });
  std::vector<float> ranks(fitness.size());
  const float last = static_cast<float>(fitness.size() - 1);
  for (std::size_t rank = 0; rank < order.size(); ++rank) {
    ranks[order[rank]] = static_cast<float>(rank) / last - 0.5f;
  }
  return ranks;
}

}  // namespace es_digits
