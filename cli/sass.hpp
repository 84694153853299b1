#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace vnjit::cli {

/// A line of PTX or SASS, and the line of the source that it was made of, 0 where that is unknown.
struct CodeLine {
  std::string text;
  int line = 0;
};

/// Machine instructions by what does the work.
struct InstructionMix {
  int tensor = 0;   ///< matrix products
  int integer = 0;  ///< integers, bits and conversions from and to them
  int fp = 0;
  int memory = 0;  ///< loads, stores, copies and atomics, of every memory
  int other = 0;   ///< branches, barriers, predicates, moves

  int total() const { return tensor + integer + fp + memory + other; }
};

/// The instructions and labels in what `nvdisasm --print-line-info` prints.
std::vector<CodeLine> parse_sass(std::string_view text);

/// PTX with the lines that its .loc directives name, less the directives.
std::vector<CodeLine> parse_ptx(std::string_view text);

/// The opcode of an instruction, `HMMA.16816.F32`; empty for a label.
std::string opcode(std::string_view instruction);

InstructionMix mix_of(const std::vector<CodeLine>& sass);

/// The largest loop: what lies between a label and a jump back to it. Empty where there is none.
std::vector<CodeLine> largest_loop(const std::vector<CodeLine>& sass);

}  // namespace vnjit::cli
