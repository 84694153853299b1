#pragma once

#include <CLI/CLI.hpp>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "vnjit/codegen/emit.hpp"
#include "vnjit/runtime/options.hpp"

namespace vnjit::cli {

/// A kernel as the flags ask for it.
struct KernelRequest {
  Problem problem;
  DeviceLimits limits;
  Config config;
  bool config_given = false;  ///< by --config; else the library chose it
  bool family_given = false;  ///< by --family: it chose among the configs of one family
  Access access;
  std::shared_ptr<const TemplateFiles> templates{};  ///< of --template-dir; null: those built in
  int ordinal = -1;                                  ///< of the GPU that --device names; -1: none

  /// The kernel's source.
  KernelSource source() const;
  /// Of a Runtime that makes kernels of the request's templates.
  Options options() const;
};

/// What a command does with its kernel.
enum class FlagsFor {
  looking,  ///< on any machine: limits of --arch, or of a GPU that --device names
  running,  ///< on --device, GPU 0 unless another or `cpu` is given
  tuning,   ///< on --device, or compiling for --arch; OP may be missing, and the config is open
};

/// OP and the flags that say which kernel a command is about. Bound to its
/// parser, so it neither moves nor is copied, and lives as long as the parser is used.
class ProblemFlags {
 public:
  explicit ProblemFlags(CLI::App& command, FlagsFor use = FlagsFor::looking);
  ProblemFlags(const ProblemFlags&) = delete;
  ProblemFlags& operator=(const ProblemFlags&) = delete;

  /// What was asked, with a note on standard error for each flag that OP has no use for. Touches a
  /// GPU only where --device names one. Throws InvalidArgument and ConfigError naming the flag;
  /// Unavailable.
  KernelRequest request() const;

  /// Of tuning: whether OP is given, the problem with notes as above, and where.
  bool has_problem() const { return !operation_.empty(); }
  Problem noted_problem() const;
  bool has_arch() const { return given("--arch"); }
  bool has_device() const { return given("--device"); }
  int ordinal() const;
  /// Of the GPU, or with -1 of --arch.
  DeviceLimits limits(int ordinal) const;

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
  void add_device_flags(CLI::App& command);
  void add_kernel_flags(CLI::App& command);

  bool given(std::string_view name) const;
  void refuse_contradictions() const;
  void note_unused_flags() const;
  NoiseSpec noise() const;
  Problem problem() const;
  Problem perturbed_linear() const;
  Problem gradient(bool vector) const;
  Problem reduce_metric() const;
  Config config(const Problem& problem, const DeviceLimits& limits, const Access& access) const;

  FlagsFor use_;
  std::vector<Flag> flags_;
  std::string operation_;
  std::string pop_, batch_, in_, out_;
  std::string dtype_, precision_, output_, x_, noise_, normalize_, update_;
  std::string arch_, device_, config_, family_, access_, template_dir_;
  bool bias_ = false;
  bool no_bias_ = false;
  bool antithetic_ = false;
  bool bake_shape_ = false;
};

}  // namespace vnjit::cli
