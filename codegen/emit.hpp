#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "vnjit/codegen/access.hpp"
#include "vnjit/codegen/config.hpp"
#include "vnjit/codegen/templates.hpp"
#include "vnjit/codegen/tensor_config.hpp"

namespace vnjit {

/// A self-contained CUDA C++ translation unit with one kernel, and how to compile and launch it.
struct KernelSource {
  std::string entry;                 ///< `vnjit_perturbed_linear_simt_f32_o64b64k64_s2_...`
  std::string text;                  ///< the same bytes for the same input, everywhere
  std::string arch;                  ///< `sm_90`
  std::vector<std::string> options;  ///< NVRTC options; the architecture is one of them
  int threads = 0;                   ///< of a block
  std::int64_t shared_bytes = 0;     ///< dynamic shared memory of a block
};

// Kernels are put together from `templates`, which are those built in but for people who try an
// idea; where they do not fit together, emission throws TemplateError.

/// Emits the kernel. Pure: no files, no environment, no clock. Throws InvalidArgument or
/// ConfigError when the problem or the config does not validate.
KernelSource emit(const Problem& problem, const Config& config, const DeviceLimits& limits,
                  const Access& access, const TemplateFiles& templates = embedded_templates());

/// The kernel that makes base = X·W^T + b in fp32 before a kernel of a config for which
/// uses_base_product() holds. Laid out as base_product_config() says.
KernelSource emit_base_product(const PerturbedLinear& problem, const DeviceLimits& limits,
                               const Access& access,
                               const TemplateFiles& templates = embedded_templates());

/// The kernel that rounds fp32 rows to the operands' type before the others where
/// converts_inputs() holds.
KernelSource emit_convert(const PerturbedLinear& problem, const DeviceLimits& limits,
                          const TemplateFiles& templates = embedded_templates());

/// The kernel that rounds X to 8 bits before the others where quantizes_inputs() holds.
KernelSource emit_quantize(const PerturbedLinear& problem, const DeviceLimits& limits,
                           const TemplateFiles& templates = embedded_templates());

/// The kernel of noise alone: how fast the generator is where nothing is done with its values.
/// Every thread makes values of its own for each of a range of seeds. Of philox:uniform,
/// uniform8 and rademacher these are the words of its calls, before they become numbers; of other
/// noise they are floats. Antithetic noise is no other.
KernelSource emit_noise_rate(const NoiseSpec& noise, const DeviceLimits& limits);

/// Resident thread blocks a multiprocessor that emit_noise_rate()'s kernel fills a device with.
constexpr int kNoiseRateBlocksPerSm = 4;

/// What a thread of emit_noise_rate()'s kernel makes for a seed.
std::int64_t noise_rate_values(const NoiseSpec& noise);

/// emit() with contiguous_access.
KernelSource emit(const Problem& problem, const Config& config, const DeviceLimits& limits);

}  // namespace vnjit
