#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <string>
#include <vector>

#include "command.hpp"
#include "files.hpp"
#include "flag_values.hpp"
#include "problem_flags.hpp"
#include "vnjit/runtime/runtime.hpp"
#include "vnjit/runtime/tune/trial.hpp"

namespace vnjit::cli {
namespace {

constexpr double kSampleSeconds = 0.05;
constexpr int kRounds = 9;

/// Kernels that `text` defines: what follows `__global__` up to the parenthesis of its parameters,
/// where that is a name of vnjit's.
std::vector<std::string> kernels_in(std::string_view text) {
  constexpr std::string_view kPrefix = "vnjit_";
  constexpr std::string_view kQualifier = "__global__";
  std::vector<std::string> names;
  for (auto at = text.find(kQualifier); at != std::string_view::npos;
       at = text.find(kQualifier, at + 1)) {
    const auto name = text.find(kPrefix, at);
    if (name == std::string_view::npos) break;
    const auto end = text.find_first_not_of(
        "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_", name);
    names.emplace_back(text.substr(name, std::min(end, text.size()) - name));
  }
  return names;
}

/// The text of a file to be compiled in place of the generated source of `entry`.
std::string read_source(const std::string& path, const std::string& entry) {
  std::string text = read_file(path);
  const std::vector<std::string> kernels = kernels_in(text);
  if (std::ranges::find(kernels, entry) != kernels.end()) return text;
  throw InvalidArgument(fmt::format(
      "--source: {} defines {}; these flags run {}: give the flags that the comment on top of the "
      "file names, --config among them",
      path, kernels.empty() ? "no kernel of vnjit's" : fmt::format("{}", fmt::join(kernels, ", ")),
      entry));
}

std::shared_ptr<Device> device_of(Runtime& runtime, const KernelRequest& request) {
  return request.ordinal < 0 ? runtime.cpu() : runtime.gpu(request.ordinal);
}

std::shared_ptr<const Plan> plan_of(Runtime& runtime, const KernelRequest& request) {
  return runtime.plan(request.problem, device_of(runtime, request), request.config);
}

double median(std::vector<double> values) {
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::ranges::nth_element(values, middle);
  return *middle;
}

std::string row(std::string_view name, std::string_view text) {
  return fmt::format("{:<11}{}\n", fmt::format("{}:", name), text);
}

std::string time_row(std::string_view name, double seconds) {
  return row(name, fmt::format("{:.4g} us a run", seconds * 1e6));
}

/// Says whether the plan is right, and its error; throws Error where it is not.
std::string checked(Trial& trial, const Plan& plan, double tolerance) {
  return row("error", fmt::format("{:.2g}, at most {:.2g} is right", trial.check(plan, tolerance),
                                  tolerance));
}

/// Both plans in turns, so that what the device does beside hits them alike.
std::string compared(Trial& trial, const Plan& own, const Plan& generated) {
  std::vector<double> own_seconds;
  std::vector<double> generated_seconds;
  for (int round = 0; round < kRounds; ++round) {
    own_seconds.push_back(trial.time(own, kSampleSeconds));
    generated_seconds.push_back(trial.time(generated, kSampleSeconds));
  }
  const double mine = median(own_seconds);
  const double theirs = median(generated_seconds);
  return time_row("time", mine) + time_row("generated", theirs) +
         row("speed", fmt::format("{:.3f} times that of the generated kernel", theirs / mine));
}

int run(const ProblemFlags& flags, const std::string& source) {
  const KernelRequest request = flags.request();
  Options options = request.options();
  const bool own = !source.empty();
  if (own) {
    if (request.ordinal < 0) throw InvalidArgument("--source runs on a GPU; use --device N");
    const std::string entry = request.source().entry;
    options.sources[entry] = read_source(source, entry);
  }
  Runtime runtime(options);
  const auto plan = plan_of(runtime, request);
  const double tolerance = trial_tolerance(request.problem, request.config.fused);
  Trial trial(request.problem, device_of(runtime, request));
  write_output(plan->explain());
  write_output(checked(trial, *plan, tolerance));
  if (!own && !request.templates) {
    write_output(time_row("time", trial.time(*plan, kRounds * kSampleSeconds)));
    return kOk;
  }
  Runtime generating(Options::from_environment());
  write_output(compared(trial, *plan, *plan_of(generating, request)));
  return kOk;
}

}  // namespace

Command add_run(CLI::App& app) {
  CLI::App* command =
      app.add_subcommand("run", "Run a kernel on random numbers, check the result and time it");
  const auto flags = std::make_shared<ProblemFlags>(*command, FlagsFor::running);
  const auto source = std::make_shared<std::string>();
  CLI::Option* option =
      command
          ->add_option(
              "--source", *source,
              "compile this file, an edited `vnjit emit`, in place of the generated\nsource, "
              "and compare both")
          ->type_name("FILE")
          ->group("How");
  command->footer(
      "The result is compared with sums in float64 at sampled elements, and all of it must be\n"
      "written: the exit status is 1 where it is wrong.\n"
      "Example:\n"
      "  vnjit run reduce-metric --device cpu --in 1000 --out 10 --pop 8");
  return {command, [flags, source, option] {
            if (option->count() > 0) require_name("--source", *source);
            return run(*flags, *source);
          }};
}

}  // namespace vnjit::cli
