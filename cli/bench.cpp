#include <fmt/format.h>

#include <functional>
#include <memory>

#include "bench_flags.hpp"
#include "bench_report.hpp"
#include "command.hpp"
#include "files.hpp"
#include "flag_values.hpp"

namespace vnjit::cli {
namespace {

/// Measures a row with a config; empty where nothing is measured.
using Measure = std::function<void(BenchRow&)>;

/// Prints each row as soon as it is known.
std::vector<BenchRow> fill_table(const Suite& suite, const std::vector<BenchCase>& cases,
                                 const DeviceLimits& limits, const std::optional<Config>& config,
                                 ModelColumn column, const Measure& measure) {
  std::vector<BenchRow> rows;
  for (const BenchCase& one : cases) {
    BenchRow& row = rows.emplace_back(predict(one, suite.work(one), limits, config));
    if (rows.size() == 1) write_output(table_head(suite, row, column));
    if (row.config && measure) measure(row);
    write_output(table_line(suite, row, column));
  }
  return rows;
}

void report(const BenchRequest& request, const std::string& device, const DeviceLimits& limits,
            const Measure& measure) {
  const Suite& suite = request.suite;
  BenchReport report{.suite = suite, .device = device, .seed = request.seed};
  write_output(
      fmt::format("{} on {}, seed {}\n{}", suite.name, device, report.seed, legend(suite)));
  report.cases =
      fill_table(suite, request.cases, limits, request.config, ModelColumn::fraction, measure);
  report.random = fill_table(suite, request.random, limits, {}, ModelColumn::slowdown, measure);
  write_output(worst_line(report.random));
  if (request.json) write_file(*request.json, to_json(report));
}

/// Suite::measure with the row's config, of which a ConfigError becomes the note.
bool measure_row(const Suite& suite, BenchDevice& device, BenchRow& row) {
  std::shared_ptr<const Plan> plan;
  try {
    plan = device.plan(row.subject.problem, *row.config);
  } catch (const ConfigError& error) {
    row.note = fmt::format("ConfigError: {}", error.what());
    return true;
  }
  const bool written = suite.measure(device, *plan, row);
  if (suite.has_ceiling) row.ceiling = device.noise_ceiling(noise_of(row.subject.problem));
  return written;
}

int measure_all(const BenchRequest& request) {
  BenchDevice device(*request.device, request.seconds, request.seed);
  bool written = true;
  report(request, device.name(), device.limits(),
         [&](BenchRow& row) { written = measure_row(request.suite, device, row) && written; });
  return written ? kOk : kFailed;
}

int list_all(const BenchRequest& request) {
  const DeviceLimits limits =
      request.device ? Runtime().gpu(*request.device)->limits()
                     : parse_with("--arch", request.arch,
                                  [](std::string_view name) { return DeviceLimits::preset(name); });
  report(request, limits.name, limits, {});
  return kOk;
}

}  // namespace

Command add_bench(CLI::App& app) {
  CLI::App* command =
      app.add_subcommand("bench", "Measure device times and compare them with the model");
  const auto flags = std::make_shared<BenchFlags>(*command);
  command->footer(
      "It checks no values, only that all elements are written: the exit status is 1 where some\n"
      "are not. A config that a case cannot use is noted in its row.\n"
      "Example:\n"
      "  vnjit bench --suite forward --list --arch sm_90 --random 5 --seed 1");
  return {command, [flags] {
            const BenchRequest request = flags->request();
            return request.list ? list_all(request) : measure_all(request);
          }};
}

}  // namespace vnjit::cli
