#include "noise_bits.hpp"

#include <algorithm>
#include <cmath>
#include <numbers>

namespace vnjit {
namespace {

/// floor(unit·2^kWidth) of a number in [0, 1]; 1 itself, where triton and splitmix64 round to,
/// belongs to the last interval.
template <int kWidth>
std::uint32_t leading_bits(double unit) {
  constexpr std::uint32_t kEnd = std::uint32_t{1} << kWidth;
  return std::min(static_cast<std::uint32_t>(unit * kEnd), kEnd - 1);
}

double normal_distribution(double value) {
  return 0.5 * std::erfc(value * (-0.5 * std::numbers::sqrt2));
}

}  // namespace

template <int kWidth, typename Bits>
void NoiseBits::pack(std::span<const float> values, std::vector<std::uint8_t>& bytes, Bits bits) {
  for (const float value : values) {
    pending_ |= static_cast<std::uint64_t>(bits(value)) << pending_bits_;
    pending_bits_ += kWidth;
    for (; pending_bits_ >= 8; pending_bits_ -= 8, pending_ >>= 8) {
      bytes.push_back(static_cast<std::uint8_t>(pending_));
    }
  }
}

void NoiseBits::append(std::span<const float> values, std::vector<std::uint8_t>& bytes) {
  switch (distribution_) {
    case Distribution::uniform:
      return pack<23>(values, bytes, [](float value) { return leading_bits<23>(value + 0.5); });
    case Distribution::uniform8:
      return pack<8>(values, bytes, [](float value) {
        return static_cast<std::uint32_t>(value * 256.0f + 127.5f);
      });
    case Distribution::rademacher:
      return pack<1>(values, bytes, [](float value) { return std::uint32_t{value > 0.0f}; });
    case Distribution::normal:
      return pack<16>(values, bytes,
                      [](float value) { return leading_bits<16>(normal_distribution(value)); });
  }
}

}  // namespace vnjit
