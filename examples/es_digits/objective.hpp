#pragma once

#include <span>
#include <vector>

namespace es_digits {

/// How well an individual does on a batch.
struct Score {
  double loss = 0;      ///< mean cross-entropy, natural logarithm
  double accuracy = 0;  ///< share of images whose largest logit is that of their label
};

/// `logits` is (labels.size(), kClasses).
Score score(std::span<const float> logits, std::span<const int> labels);

/// Each value replaced by its rank, evenly spread over [-0.5, 0.5]; equal values keep their order.
/// Ranks make the update blind to the scale of the fitness and to outliers (Salimans et al.,
/// "Evolution strategies as a scalable alternative to reinforcement learning", 2017).
std::vector<float> centred_ranks(std::span<const double> fitness);

}  // namespace es_digits
