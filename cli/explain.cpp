#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <string>
#include <variant>
#include <vector>

#include "command.hpp"
#include "files.hpp"
#include "problem_flags.hpp"
#include "vnjit/codegen/candidates.hpp"
#include "vnjit/codegen/cost_model.hpp"
#include "vnjit/codegen/sum_split.hpp"
#include "vnjit/runtime/error.hpp"
#include "vnjit/runtime/explain_key.hpp"
#include "vnjit/runtime/runtime.hpp"

namespace vnjit::cli {
namespace {

constexpr std::size_t kShownCandidates = 5;

std::string row(std::string_view name, std::string_view text) {
  return fmt::format("{:<12}{}\n", name, text);
}

std::string sizes(const Problem& problem) {
  if (const auto* linear = std::get_if<PerturbedLinear>(&problem)) {
    return fmt::format("pop {}, batch {}, in {}, out {}", linear->pop, linear->batch, linear->in,
                       linear->out);
  }
  if (const auto* gradient = std::get_if<Gradient>(&problem)) {
    return fmt::format("pop {}, rows {}, columns {}", gradient->pop, gradient->rows,
                       gradient->columns);
  }
  const auto& metric = std::get<ReduceMetric>(problem);
  return fmt::format("pop {}, parameters {}", metric.pop, metric.params);
}

std::string describe(const Access& access) {
  std::string text = to_string(access);
  if (access.vector_rows) text += "; rows of X and W on 16-byte boundaries";
  if (access.noise_alignment > 1) {
    text += fmt::format("; noise rows at multiples of {}", access.noise_alignment);
  }
  text += access.wide_index ? "; 64-bit indices" : "; 32-bit indices";
  text += access.wide_counter ? "; 64-bit counters" : "; 32-bit counters";
  return text;
}

std::string describe(const Problem& problem) {
  const NoiseSpec& noise = noise_of(problem);
  return row("problem", command_flags(problem)) + row("sizes", sizes(problem)) +
         row("result", fmt::format("({})", fmt::join(output_shape(problem), ", "))) +
         row("noise", fmt::format("{}{}, variance {}", to_string(noise),
                                  noise.antithetic ? " antithetic" : "", noise.variance()));
}

std::string describe(const DeviceLimits& limits) {
  return row("device", fmt::format("{} ({}), {} multiprocessors at {} MHz", limits.name,
                                   limits.arch(), limits.sm_count, limits.clock_mhz)) +
         row("", fmt::format("shared memory: {} bytes a block, {} opted in, {} a multiprocessor, "
                             "{} reserved a block",
                             limits.shared_per_block, limits.shared_per_block_optin,
                             limits.shared_per_sm, limits.shared_reserved_per_block)) +
         row("", fmt::format("a multiprocessor: {} registers, {} warps, {} blocks",
                             limits.registers_per_sm, limits.max_warps_per_sm,
                             limits.max_blocks_per_sm));
}

std::string describe_choice(const KernelRequest& request) {
  if (request.config_given) return "as asked";
  if (!request.family_given) return "the least predicted time";
  return fmt::format("the least predicted time of family {}", to_string(request.config.family));
}

/// Why tensor cores do not make what they may; empty where nothing is to be said.
std::string describe_tensor(const KernelRequest& request) {
  const auto* linear = std::get_if<PerturbedLinear>(&request.problem);
  if (!linear || is_tensor(request.config.family)) return {};
  if (operand_precision(*linear) == Precision::f32) return {};
  const std::string reason = why_not_tensor(*linear, request.limits);
  return reason.empty() ? std::string() : row("tensor", "not possible: " + reason);
}

std::string describe_split(const KernelRequest& request) {
  const std::string split = explain_split(request.config, request.problem, request.limits);
  return split.empty() ? split : row("split", split);
}

std::string describe_config(const KernelRequest& request) {
  const Config& config = request.config;
  const std::int64_t stage = stage_bytes(config, request.problem);
  return row("config", fmt::format("{}, {}", to_string(config), describe_choice(request))) +
         describe_tensor(request) +
         row("depth", pipeline_depth(config, request.problem, request.limits).explain()) +
         row("shared", fmt::format("{} bytes fixed + {} x {} bytes = {} bytes a block",
                                   fixed_shared_bytes(config, request.problem), config.stages,
                                   stage, shared_bytes(config, request.problem))) +
         describe_split(request);
}

std::string describe_kernel(const KernelRequest& request) {
  const KernelSource source = request.source();
  return row("kernel", source.entry) +
         row("", fmt::format("{} threads and {} bytes of dynamic shared memory a block",
                             source.threads, source.shared_bytes)) +
         row("access", describe(request.access));
}

/// The config in use and the best others, by predicted time.
std::string compare_candidates(const KernelRequest& request) {
  struct Predicted {
    double cycles;
    Config config;
  };
  const auto predict = [&](const Config& config) {
    return Predicted{predicted_cycles(config, request.problem, request.limits), config};
  };
  std::vector<Predicted> ranked;
  for (const Config& config : candidates(request.problem, request.limits)) {
    if (config != request.config) ranked.push_back(predict(config));
  }
  std::stable_sort(ranked.begin(), ranked.end(),
                   [](const Predicted& a, const Predicted& b) { return a.cycles < b.cycles; });
  std::string text = row("candidates", fmt::format("{} in all; predicted cycles of this one and "
                                                   "the best others:",
                                                   ranked.size() + 1));
  const Predicted used = predict(request.config);
  text += row("", fmt::format("{:.0f}  {}  <- this one", used.cycles, to_string(used.config)));
  ranked.resize(std::min(ranked.size(), kShownCandidates));
  for (const Predicted& other : ranked) {
    text += row("", fmt::format("{:.0f}  {}", other.cycles, to_string(other.config)));
  }
  return text;
}

KeyParts key_parts(const KernelRequest& request, const std::string& nvrtc) {
  return {.problem = request.problem,
          .config = request.config,
          .limits = request.limits,
          .access = request.access,
          .nvrtc = nvrtc};
}

/// What the flags in a text ask for, as this command would take them.
KernelRequest parse_request(const std::string& text) {
  CLI::App app;
  const ProblemFlags flags(app);
  try {
    app.parse(text, false);
    return flags.request();
  } catch (const CLI::ExtrasError&) {
    throw InvalidArgument(fmt::format("--against: unknown argument '{}'", app.remaining().front()));
  } catch (const CLI::ParseError& error) {
    throw InvalidArgument(fmt::format("--against: {}", error.what()));
  }
}

/// The compiler is the same for both; without one the rest can still be compared.
std::string nvrtc_identity() {
  try {
    return Runtime().nvrtc_identity();
  } catch (const Unavailable&) {
    return "none";
  }
}

int explain_against(const KernelRequest& request, const std::string& other) {
  const std::string nvrtc = nvrtc_identity();
  write_output(
      explain_key(key_parts(request, nvrtc), key_parts(parse_request(other), nvrtc)).text());
  return kOk;
}

}  // namespace

Command add_explain(CLI::App& app) {
  CLI::App* command = app.add_subcommand(
      "explain", "Say how a kernel would be built, why, and what was predicted of others");
  const auto flags = std::make_shared<ProblemFlags>(*command);
  const auto other = std::make_shared<std::string>();
  CLI::Option* against =
      command
          ->add_option("--against", *other,
                       "another OP and its flags, as one argument: say instead why both do, or do\n"
                       "not, share a binary, field by field")
          ->type_name("'OP ...'")
          ->group("How");
  command->footer(
      "Example:\n"
      "  vnjit explain perturbed-linear --arch sm_86 --in 1024 --out 1024 --pop 16 --batch 64");
  return {command, [flags, other, against] {
            const KernelRequest request = flags->request();
            if (against->count() > 0) return explain_against(request, *other);
            write_output(describe(request.problem) + describe(request.limits) +
                         describe_config(request) + describe_kernel(request) +
                         compare_candidates(request));
            return kOk;
          }};
}

}  // namespace vnjit::cli
