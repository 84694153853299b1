#include <fmt/format.h>

#include <memory>
#include <nlohmann/json.hpp>
#include <string>

#include "command.hpp"
#include "files.hpp"
#include "flag_values.hpp"
#include "html_page.hpp"
#include "inspection.hpp"
#include "text_lines.hpp"
#include "vnjit/codegen/candidates.hpp"

namespace vnjit::cli {
namespace {

using Json = nlohmann::ordered_json;

struct InspectFlags {
  explicit InspectFlags(CLI::App& command) : kernel(command) {}
  ProblemFlags kernel;
  std::string html, json;
  bool brief = false;
};

PipelineDepth depth_of(const Inspection& found) {
  return pipeline_depth(found.request.config, found.request.problem, found.request.limits);
}

Json code_json(const std::vector<CodeLine>& lines) {
  Json json = Json::array();
  for (const CodeLine& line : lines) json.push_back({{"text", line.text}, {"line", line.line}});
  return json;
}

std::string to_json(const Inspection& found) {
  const Candidate& r = found.resources;
  const PipelineDepth depth = depth_of(found);
  Json json = {
      {"kernel",
       {{"entry", found.source.entry},
        {"operation", operation_name(found.request.problem)},
        {"arch", found.source.arch},
        {"config", to_string(found.request.config)},
        {"threads", found.source.threads}}},
      {"resources",
       {{"registers", r.usage.registers},
        {"stack_bytes", r.usage.stack_bytes},
        {"spill_store_bytes", r.usage.spill_store_bytes},
        {"spill_load_bytes", r.usage.spill_load_bytes},
        {"shared_bytes", r.shared_bytes + r.usage.static_shared_bytes},
        {"blocks_per_sm", r.blocks_per_sm},
        {"occupancy", r.occupancy}}},
      {"noise",
       {{"instructions_per_value",
         found.noise_instructions ? Json(*found.noise_instructions) : Json(nullptr)},
        {"note", "Instructions a noise value are those of the generator's own loop, by itself."}}},
      {"pipeline",
       {{"stages", found.request.config.stages},
        {"stage_bytes", depth.stage_bytes},
        {"fixed_bytes", depth.fixed_bytes},
        {"limit_bytes", depth.limit_bytes},
        {"explain", depth.explain()}}},
      {"sass_note", found.sass_note}};
  if (!found.sass.empty()) {
    const InstructionMix mix = mix_of(found.sass);
    json["mix"] = {{"tensor", mix.tensor}, {"integer", mix.integer}, {"fp", mix.fp},
                   {"memory", mix.memory}, {"other", mix.other},     {"total", mix.total()}};
  }
  json["source"] = lines_of(found.source.text);
  json["ptx"] = code_json(found.ptx);
  json["sass"] = code_json(found.sass);
  return json.dump(-1, ' ', false, Json::error_handler_t::replace);
}

std::string row(std::string_view name, std::string_view text) {
  return fmt::format("{:<14}{}\n", name, text);
}

std::string pipeline_picture(const Config& config) {
  std::string text = "[ in use ]";
  for (int stage = 1; stage < config.stages; ++stage) text += fmt::format("[ copy {} ]", stage);
  return text;
}

std::string summary(const Inspection& found) {
  const Candidate& r = found.resources;
  std::string text =
      row("kernel", found.source.entry) +
      row("registers", fmt::format("{} a thread, {} bytes spilled", r.usage.registers,
                                   r.usage.spill_store_bytes)) +
      row("shared", fmt::format("{} bytes a block", r.shared_bytes + r.usage.static_shared_bytes)) +
      row("occupancy", fmt::format("{} blocks a multiprocessor, {:.2f} of its warps",
                                   r.blocks_per_sm, r.occupancy));
  if (found.sass.empty()) {
    text += row("SASS", found.sass_note);
  } else {
    const InstructionMix mix = mix_of(found.sass);
    text += row("instructions",
                fmt::format("{}: {} tensor, {} integer, {} fp, {} memory, {} other", mix.total(),
                            mix.tensor, mix.integer, mix.fp, mix.memory, mix.other));
  }
  if (found.noise_instructions) {
    text += row("noise", fmt::format("{:.2f} instructions a value, in the generator's own loop",
                                     *found.noise_instructions));
  }
  const PipelineDepth depth = depth_of(found);
  if (depth.stage_bytes > 0) text += row("pipeline", pipeline_picture(found.request.config));
  return text + row("depth", depth.explain());
}

/// Each line of the source with what was made of it.
std::string interleaved(const Inspection& found) {
  const bool machine = !found.sass.empty();
  const std::vector<CodeLine>& code = machine ? found.sass : found.ptx;
  const std::vector<std::string> source = lines_of(found.source.text);
  std::vector<std::string> made(source.size() + 1);
  for (const CodeLine& line : code) {
    if (line.line > 0 && static_cast<std::size_t>(line.line) < made.size()) {
      made[static_cast<std::size_t>(line.line)] += fmt::format("            {}\n", line.text);
    }
  }
  std::string text = fmt::format("\nsource and {}\n", machine ? "SASS" : "PTX");
  for (std::size_t n = 0; n < source.size(); ++n) {
    text += fmt::format("{:>5}  {}\n{}", n + 1, source[n], made[n + 1]);
  }
  return text;
}

int run(const InspectFlags& flags) {
  for (const auto& [flag, file] :
       {std::pair<const char*, const std::string*>("--html", &flags.html),
        {"--json", &flags.json}}) {
    require_writable(flag, *file);
  }
  const Inspection found = inspect(flags.kernel.request());
  write_output(summary(found) + (flags.brief ? "" : interleaved(found)));
  const std::string json = to_json(found);
  if (!flags.json.empty()) write_file(flags.json, json + '\n');
  if (!flags.html.empty()) {
    write_file(flags.html, html_page(found.source.entry, json, "inspect.js"));
  }
  return kOk;
}

}  // namespace

Command add_inspect(CLI::App& app) {
  CLI::App* command = app.add_subcommand(
      "inspect", "Show a kernel's source with the machine code it became, and what it takes");
  const auto flags = std::make_shared<InspectFlags>(*command);
  command->add_flag("--brief", flags->brief, "only what it takes, no code")
      ->disable_flag_override()
      ->group("Output");
  command
      ->add_option("--html", flags->html, "write a page there, source, PTX and SASS side by side")
      ->type_name("FILE")
      ->group("Output");
  command->add_option("--json", flags->json, "write all of it there")
      ->type_name("FILE")
      ->group("Output");
  command->footer(
      "SASS takes nvdisasm, of a CUDA toolkit or the wheel nvidia-cuda-nvdisasm; else PTX is "
      "shown.\n"
      "Example:\n"
      "  vnjit inspect reduce-metric --arch sm_90 --brief");
  return {command, [flags] { return run(*flags); }};
}

}  // namespace vnjit::cli
