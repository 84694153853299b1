#pragma once

#include <memory>
#include <string>

#include "network.hpp"

namespace es_digits {

/// Generates and compiles the program's kernels through the runtime's caches, for the GPU that
/// runs them or, on the CPU backend, for `arch`, which needs no GPU. Returns what was made and
/// where it lies, in words; where compiling is not possible, why.
std::string describe_kernels(vnjit::Runtime& runtime, const vnjit::Device& device,
                             const Problems& problems, const std::string& arch);

}  // namespace es_digits
