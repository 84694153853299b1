#include "report.hpp"

#include <fmt/format.h>

#include <memory>
#include <nlohmann/json.hpp>

#include "command.hpp"
#include "files.hpp"
#include "flag_values.hpp"
#include "html_page.hpp"
#include "vnjit/codegen/error.hpp"

namespace vnjit::cli {

std::string sweeps_to_json(const std::vector<SweepResult>& sweeps) {
  std::string json = "{\"sweeps\":[";
  for (std::size_t n = 0; n < sweeps.size(); ++n) {
    if (n > 0) json += ',';
    json += to_json(sweeps[n]);
  }
  return json + "]}\n";
}

std::vector<SweepResult> sweeps_from_json(std::string_view text) {
  const auto json = nlohmann::ordered_json::parse(text, nullptr, false);
  const auto list = json.is_object() ? json.find("sweeps") : json.end();
  if (!json.is_object() || list == json.end() || !list->is_array()) {
    return {sweep_result_from_json(text)};
  }
  std::vector<SweepResult> sweeps;
  for (const auto& one : *list) sweeps.push_back(sweep_result_from_json(one.dump()));
  return sweeps;
}

std::string report_page(const std::vector<SweepResult>& sweeps) {
  return html_page("vnjit: what was tuned", sweeps_to_json(sweeps), "report.js");
}

Command add_report(CLI::App& app) {
  struct Flags {
    std::vector<std::string> files;
    std::string html;
  };
  CLI::App* command = app.add_subcommand(
      "report", "Make a page of what `tune --json` found, of several shards too");
  const auto flags = std::make_shared<Flags>();
  command->add_option("FILE", flags->files, "sweeps in JSON")->required()->type_name("");
  command->add_option("--html", flags->html, "the page; else standard output")->type_name("FILE");
  command->footer("Example:\n  vnjit report tests/golden/sweeps/h200_f6.json --html f6.html");
  return {command, [flags] {
            std::vector<SweepResult> sweeps;
            for (const std::string& file : flags->files) {
              const std::string text = read_file(file);
              try {
                for (SweepResult& sweep : sweeps_from_json(text))
                  sweeps.push_back(std::move(sweep));
              } catch (const InvalidArgument& error) {
                throw InvalidArgument(fmt::format("{}: {}", file, error.what()));
              }
            }
            const std::string page = report_page(sweeps);
            if (flags->html.empty()) {
              write_output(page);
            } else {
              write_file(flags->html, page);
            }
            return kOk;
          }};
}

}  // namespace vnjit::cli
