#include "bench_row.hpp"

#include <fmt/format.h>

#include "vnjit/codegen/candidates.hpp"
#include "vnjit/codegen/cost_model.hpp"
#include "vnjit/codegen/error.hpp"

namespace vnjit::cli {

double BenchRow::flops() const {
  return 2 * static_cast<double>(subject.problem.batch) * noise_values();
}

double BenchRow::noise_values() const {
  return static_cast<double>(subject.problem.pop) * static_cast<double>(subject.problem.in) *
         static_cast<double>(subject.problem.out);
}

BenchRow predict(const BenchCase& subject, const DeviceLimits& limits,
                 const std::optional<Config>& config) {
  BenchRow row{.subject = subject};
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
