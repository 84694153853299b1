#pragma once

#include <optional>
#include <string>
#include <vector>

#include "problem_flags.hpp"
#include "sass.hpp"
#include "vnjit/runtime/tune/sweep.hpp"

namespace vnjit::cli {

/// A kernel in all its forms.
struct Inspection {
  KernelRequest request;
  KernelSource source;
  Candidate resources;  ///< registers, shared memory, resident blocks, occupancy
  std::vector<CodeLine> ptx;
  std::vector<CodeLine> sass;  ///< empty without nvdisasm
  std::string sass_note;       ///< why, then
  /// Machine instructions of the generator's own loop for one value of its noise (`vnjit bench`
  /// measures that kernel as the ceiling): instructions of the loop over the calls of the generator
  /// in it, and the values of a call. None without SASS, or where the calls cannot be counted.
  std::optional<double> noise_instructions;
};

/// Compiles with lines of the source, which change nothing in the machine code, and disassembles.
/// Throws what emission and compilation do.
Inspection inspect(const KernelRequest& request);

}  // namespace vnjit::cli
