#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace vnjit {

/// Version of the noise contract. The same (seed, element) gives the same bits under one version,
/// on every path; the version is part of every cache key.
int noise_contract_version();

enum class Generator {
  triton,      ///< what the seed module's GPU path yields: Philox4x32-10, one word of four
  splitmix64,  ///< what the seed module's CPU path yields
  philox,      ///< Philox4x32 with every bit used: the fast one
};

enum class Distribution {
  uniform,     ///< 23-bit symmetric uniform in (-0.5, 0.5)
  uniform8,    ///< (byte - 127.5) / 256
  rademacher,  ///< +1 or -1
  normal,      ///< standard normal, |value| <= 6.77
};

/// Which noise N_i is. A caller chooses it once for forward and gradient; nothing else does.
struct NoiseSpec {
  Generator generator = Generator::philox;
  Distribution distribution = Distribution::uniform8;
  int rounds = 7;           ///< Philox rounds: philox 7 or 10, triton 10, splitmix64 0
  bool antithetic = false;  ///< individuals 2p and 2p+1 use seeds[p] with + and -

  /// Var(N) of one element, exact for philox; 1/12 for the seed module's generators.
  double variance() const;

  /// Seeds of `pop` individuals.
  std::int64_t seed_count(std::int64_t pop) const { return antithetic ? pop / 2 : pop; }

  /// Throws InvalidArgument naming the field.
  void validate() const;

  friend bool operator==(const NoiseSpec&, const NoiseSpec&) = default;
};

/// `triton`, `splitmix64` or `philox:DISTRIBUTION:ROUNDS`; does not hold `antithetic`.
std::string to_string(const NoiseSpec& noise);

/// Parses `GENERATOR[:DISTRIBUTION[:ROUNDS]]`, missing parts as the generator's defaults.
/// Throws InvalidArgument naming the part and what is allowed.
NoiseSpec parse_noise_spec(std::string_view text);

}  // namespace vnjit
