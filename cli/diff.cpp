#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "command.hpp"
#include "files.hpp"
#include "flag_values.hpp"
#include "inspection.hpp"
#include "text_lines.hpp"

namespace vnjit::cli {
namespace {

using Lines = std::vector<std::string>;

/// Lines that are only in one of the two, in order, marked - and +: what is left of a longest
/// common subsequence. Quadratic in what lies between equal ends.
std::string changed_lines(const Lines& a, const Lines& b) {
  std::size_t head = 0;
  while (head < std::min(a.size(), b.size()) && a[head] == b[head]) ++head;
  std::size_t tail = 0;
  while (tail < std::min(a.size(), b.size()) - head &&
         a[a.size() - 1 - tail] == b[b.size() - 1 - tail]) {
    ++tail;
  }
  const std::size_t n = a.size() - head - tail;
  const std::size_t m = b.size() - head - tail;
  std::vector<std::vector<int>> common(n + 1, std::vector<int>(m + 1));
  for (std::size_t i = n; i-- > 0;) {
    for (std::size_t j = m; j-- > 0;) {
      common[i][j] = a[head + i] == b[head + j] ? common[i + 1][j + 1] + 1
                                                : std::max(common[i + 1][j], common[i][j + 1]);
    }
  }
  std::string text;
  std::size_t i = 0;
  std::size_t j = 0;
  while (i < n || j < m) {
    if (i < n && j < m && a[head + i] == b[head + j]) {
      ++i;
      ++j;
    } else if (i < n && (j == m || common[i + 1][j] >= common[i][j + 1])) {
      text += fmt::format("- {}\n", a[head + i++]);
    } else {
      text += fmt::format("+ {}\n", b[head + j++]);
    }
  }
  return text;
}

std::map<std::string, int> opcodes(const std::vector<CodeLine>& sass) {
  std::map<std::string, int> counts;
  for (const CodeLine& line : sass) {
    std::string name = opcode(line.text);
    if (!name.empty() && name != "NOP") ++counts[name];
  }
  return counts;
}

std::string number_row(std::string_view name, auto a, auto b) {
  if (a == b) return {};
  return fmt::format("{:<18}{:>10} {:>10}\n", name, a, b);
}

std::string changed_resources(const Inspection& a, const Inspection& b) {
  const Candidate& x = a.resources;
  const Candidate& y = b.resources;
  return number_row("registers", x.usage.registers, y.usage.registers) +
         number_row("bytes spilled", x.usage.spill_store_bytes, y.usage.spill_store_bytes) +
         number_row("shared bytes", x.shared_bytes + x.usage.static_shared_bytes,
                    y.shared_bytes + y.usage.static_shared_bytes) +
         number_row("threads", a.source.threads, b.source.threads) +
         number_row("blocks/SM", x.blocks_per_sm, y.blocks_per_sm) +
         number_row("occupancy", fmt::format("{:.2f}", x.occupancy),
                    fmt::format("{:.2f}", y.occupancy));
}

std::string changed_opcodes(const Inspection& a, const Inspection& b) {
  if (a.sass.empty() || b.sass.empty()) return {};
  const std::map<std::string, int> first = opcodes(a.sass);
  const std::map<std::string, int> second = opcodes(b.sass);
  std::map<std::string, std::pair<int, int>> both;
  for (const auto& [name, count] : first) both[name].first = count;
  for (const auto& [name, count] : second) both[name].second = count;
  std::string text;
  for (const auto& [name, counts] : both) text += number_row(name, counts.first, counts.second);
  return text;
}

std::string part(std::string_view title, const std::string& text) {
  return text.empty() ? text : fmt::format("{}\n{}\n", title, text);
}

KernelRequest parse_request(std::string_view flag, const std::string& common,
                            const std::string& own) {
  CLI::App app;
  const ProblemFlags flags(app);
  try {
    app.parse(common + ' ' + own, false);
    return flags.request();
  } catch (const CLI::ExtrasError&) {
    throw InvalidArgument(fmt::format("{}: unknown argument '{}'", flag, app.remaining().front()));
  } catch (const CLI::ParseError& error) {
    throw InvalidArgument(fmt::format("{}: {}", flag, error.what()));
  }
}

struct DiffFlags {
  std::vector<std::string> common;
  std::vector<std::string> configs;
  std::string a, b;
};

int run(const DiffFlags& flags) {
  std::string a = flags.a;
  std::string b = flags.b;
  if (!flags.configs.empty()) {
    if (flags.configs.size() != 2 || !a.empty() || !b.empty()) {
      throw InvalidArgument("diff takes --config twice, or --a and --b");
    }
    a = "--config " + flags.configs[0];
    b = "--config " + flags.configs[1];
  }
  std::string common;
  for (const std::string& argument : flags.common) common += argument + ' ';
  const Inspection first = inspect(parse_request("--a", common, a));
  const Inspection second = inspect(parse_request("--b", common, b));
  std::string text =
      part("source", changed_lines(lines_of(first.source.text), lines_of(second.source.text))) +
      part("resources", changed_resources(first, second)) +
      part("instructions", changed_opcodes(first, second));
  if (first.sass.empty()) text += first.sass_note + '\n';
  write_output(text.empty() ? "no difference\n" : text);
  return kOk;
}

}  // namespace

Command add_diff(CLI::App& app) {
  CLI::App* command = app.add_subcommand(
      "diff", "Show what two kernels differ in: source, resources, instructions");
  const auto flags = std::make_shared<DiffFlags>();
  command->allow_extras();
  command->add_option("--config", flags->configs, "of the first and, given again, of the second")
      ->type_name("CONFIG")
      ->allow_extra_args(false);
  command->add_option("--a", flags->a, "flags of the first, as one argument")->type_name("FLAGS");
  command->add_option("--b", flags->b, "flags of the second")->type_name("FLAGS");
  command->footer(
      "OP and flags that both have, those of `vnjit emit`, stand beside these. Lines and numbers "
      "of\n"
      "the first are marked - or come first.\n"
      "Example:\n"
      "  vnjit diff reduce-metric --a \"--noise triton\" --b \"--noise philox:uniform8\"");
  return {command, [command, flags] {
            flags->common = command->remaining();
            return run(*flags);
          }};
}

}  // namespace vnjit::cli
