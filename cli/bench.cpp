#include <fmt/format.h>

#include <functional>
#include <memory>

#include "bench_flags.hpp"
#include "bench_forward.hpp"
#include "bench_report.hpp"
#include "command.hpp"
#include "files.hpp"
#include "flag_values.hpp"

namespace vnjit::cli {
namespace {

constexpr std::string_view kLegend =
    "samples 20x5: 20 samples of 5 runs in a row, else of one; Tnoise/s: 10^12 noise values a "
    "second;\nmodel ms: predicted for this config; of model: predicted / measured; x model: "
    "measured / predicted\n";

/// Measures a row; empty where nothing is measured.
using Measure = std::function<void(BenchRow&)>;

/// Prints each row as soon as it is known.
std::vector<BenchRow> fill_table(const std::vector<BenchCase>& cases, const DeviceLimits& limits,
                                 const std::optional<Config>& config, ModelColumn column,
                                 const Measure& measure) {
  std::vector<BenchRow> rows;
  if (cases.empty()) return rows;
  write_output(table_head(column));
  for (const BenchCase& one : cases) {
    BenchRow& row = rows.emplace_back(predict(one, limits, config));
    if (row.config && measure) measure(row);
    write_output(table_line(row, column));
  }
  return rows;
}

void report(const BenchRequest& request, const std::string& device, const DeviceLimits& limits,
            const Measure& measure) {
  BenchReport report{.suite = request.suite, .device = device, .seed = request.seed};
  write_output(fmt::format("{} on {}, seed {}\n{}", report.suite, device, report.seed, kLegend));
  report.cases = fill_table(request.cases, limits, request.config, ModelColumn::fraction, measure);
  report.random = fill_table(request.random, limits, {}, ModelColumn::slowdown, measure);
  write_output(worst_line(report.random));
  if (request.json) write_file(*request.json, to_json(report));
}

int measure_all(const BenchRequest& request) {
  ForwardBench bench(*request.device, request.seconds, request.seed);
  bool written = true;
  report(request, bench.device().name(), bench.device().limits(),
         [&](BenchRow& row) { written = bench.measure(row) && written; });
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
