#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "vnjit/codegen/access.hpp"
#include "vnjit/codegen/assembler.hpp"
#include "vnjit/codegen/config.hpp"

// What kernels are put together from. Internal to the emission of source.

namespace vnjit {

/// What one kernel's specialization consists of.
struct Parts {
  std::string root;  // template with its function
  std::string function;
  std::string operation;  // first part of the entry name
  std::string params;     // type of its arguments
  std::string types;      // for the entry name
  std::string summary;    // lines of the opening comment on what it computes
  TemplateFlags flags;
  std::vector<std::string> includes;  // of the specialization
  std::string constants;              // declarations
  TemplateFiles files;                // in place of the samples on disk
  bool tensor_maps = false;           // beside its params it takes those of X and W
  bool grid_constant = false;         // its params are indexed at run time
};

/// `constexpr int NAME = VALUE;`, with a comment on why.
std::string constant(std::string_view name, std::int64_t value, std::string_view why = {});

/// An #include line each.
std::string includes(const std::vector<std::string>& files);

/// The template that defines a generator, and the type in it.
std::string noise_fragment(const NoiseSpec& noise);
std::string noise_type(const NoiseSpec& noise);

/// The template in which the lanes of a warp share a segment of noise.
std::string lane_fragment(const NoiseSpec& noise);

Parts simt_linear_parts(const PerturbedLinear& problem, const Config& config,
                        const DeviceLimits& limits, const Access& access);
Parts tensor_linear_parts(const PerturbedLinear& problem, const Config& config,
                          const DeviceLimits& limits, const Access& access);
Parts gradient_parts(const Gradient& problem, const Config& config, const DeviceLimits& limits);
Parts reduce_metric_parts(const ReduceMetric& problem, const Config& config);
Parts noise_rate_parts(const NoiseSpec& noise, int threads);
Parts base_product_parts(const PerturbedLinear& problem, const Config& config,
                         const DeviceLimits& limits, const Access& access);

}  // namespace vnjit
