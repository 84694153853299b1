#include <fmt/format.h>

#include <limits>
#include <memory>
#include <string>

#include "command.hpp"
#include "files.hpp"
#include "flag_values.hpp"
#include "golden_check.hpp"

namespace vnjit::cli {
namespace {

std::shared_ptr<Device> open_device(Runtime& runtime, const std::string& name) {
  if (name == "cpu") return runtime.cpu();
  const std::int64_t ordinal = parse_with("--device", name, [](std::string_view text) {
    if (text.find_first_not_of("0123456789") != std::string_view::npos || text.empty()) {
      throw InvalidArgument(fmt::format("'{}' is not a device; use cpu or a GPU's number", text));
    }
    return parse_integer("a GPU's number", text);
  });
  if (ordinal > std::numeric_limits<int>::max()) {
    throw InvalidArgument(fmt::format("--device: there is no device {}", ordinal));
  }
  return runtime.gpu(static_cast<int>(ordinal));
}

std::string line(std::string_view name, const NoiseCheck& check) {
  std::string text = fmt::format("{:<16} {} values compared, {} differ, in {} bits\n", name,
                                 check.values, check.values_differing, check.bits_differing);
  if (!check.holds()) text += fmt::format("  first: {}\n", check.first);
  return text;
}

std::string line(std::string_view name, const ErrorCheck& check) {
  std::string text = fmt::format("  {:<16} largest error {:.2e}, at most {:.0e}, {} cases", name,
                                 check.largest, check.limit, check.cases);
  if (!check.holds()) text += fmt::format(", {} beyond; worst {}", check.cases_beyond, check.where);
  return text + '\n';
}

std::string lines(const OperationChecks& checks) {
  return line("forward", checks.forward) + line("weight gradient", checks.weight_gradient) +
         line("bias gradient", checks.bias_gradient) + line("reduce metric", checks.reduce_metric);
}

bool hold(const OperationChecks& checks) {
  return checks.forward.holds() && checks.weight_gradient.holds() && checks.bias_gradient.holds() &&
         checks.reduce_metric.holds();
}

/// Runs every case and prints a report; whether all hold.
bool check(const GoldenFile& golden, Runtime& runtime, const std::shared_ptr<Device>& device) {
  const NoiseCheck triton = check_noise(golden.triton_noise, Generator::triton, runtime, device);
  const NoiseCheck splitmix64 =
      check_noise(golden.splitmix64_noise, Generator::splitmix64, runtime, device);
  const OperationChecks cpu = check_operations(golden.operations, GoldenPath::cpu, runtime, device);
  const OperationChecks gpu = check_operations(golden.operations, GoldenPath::gpu, runtime, device);
  std::string first;
  const std::int64_t offsets = check_compute_offsets(golden.compute_offsets, first);
  const bool all_hold =
      triton.holds() && splitmix64.holds() && hold(cpu) && hold(gpu) && offsets == 0;

  std::string text = fmt::format("{:<16} {}\n", "device", device->name());
  text += line("triton noise", triton);
  text += line("splitmix64 noise", splitmix64);
  text += "splitmix64 noise against the cpu values\n" + lines(cpu);
  text += "triton noise against the gpu values\n" + lines(gpu);
  text += fmt::format("{:<16} {} cases, {} differ\n", "compute_offsets",
                      golden.compute_offsets.size(), offsets);
  if (offsets != 0) text += fmt::format("  first: {}\n", first);
  text += all_hold ? "all hold\n" : "FAILED\n";
  write_output(text);
  return all_hold;
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
  return {command, [path, device] {
            const GoldenFile golden = read_golden_file(*path);
            Runtime runtime;
            return check(golden, runtime, open_device(runtime, *device)) ? kOk : kFailed;
          }};
}

}  // namespace vnjit::cli
