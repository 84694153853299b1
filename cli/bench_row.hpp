#pragma once

#include <optional>
#include <string>

#include "bench_cases.hpp"
#include "vnjit/codegen/config.hpp"

namespace vnjit::cli {

struct Timing {
  double seconds = 0;  ///< of one run, the median of the samples
  int samples = 0;
  int runs = 1;  ///< in a row between the two events of a sample
};

/// A case, what the model says of it and, once it is measured, how long it takes.
struct BenchRow {
  BenchCase subject;
  std::optional<Config> config{};  ///< none where no config can be used
  double predicted_seconds = 0;    ///< with that config
  std::optional<Timing> timing{};  ///< only with a config
  std::string note{};              ///< what went wrong, else empty

  double flops() const;         ///< of the product of X with the perturbed weights
  double noise_values() const;  ///< of the weights of all individuals

  /// How many times the predicted time it takes. Needs a timing, as do the two below.
  double slowdown() const { return timing->seconds / predicted_seconds; }
  double flops_per_second() const { return flops() / timing->seconds; }
  double noise_values_per_second() const { return noise_values() / timing->seconds; }
};

/// The row before it is measured, with this config or the one the library chooses. A ConfigError
/// becomes the note.
BenchRow predict(const BenchCase& subject, const DeviceLimits& limits,
                 const std::optional<Config>& config);

}  // namespace vnjit::cli
