#pragma once

#include <filesystem>
#include <string>
#include <string_view>

#include "vnjit/runtime/options.hpp"

namespace vnjit::cli {

/// nvdisasm: VNJIT_NVDISASM, else in PATH, a toolkit, NVIDIA's wheels, or beside this program as
/// ./dev leaves it. Empty where there is none; throws InvalidArgument where VNJIT_NVDISASM is none.
std::filesystem::path find_nvdisasm(const Options& options);

/// What nvdisasm prints of a cubin, with lines of the source. Throws Error saying why it failed.
std::string disassemble(const std::filesystem::path& nvdisasm, std::string_view cubin);

}  // namespace vnjit::cli
