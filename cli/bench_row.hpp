#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "vnjit/codegen/config.hpp"
#include "vnjit/runtime/tune/device_timer.hpp"

namespace vnjit::cli {

/// A problem to measure, by name.
struct BenchCase {
  std::string name;
  Problem problem;
  /// Of a gradient: its blocks, matrices and vectors. The problem has their number of parameters.
  std::vector<std::vector<std::int64_t>> shapes{};
};

/// What a run of a case makes.
struct Work {
  double noise_values = 0;  ///< of antithetic pairs once
  double flops = 0;         ///< of matrix products; 0 where they are not what is measured
};

/// A case, what the model says of it and, once it is measured, how long it takes.
struct BenchRow {
  BenchCase subject;
  Work work{};
  std::optional<Config> config{};   ///< none where no config can be used
  double predicted_seconds = 0;     ///< with that config
  std::optional<Timing> timing{};   ///< only with a config
  std::optional<double> ceiling{};  ///< noise values a second of the generator alone; with a timing
  std::string note{};               ///< what went wrong, else empty

  /// How many times the predicted time it takes. Needs a timing, as do the others.
  double slowdown() const { return timing->seconds / predicted_seconds; }
  double flops_per_second() const { return work.flops / timing->seconds; }
  double noise_values_per_second() const { return work.noise_values / timing->seconds; }
  double share_of_ceiling() const { return noise_values_per_second() / *ceiling; }
};

/// The row before it is measured, with this config or the one the library chooses. A ConfigError
/// becomes the note.
BenchRow predict(const BenchCase& subject, const Work& work, const DeviceLimits& limits,
                 const std::optional<Config>& config);

}  // namespace vnjit::cli
