#include "sass.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <map>

#include "text_lines.hpp"

namespace vnjit::cli {
namespace {

std::string_view trimmed(std::string_view text) {
  const std::size_t begin = text.find_first_not_of(" \t\r");
  if (begin == std::string_view::npos) return {};
  return text.substr(begin, text.find_last_not_of(" \t\r") - begin + 1);
}

/// The number after `before`; 0 without one.
int number_after(std::string_view text, std::string_view before) {
  const std::size_t at = text.find(before);
  int value = 0;
  if (at == std::string_view::npos) return value;
  const std::string_view rest = text.substr(at + before.size());
  std::from_chars(rest.data(), rest.data() + rest.size(), value);
  return value;
}

bool starts_with_any(std::string_view name, const auto& prefixes) {
  return std::ranges::any_of(prefixes,
                             [&](std::string_view prefix) { return name.starts_with(prefix); });
}

constexpr std::array<std::string_view, 6> kTensor = {"HMMA",  "IMMA",  "HGMMA",
                                                     "IGMMA", "QGMMA", "QMMA"};
constexpr std::array<std::string_view, 14> kMemory = {"LD",     "ST",     "ATOM",   "RED",  "UTMA",
                                                      "UBLKCP", "CCTL",   "SULD",   "SUST", "TEX",
                                                      "SYNCS",  "MEMBAR", "ERRBAR", "FENCE"};
constexpr std::array<std::string_view, 12> kFloat = {
    "FADD", "FMUL", "FFMA", "FSET", "FMNMX", "FSEL", "MUFU", "HADD", "HMUL", "HFMA", "HSET", "D"};
constexpr std::array<std::string_view, 19> kInteger = {
    "IADD", "IMAD", "IABS", "IMNMX", "ISETP", "ISCADD", "LOP", "SHF", "SHL", "SHR",
    "LEA",  "PRMT", "POPC", "FLO",   "BREV",  "I2F",    "F2I", "IDP", "VI"};

}  // namespace

// An instruction reads `/*0010*/   @P0 IMAD.MOV.U32 R1, RZ, RZ, c[0x0][0x28] ;` with or without
// more in comments behind it; a label `.L_x_1:`; lines of the source `//## File "kernel", line 12`.
std::vector<CodeLine> parse_sass(std::string_view text) {
  std::vector<CodeLine> lines;
  int source_line = 0;
  for_each_line(text, [&](std::string_view line) {
    line = trimmed(line);
    if (line.starts_with("//##")) {
      // Of code that was inlined the first file is where it stands.
      if (!line.starts_with("//## File") || line.find(", line ") == std::string_view::npos) return;
      source_line = number_after(line, ", line ");
      return;
    }
    if (line.starts_with(".L_") && line.ends_with(':')) {
      lines.push_back({std::string(line), 0});
      return;
    }
    if (!line.starts_with("/*")) return;
    const std::size_t end = line.find("*/");
    if (end == std::string_view::npos || end < 6) return;
    line = trimmed(line.substr(end + 2));
    const std::size_t semicolon = line.find(';');
    if (semicolon == std::string_view::npos) return;
    lines.push_back({std::string(trimmed(line.substr(0, semicolon))), source_line});
  });
  return lines;
}

std::vector<CodeLine> parse_ptx(std::string_view text) {
  std::vector<CodeLine> lines;
  int source_line = 0;
  bool debug = false;
  for_each_line(text, [&](std::string_view line) {
    const std::string_view content = trimmed(line);
    if (content.starts_with(".loc")) {
      const std::string_view numbers = trimmed(content.substr(4));  // file, line, column
      source_line = number_after(numbers, " ");
      return;
    }
    if (content.starts_with(".section") || content.starts_with(".file")) debug = true;
    if (debug || content.empty()) return;
    const bool code = content.ends_with(';') && !content.starts_with('.');
    lines.push_back({std::string(line), code ? source_line : 0});
  });
  return lines;
}

std::string opcode(std::string_view instruction) {
  if (instruction.starts_with('.')) return {};
  if (instruction.starts_with('@')) {
    const std::size_t space = instruction.find(' ');
    if (space == std::string_view::npos) return {};
    instruction = trimmed(instruction.substr(space));
  }
  return std::string(instruction.substr(0, instruction.find(' ')));
}

InstructionMix mix_of(const std::vector<CodeLine>& sass) {
  InstructionMix mix;
  for (const CodeLine& line : sass) {
    std::string name = opcode(line.text);
    if (name.empty() || name == "NOP") continue;
    // The uniform data path does the same work on values that a warp shares.
    std::string_view base = name;
    if (base.starts_with('U') && !base.starts_with("UTMA") && !base.starts_with("UBLK")) {
      base.remove_prefix(1);
    }
    if (starts_with_any(base, kTensor)) {
      ++mix.tensor;
    } else if (base.starts_with("LDGDEPBAR") || base.starts_with("DEPBAR")) {
      ++mix.other;
    } else if (starts_with_any(base, kMemory)) {
      ++mix.memory;
    } else if (base.starts_with("IMAD.MOV")) {
      ++mix.other;
    } else if (starts_with_any(base, kInteger)) {
      ++mix.integer;
    } else if (starts_with_any(base, kFloat)) {
      ++mix.fp;
    } else {
      ++mix.other;
    }
  }
  return mix;
}

std::vector<CodeLine> largest_loop(const std::vector<CodeLine>& sass) {
  std::map<std::string, std::size_t, std::less<>> labels;  // text without the colon
  std::size_t begin = 0;
  std::size_t size = 1;  // the jump to itself at the end of a kernel is no loop
  for (std::size_t n = 0; n < sass.size(); ++n) {
    const std::string& text = sass[n].text;
    if (text.starts_with('.')) {
      labels[text.substr(0, text.size() - 1)] = n + 1;
      continue;
    }
    if (!opcode(text).starts_with("BRA")) continue;
    const std::size_t open = text.find("`(");
    const std::size_t close = text.find(')', open == std::string::npos ? 0 : open);
    if (open == std::string::npos || close == std::string::npos) continue;
    const auto target = labels.find(text.substr(open + 2, close - open - 2));
    if (target != labels.end() && n + 1 - target->second > size) {
      begin = target->second;
      size = n + 1 - begin;
    }
  }
  if (size <= 1) return {};
  return {sass.begin() + static_cast<std::ptrdiff_t>(begin),
          sass.begin() + static_cast<std::ptrdiff_t>(begin + size)};
}

}  // namespace vnjit::cli
