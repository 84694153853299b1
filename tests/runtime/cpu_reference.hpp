#pragma once

#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>
#include <random>
#include <string>
#include <vector>

#include "noise/noise.cuh"
#include "vnjit/codegen/data_type.hpp"
#include "vnjit/codegen/error.hpp"
#include "vnjit/codegen/noise_spec.hpp"

// What tests of the CPU backend share: the noise contract read element by element, and inputs.

namespace vnjit::tests {

constexpr float kNaN = std::numeric_limits<float>::quiet_NaN();
constexpr float kInfinity = std::numeric_limits<float>::infinity();

/// Every generator, distribution and number of rounds.
inline std::vector<NoiseSpec> every_noise() {
  std::vector<NoiseSpec> specs;
  for (const char* text : {"triton", "splitmix64", "philox:uniform:7", "philox:uniform:10",
                           "philox:uniform8:7", "philox:uniform8:10", "philox:rademacher:7",
                           "philox:rademacher:10", "philox:normal:7", "philox:normal:10"}) {
    specs.push_back(parse_noise_spec(text));
  }
  return specs;
}

template <int kRounds>
float philox_value(Distribution distribution, std::uint64_t seed, std::uint64_t element) {
  switch (distribution) {
    case Distribution::uniform:
      return noise::PhiloxUniform<kRounds>::value(seed, element);
    case Distribution::uniform8:
      return noise::PhiloxUniform8<kRounds>::value(seed, element);
    case Distribution::rademacher:
      return noise::PhiloxRademacher<kRounds>::value(seed, element);
    case Distribution::normal:
      return noise::PhiloxNormal<kRounds>::value(seed, element);
  }
  return kNaN;
}

/// One element, straight from the header that defines it.
inline float noise_value(const NoiseSpec& spec, std::int64_t seed, std::int64_t element) {
  const auto key = static_cast<std::uint64_t>(seed);
  const auto e = static_cast<std::uint64_t>(element);
  switch (spec.generator) {
    case Generator::triton:
      return noise::Triton::value(key, e);
    case Generator::splitmix64:
      return noise::SplitMix64::value(key, e);
    case Generator::philox:
      return spec.rounds == 7 ? philox_value<7>(spec.distribution, key, e)
                              : philox_value<10>(spec.distribution, key, e);
  }
  return kNaN;
}

/// noise_value of an individual, with the antithetic sign.
inline double individual_noise(const NoiseSpec& spec, const std::vector<std::int64_t>& seeds,
                               std::int64_t individual, std::int64_t element) {
  if (!spec.antithetic) {
    return noise_value(spec, seeds[static_cast<std::size_t>(individual)], element);
  }
  const double value = noise_value(spec, seeds[static_cast<std::size_t>(individual / 2)], element);
  return individual % 2 == 0 ? value : -value;
}

/// Multiples of 1/16 below 8 in magnitude: exact in every data type.
inline std::vector<float> random_values(std::int64_t count, unsigned seed) {
  std::mt19937 engine(seed);
  std::vector<float> values(static_cast<std::size_t>(count));
  for (float& value : values) {
    value = static_cast<float>(static_cast<int>(engine() % 255) - 127) / 16.0f;
  }
  return values;
}

inline std::vector<std::int64_t> random_seeds(std::int64_t count, unsigned seed) {
  std::mt19937_64 engine(seed);
  std::vector<std::int64_t> seeds(static_cast<std::size_t>(count));
  for (std::int64_t& value : seeds) value = static_cast<std::int64_t>(engine());
  return seeds;
}

/// A value of random_values in 16 bits.
inline std::uint16_t encode(DataType type, float value) {
  const auto bits = std::bit_cast<std::uint32_t>(value);
  if (type == DataType::bf16) return static_cast<std::uint16_t>(bits >> 16);
  const std::uint32_t sign = (bits >> 16) & 0x8000u;
  const std::uint32_t magnitude = bits & 0x7FFFFFFFu;
  return static_cast<std::uint16_t>(magnitude == 0 ? sign
                                                   : sign | ((magnitude >> 13) - (112u << 10)));
}

/// Values as the bytes of `type`.
inline std::vector<std::byte> encoded(DataType type, const std::vector<float>& values) {
  const auto size = static_cast<std::size_t>(size_bytes(type));
  std::vector<std::byte> bytes(values.size() * size);
  for (std::size_t n = 0; n < values.size(); ++n) {
    const auto wide = std::bit_cast<std::uint32_t>(values[n]);
    const std::uint32_t stored = type == DataType::f32 ? wide : encode(type, values[n]);
    for (std::size_t b = 0; b < size; ++b) {
      bytes[n * size + b] = static_cast<std::byte>(stored >> (8 * b));
    }
  }
  return bytes;
}

/// ‖values − reference‖ / ‖reference‖, Frobenius.
inline double relative_error(const std::vector<float>& values,
                             const std::vector<double>& reference) {
  if (values.size() != reference.size()) return std::numeric_limits<double>::infinity();
  double difference = 0;
  double norm = 0;
  for (std::size_t n = 0; n < values.size(); ++n) {
    difference += (values[n] - reference[n]) * (values[n] - reference[n]);
    norm += reference[n] * reference[n];
  }
  return std::sqrt(difference / norm);
}

inline std::vector<std::uint32_t> bits_of(const std::vector<float>& values) {
  std::vector<std::uint32_t> bits(values.size());
  for (std::size_t n = 0; n < values.size(); ++n) bits[n] = std::bit_cast<std::uint32_t>(values[n]);
  return bits;
}

/// The message with which `call` is refused; empty where it is not.
template <typename Function>
std::string refusal_of(const Function& call) {
  try {
    call();
  } catch (const InvalidArgument& error) {
    return error.what();
  }
  return {};
}

}  // namespace vnjit::tests
