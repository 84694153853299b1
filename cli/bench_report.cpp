#include "bench_report.hpp"

#include <fmt/format.h>

namespace vnjit::cli {
namespace {

using Json = nlohmann::ordered_json;

constexpr double kMilli = 1e3;
constexpr double kTera = 1e-12;

/// A column of a table, as wide as that, and what stands in it in one line.
struct Cell {
  std::string_view head;
  int width;  ///< negative: to the left
  std::string text;
};

std::string padded(std::string_view text, int width) {
  return width < 0 ? fmt::format("{:<{}}", text, -width) : fmt::format("{:>{}}", text, width);
}

std::string samples(const Timing& timing) {
  return timing.runs == 1 ? fmt::to_string(timing.samples)
                          : fmt::format("{}x{}", timing.samples, timing.runs);
}

/// A number that a row has once it is measured.
template <typename Number>
Cell measured(std::string_view head, int width, bool known, int digits, Number number) {
  return {head, width, known ? fmt::format("{:.{}f}", number(), digits) : "-"};
}

std::vector<Cell> cells_of(const Suite& suite, const BenchRow& row, ModelColumn column) {
  std::vector<Cell> cells;
  for (const Field& field : suite.fields(row.subject)) {
    cells.push_back(
        {field.head, field.width,
         field.value.is_string() ? field.value.get<std::string>() : field.value.dump()});
  }
  const bool timed = row.timing.has_value();
  cells.push_back({"config", -32, row.config ? to_string(*row.config) : "-"});
  cells.push_back(measured("ms", 9, timed, 4, [&] { return row.timing->seconds * kMilli; }));
  cells.push_back({"samples", 8, timed ? samples(*row.timing) : "-"});
  if (row.work.flops > 0) {
    cells.push_back(
        measured("TFLOP/s", 8, timed, 1, [&] { return row.flops_per_second() * kTera; }));
  }
  cells.push_back(
      measured("Tnoise/s", 8, timed, 3, [&] { return row.noise_values_per_second() * kTera; }));
  if (suite.has_ceiling) {
    const bool known = timed && row.ceiling.has_value();
    cells.push_back(measured("ceiling", 8, known, 3, [&] { return *row.ceiling * kTera; }));
    cells.push_back(measured("of ceiling", 10, known, 2, [&] { return row.share_of_ceiling(); }));
  }
  cells.push_back(measured("model ms", 9, row.config.has_value(), 4,
                           [&] { return row.predicted_seconds * kMilli; }));
  if (column == ModelColumn::fraction) {
    cells.push_back(measured("of model", 8, timed, 2, [&] { return 1 / row.slowdown(); }));
  } else {
    cells.push_back(measured("x model", 8, timed, 2, [&] { return row.slowdown(); }));
  }
  return cells;
}

template <typename Text>
std::string join(const std::vector<Cell>& cells, Text text) {
  std::string line;
  for (const Cell& cell : cells) {
    if (!line.empty()) line += ' ';
    line += padded(cell.*text, cell.width);
  }
  return line;
}

void add_measured(const Suite& suite, const BenchRow& row, Json& json) {
  json["seconds"] = row.timing->seconds;
  json["samples"] = row.timing->samples;
  json["runs_per_sample"] = row.timing->runs;
  if (row.work.flops > 0) json["flops_per_second"] = row.flops_per_second();
  json["noise_values_per_second"] = row.noise_values_per_second();
  if (suite.has_ceiling) {
    json["ceiling_noise_values_per_second"] = *row.ceiling;
    json["share_of_ceiling"] = row.share_of_ceiling();
  }
  json["measured_over_predicted"] = row.slowdown();
}

Json json_of(const Suite& suite, const BenchRow& row) {
  Json json;
  for (const Field& field : suite.fields(row.subject)) json[std::string(field.key)] = field.value;
  json["noise_values"] = row.work.noise_values;
  if (row.work.flops > 0) json["flops"] = row.work.flops;
  if (row.config) {
    json["config"] = to_string(*row.config);
    json["predicted_seconds"] = row.predicted_seconds;
  }
  if (row.timing) add_measured(suite, row, json);
  if (!row.note.empty()) json["note"] = row.note;
  return json;
}

Json json_of(const Suite& suite, const std::vector<BenchRow>& rows) {
  Json json = Json::array();
  for (const BenchRow& row : rows) json.push_back(json_of(suite, row));
  return json;
}

}  // namespace

std::string table_head(const Suite& suite, const BenchRow& row, ModelColumn column) {
  return join(cells_of(suite, row, column), &Cell::head) + '\n';
}

std::string table_line(const Suite& suite, const BenchRow& row, ModelColumn column) {
  return join(cells_of(suite, row, column), &Cell::text) +
         (row.note.empty() ? "" : "  " + row.note) + '\n';
}

std::string legend(const Suite& suite) {
  std::string text =
      "samples 20x5: 20 samples of 5 runs in a row, else of one; Tnoise/s: 10^12 noise values a "
      "second;\n";
  if (suite.has_ceiling) {
    text +=
        "ceiling: Tnoise/s that the generator alone makes in this run; of ceiling: share of it;\n";
  }
  text += "model ms: predicted for this config; of model: predicted / measured";
  if (suite.random_cases) text += "; x model: measured / predicted";
  return text + '\n';
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
  const Json json = {{"suite", report.suite.name},
                     {"device", report.device},
                     {"seed", report.seed},
                     {"cases", json_of(report.suite, report.cases)},
                     {"random", json_of(report.suite, report.random)}};
  return json.dump(2) + '\n';
}

}  // namespace vnjit::cli
