#pragma once

#include <array>
#include <bit>
#include <cmath>
#include <cstdint>
#include <numbers>

// The noise contract once more, written down from its table and not from the header: slow and
// plain.

namespace vnjit::tests {

using Words = std::array<std::uint32_t, 4>;

/// Philox4x32 of a whole counter and key, as published.
inline Words philox(int rounds, Words counter, std::array<std::uint32_t, 2> key) {
  for (int round = 0; round < rounds; ++round) {
    const std::uint64_t a = std::uint64_t{0xD2511F53} * counter[0];
    const std::uint64_t b = std::uint64_t{0xCD9E8D57} * counter[2];
    const auto high = [](std::uint64_t product) {
      return static_cast<std::uint32_t>(product >> 32);
    };
    const auto low = [](std::uint64_t product) { return static_cast<std::uint32_t>(product); };
    counter = {high(b) ^ counter[1] ^ key[0], low(b), high(a) ^ counter[3] ^ key[1], low(a)};
    key = {key[0] + 0x9E3779B9, key[1] + 0xBB67AE85};
  }
  return counter;
}

inline Words philox_call(int rounds, std::uint64_t call, std::uint64_t seed) {
  const auto low = [](std::uint64_t value) { return static_cast<std::uint32_t>(value); };
  return philox(rounds, {low(call), low(call >> 32), 0, 0}, {low(seed), low(seed >> 32)});
}

/// Which call of the generator makes an element, and which part of its words.
struct Place {
  std::uint64_t call;
  std::uint32_t part;
  friend auto operator<=>(const Place&, const Place&) = default;
};

inline std::uint32_t bits(std::uint64_t element, int shift, std::uint32_t mask) {
  return static_cast<std::uint32_t>(element >> shift) & mask;
}

inline Place uniform_place(std::uint64_t e) {
  return {(e >> 4) * 4 + bits(e, 1, 3), bits(e, 3, 1) * 2 + bits(e, 0, 1)};
}

inline Place uniform8_place(std::uint64_t e) {
  return {(e >> 6) * 4 + bits(e, 1, 3), bits(e, 4, 3) * 4 + bits(e, 3, 1) * 2 + bits(e, 0, 1)};
}

inline Place rademacher_place(std::uint64_t e) {
  return {(e >> 9) * 4 + bits(e, 1, 3), bits(e, 4, 31) * 4 + bits(e, 3, 1) * 2 + bits(e, 0, 1)};
}

// Values in double: what the contract says before any rounding.

inline double uniform(int rounds, std::uint64_t seed, std::uint64_t element) {
  const Place place = uniform_place(element);
  const std::uint32_t word = philox_call(rounds, place.call, seed)[place.part];
  return (static_cast<double>(word >> 9) + 0.5) * 0x1p-23 - 0.5;
}

inline double uniform8(int rounds, std::uint64_t seed, std::uint64_t element) {
  const Place place = uniform8_place(element);
  const Words words = philox_call(rounds, place.call, seed);
  const std::uint32_t byte = (words[place.part / 4] >> (8 * (place.part % 4))) & 255;
  return (static_cast<double>(byte) - 127.5) / 256;
}

inline double rademacher(int rounds, std::uint64_t seed, std::uint64_t element) {
  const Place place = rademacher_place(element);
  const Words words = philox_call(rounds, place.call, seed);
  return ((words[place.part / 32] >> (place.part % 32)) & 1) != 0 ? 1 : -1;
}

/// Two normal values of two words by the method of Box and Muller. The contract rounds twice before
/// it: u to fp32, and the angle down to a multiple of 2^-25 turns.
struct NormalReference {
  double radius;
  double even;
  double odd;
};

inline NormalReference normal_pair(std::uint32_t radius_word, std::uint32_t angle_word) {
  const double word = static_cast<float>(radius_word);
  const double u = static_cast<float>((word + 0.5) * 0x1p-32);
  const double radius = std::sqrt(std::abs(2 * std::log(u)));
  const double angle = 2 * std::numbers::pi * 0x1p-25 * (angle_word >> 7);
  return {radius, radius * std::cos(angle), radius * std::sin(angle)};
}

inline double normal(int rounds, std::uint64_t seed, std::uint64_t element) {
  const Place place = uniform_place(element);
  const Words words = philox_call(rounds, place.call, seed);
  const NormalReference pair = normal_pair(words[place.part & 2], words[place.part | 1]);
  return (place.part & 1) != 0 ? pair.odd : pair.even;
}

inline float triton(std::uint64_t seed, std::uint64_t element) {
  const auto narrowed = static_cast<std::int32_t>(static_cast<std::uint32_t>(seed));
  const auto key = static_cast<std::uint64_t>(std::int64_t{narrowed});
  const auto word = static_cast<std::int32_t>(philox_call(10, element, key)[0]);
  const std::int32_t magnitude = word < 0 ? -word - 1 : word;
  return std::fma(static_cast<float>(magnitude), 4.6566127342e-10f, -0.5f);
}

inline float splitmix64(std::uint64_t seed, std::uint64_t element) {
  constexpr std::uint64_t kGamma = 0x9E3779B97F4A7C15;
  std::uint64_t z = seed ^ (element * kGamma);
  z = (z ^ (z >> 30)) * kGamma;
  z = (z ^ (z >> 27)) * kGamma;
  z ^= z >> 31;
  const float unit = static_cast<float>(static_cast<std::uint32_t>(z)) * 0x1p-32f;
  return unit - 0.5f;
}

}  // namespace vnjit::tests
