#pragma once

#include <cstdint>

namespace es_digits {

/// The splitmix64 stream of a seed: the same numbers on every machine and standard library.
class Random {
 public:
  explicit Random(std::uint64_t seed) : state_(seed) {}

  std::uint64_t next() {
    std::uint64_t z = (state_ += 0x9E3779B97F4A7C15u);
    z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9u;
    z = (z ^ (z >> 27)) * 0x94D049BB133111EBu;
    return z ^ (z >> 31);
  }

  /// An integer in [0, bound); bound is small against 2^64, so that its bias is none.
  std::uint64_t below(std::uint64_t bound) { return next() % bound; }

  /// A value in [-1, 1).
  float symmetric() { return static_cast<float>(next() >> 40) * 0x1p-23f - 1.0f; }

 private:
  std::uint64_t state_;
};

}  // namespace es_digits
