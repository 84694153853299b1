#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "vnjit/codegen/noise_spec.hpp"

namespace vnjit {

/// Values of one distribution as a string of uniform random bits: each value's bits, the lowest
/// first, fill bytes from their lowest bit up.
///
///   uniform8    8 bits, the byte: exact, and nothing is lost
///   rademacher  1 bit: exact, and nothing is lost
///   uniform     23 bits, floor((value + 1/2)·2^23). Exact for philox. triton and splitmix64
///               round a 32-bit word to fp32, halves to even: the bits after these 23 are 0 more
///               often than 1. Of the 2^23 intervals all but ten at most hold exactly 512 words,
///               those ten, at 0, 1 and some powers of two, 382 to 640
///   normal      16 bits, floor(Phi(value)·2^16), Phi the normal distribution function. The fp32
///               values near 1 are 2^-25 of Phi apart: with more bits the last would show how many
///               of them an interval holds. Beyond 4.2 sigma a tail is one interval
class NoiseBits {
 public:
  explicit NoiseBits(Distribution distribution) : distribution_(distribution) {}

  /// Appends the bytes that `values` and the bits left from earlier calls fill.
  void append(std::span<const float> values, std::vector<std::uint8_t>& bytes);

 private:
  template <int kWidth, typename Bits>
  void pack(std::span<const float> values, std::vector<std::uint8_t>& bytes, Bits bits);

  Distribution distribution_;
  std::uint64_t pending_ = 0;
  int pending_bits_ = 0;
};

}  // namespace vnjit
