#include "bench_row.hpp"

#include <fmt/format.h>

#include "vnjit/codegen/candidates.hpp"
#include "vnjit/codegen/cost_model.hpp"
#include "vnjit/codegen/error.hpp"

namespace vnjit::cli {

BenchRow predict(const BenchCase& subject, const Work& work, const DeviceLimits& limits,
                 const std::optional<Config>& config) {
  BenchRow row{.subject = subject, .work = work};
  try {
    if (config) validate(*config, subject.problem, limits);
    const Config used = config ? *config : choose_config(subject.problem, limits);
    row.predicted_seconds = predicted_seconds(used, subject.problem, limits);
    row.config = used;
  } catch (const ConfigError& error) {
    row.note = fmt::format("ConfigError: {}", error.what());
  }
  return row;
}

}  // namespace vnjit::cli
