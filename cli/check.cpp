#include <fmt/format.h>

#include <limits>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "command.hpp"
#include "files.hpp"
#include "flag_values.hpp"
#include "golden_check.hpp"

namespace vnjit::cli {
namespace {

std::shared_ptr<Device> open_device(Runtime& runtime, const std::string& name) {
  if (name == "cpu") return runtime.cpu();
  if (name.find_first_not_of("0123456789") != std::string::npos || name.empty()) {
    throw InvalidArgument(
        fmt::format("--device: '{}' is not a device; use cpu or a GPU's number", name));
  }
  const std::int64_t ordinal = parse_integer("--device", name);
  if (ordinal > std::numeric_limits<int>::max()) {
    throw InvalidArgument(fmt::format("--device: there is no device {}", ordinal));
  }
  return runtime.gpu(static_cast<int>(ordinal));
}

/// What one part of a check found, and whether it holds.
struct Report {
  std::string text;
  bool holds = true;

  void add(const Report& part) {
    text += part.text;
    holds = holds && part.holds;
  }
};

Report report(std::string_view name, const NoiseCheck& check) {
  Report report{fmt::format("{:<18} {} values compared, {} bits differ in {} of them\n", name,
                            check.values, check.bits_differing, check.values_differing),
                check.holds()};
  if (!check.holds()) report.text += fmt::format("  first: {}\n", check.first);
  return report;
}

/// The CPU has two ways to a noise value, a GPU one.
Report report_noise(std::string_view name, const std::vector<GoldenNoise>& rows,
                    Generator generator, Runtime& runtime, const std::shared_ptr<Device>& device) {
  Report noise;
  if (!device->is_gpu())
    noise.add(report(fmt::format("{} noise", name), check_filled_noise(rows, generator)));
  noise.add(report(fmt::format("{} applied", name),
                   check_applied_noise(rows, generator, runtime, device)));
  return noise;
}

Report report(std::string_view name, const ErrorCheck& check) {
  Report report{fmt::format("  {:<16} largest error {:.2e}, at most {:.0e}, {} cases", name,
                            check.largest, check.limit, check.cases),
                check.holds()};
  if (!check.holds()) {
    report.text += fmt::format(", {} beyond; worst {}", check.cases_beyond, check.where);
  }
  report.text += '\n';
  return report;
}

Report report(std::string_view title, const OperationChecks& checks) {
  Report all{fmt::format("{}\n", title)};
  all.add(report("forward", checks.forward));
  all.add(report("weight gradient", checks.weight_gradient));
  all.add(report("bias gradient", checks.bias_gradient));
  all.add(report("reduce metric", checks.reduce_metric));
  return all;
}

Report report_offsets(const std::vector<GoldenOffsets>& cases) {
  std::string first;
  const std::int64_t differing = check_compute_offsets(cases, first);
  Report report{
      fmt::format("{:<18} {} cases, {} differ\n", "compute_offsets", cases.size(), differing),
      differing == 0};
  if (!report.holds) report.text += fmt::format("  first: {}\n", first);
  return report;
}

/// Runs every case.
Report check(const GoldenFile& golden, Runtime& runtime, const std::shared_ptr<Device>& device) {
  Report all{fmt::format("{:<18} {}\n", "device", device->name())};
  all.add(report_noise("triton", golden.triton_noise, Generator::triton, runtime, device));
  all.add(
      report_noise("splitmix64", golden.splitmix64_noise, Generator::splitmix64, runtime, device));
  all.add(report("cpu values, with splitmix64 noise",
                 check_operations(golden.operations, GoldenPath::cpu, runtime, device)));
  all.add(report("gpu values, with triton noise",
                 check_operations(golden.operations, GoldenPath::gpu, runtime, device)));
  all.add(report_offsets(golden.compute_offsets));
  all.text += all.holds ? "all hold\n" : "FAILED\n";
  return all;
}

int run(const std::string& path, const std::string& device_name) {
  require_name("FILE", path);
  const GoldenFile golden = read_golden_file(path);
  Runtime runtime;
  const std::shared_ptr<Device> device = open_device(runtime, device_name);
  try {
    const Report all = check(golden, runtime, device);
    write_output(all.text);
    return all.holds ? kOk : kFailed;
  } catch (const InvalidArgument& error) {
    throw InvalidArgument(fmt::format("{}: {}", path, error.what()));
  }
}

}  // namespace

Command add_check(CLI::App& app) {
  CLI::App* command =
      app.add_subcommand("check", "Compare noise and operations with the golden values of a file");
  const auto path = std::make_shared<std::string>();
  const auto device = std::make_shared<std::string>("cpu");
  command->add_option("FILE", *path, "in the format of tests/golden/seed_golden.json")
      ->required()
      ->type_name("");
  command->add_option("--device", *device, "cpu, or the number of a GPU")
      ->type_name("cpu|N")
      ->capture_default_str();
  command->footer(
      "The exit status is 0 if all hold, 1 if some do not, 2 if the file cannot be used.\n"
      "Example:\n"
      "  vnjit check tests/golden/seed_golden.json --device cpu");
  return {command, [path, device] { return run(*path, *device); }};
}

}  // namespace vnjit::cli
