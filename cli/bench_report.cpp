#include "bench_report.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <nlohmann/json.hpp>

namespace vnjit::cli {
namespace {

using Json = nlohmann::ordered_json;

constexpr double kMilli = 1e3;
constexpr double kTera = 1e-12;

/// A negative width puts the text to the left.
constexpr std::array kWidths = {-9, 5, 5, 5, 5, -10, -8, -17, -32, 9, 8, 8, 8, 9, 8};
using Cells = std::array<std::string, kWidths.size()>;

std::string join(const Cells& cells) {
  std::string line;
  for (std::size_t n = 0; n < cells.size(); ++n) {
    if (n > 0) line += ' ';
    line += kWidths[n] < 0 ? fmt::format("{:<{}}", cells[n], -kWidths[n])
                           : fmt::format("{:>{}}", cells[n], kWidths[n]);
  }
  return line;
}

std::string layout_name(InputLayout layout) {
  return layout == InputLayout::shared ? "shared" : "individual";
}

/// Of the inputs, and what the product rounds them to where that differs.
std::string type_name(const PerturbedLinear& problem) {
  std::string name(to_string(problem.input));
  if (problem.precision != Precision::input) {
    name += fmt::format("/{}", to_string(problem.precision));
  }
  return name;
}

std::string samples(const Timing& timing) {
  return timing.runs == 1 ? fmt::to_string(timing.samples)
                          : fmt::format("{}x{}", timing.samples, timing.runs);
}

Json json_of(const BenchRow& row) {
  const PerturbedLinear& problem = row.subject.problem;
  Json json = {{"case", row.subject.name},
               {"pop", problem.pop},
               {"batch", problem.batch},
               {"in", problem.in},
               {"out", problem.out},
               {"x", layout_name(problem.layout)},
               {"type", type_name(problem)},
               {"noise", to_string(problem.noise)},
               {"noise_values", row.noise_values()},
               {"flops", row.flops()}};
  if (row.config) {
    json["config"] = to_string(*row.config);
    json["predicted_seconds"] = row.predicted_seconds;
  }
  if (row.timing) {
    json["seconds"] = row.timing->seconds;
    json["samples"] = row.timing->samples;
    json["runs_per_sample"] = row.timing->runs;
    json["flops_per_second"] = row.flops_per_second();
    json["noise_values_per_second"] = row.noise_values_per_second();
    json["measured_over_predicted"] = row.slowdown();
  }
  if (!row.note.empty()) json["note"] = row.note;
  return json;
}

Json json_of(const std::vector<BenchRow>& rows) {
  Json json = Json::array();
  for (const BenchRow& row : rows) json.push_back(json_of(row));
  return json;
}

}  // namespace

std::string table_head(ModelColumn column) {
  return join({"case", "P", "B", "K", "N", "X", "type", "noise", "config", "ms", "samples",
               "TFLOP/s", "Tnoise/s", "model ms",
               column == ModelColumn::fraction ? "of model" : "x model"}) +
         '\n';
}

std::string table_line(const BenchRow& row, ModelColumn column) {
  const PerturbedLinear& problem = row.subject.problem;
  Cells cells = {
      row.subject.name,           fmt::to_string(problem.pop), fmt::to_string(problem.batch),
      fmt::to_string(problem.in), fmt::to_string(problem.out), layout_name(problem.layout),
      type_name(problem),         to_string(problem.noise)};
  std::fill(cells.begin() + 8, cells.end(), "-");
  if (row.config) {
    cells[8] = to_string(*row.config);
    cells[13] = fmt::format("{:.4f}", row.predicted_seconds * kMilli);
  }
  if (row.timing) {
    cells[9] = fmt::format("{:.4f}", row.timing->seconds * kMilli);
    cells[10] = samples(*row.timing);
    cells[11] = fmt::format("{:.1f}", row.flops_per_second() * kTera);
    cells[12] = fmt::format("{:.3f}", row.noise_values_per_second() * kTera);
    cells[14] = fmt::format("{:.2f}",
                            column == ModelColumn::fraction ? 1 / row.slowdown() : row.slowdown());
  }
  return join(cells) + (row.note.empty() ? "" : "  " + row.note) + '\n';
}

std::string worst_line(const std::vector<BenchRow>& rows) {
  const BenchRow* worst = nullptr;
  for (const BenchRow& row : rows) {
    if (row.timing && (!worst || row.slowdown() > worst->slowdown())) worst = &row;
  }
  if (!worst) return {};
  return fmt::format("worst: {} takes {:.2f} times the model\n", worst->subject.name,
                     worst->slowdown());
}

std::string to_json(const BenchReport& report) {
  const Json json = {{"suite", report.suite},
                     {"device", report.device},
                     {"seed", report.seed},
                     {"cases", json_of(report.cases)},
                     {"random", json_of(report.random)}};
  return json.dump(2) + '\n';
}

}  // namespace vnjit::cli
