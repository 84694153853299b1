#pragma once

#include <CLI/CLI.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "vnjit/codegen/emit.hpp"

namespace vnjit::cli {

/// A kernel as the flags ask for it.
struct KernelRequest {
  Problem problem;
  DeviceLimits limits;
  Config config;
  bool config_given = false;  ///< by --config; else the library chose it
  bool family_given = false;  ///< by --family: it chose among the configs of one family
  Access access;
};

/// OP and the flags that say which kernel `emit`, `compile` and `explain` are about. Bound to its
/// parser, so it neither moves nor is copied, and lives as long as the parser is used.
class ProblemFlags {
 public:
  explicit ProblemFlags(CLI::App& command);
  ProblemFlags(const ProblemFlags&) = delete;
  ProblemFlags& operator=(const ProblemFlags&) = delete;

  /// What was asked, with a note on standard error for each flag that OP has no use for. Touches a
  /// GPU only for --device. Throws InvalidArgument and ConfigError naming the flag; Unavailable.
  KernelRequest request() const;

 private:
  struct Flag {
    std::string name;
    CLI::Option* option;
    unsigned operations;  ///< bits of the operations it concerns
  };

  CLI::Option* add(CLI::App& command, const std::string& name, std::string& value,
                   const std::string& type, const std::string& text, unsigned operations);
  CLI::Option* add_switch(CLI::App& command, const std::string& name, bool& value,
                          const std::string& text, unsigned operations);
  void add_sizes(CLI::App& command);
  void add_operation_flags(CLI::App& command);
  void add_kernel_flags(CLI::App& command);

  bool given(std::string_view name) const;
  void refuse_contradictions() const;
  void note_unused_flags() const;
  NoiseSpec noise() const;
  Problem problem() const;
  Problem perturbed_linear() const;
  Problem gradient(bool vector) const;
  Problem reduce_metric() const;
  DeviceLimits limits() const;
  Config config(const Problem& problem, const DeviceLimits& limits, const Access& access) const;

  std::vector<Flag> flags_;
  std::string operation_;
  std::string pop_, batch_, in_, out_;
  std::string dtype_, precision_, output_, x_, noise_, normalize_, update_;
  std::string arch_, device_, config_, family_, access_;
  bool bias_ = false;
  bool no_bias_ = false;
  bool antithetic_ = false;
  bool bake_shape_ = false;
};

}  // namespace vnjit::cli
