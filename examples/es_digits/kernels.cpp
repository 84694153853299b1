#include "kernels.hpp"

#include <fmt/format.h>

#include <array>

#include "text.hpp"

namespace es_digits {
namespace {

std::string describe(const vnjit::KernelSource& source, const vnjit::Compiled& compiled) {
  const std::string name =
      compiled.cached_file.empty()
          ? source.entry
          : fmt::format("{}.cu: {}", compiled.cached_file.stem().string(), source.entry);
  const std::string made = compiled.cache_hit
                               ? std::string("from the cache")
                               : fmt::format("compiled in {:.0f} ms", compiled.milliseconds);
  return fmt::format("  {}, {} registers, {}\n", name, compiled.binary.usage.registers, made);
}

/// Generates and compiles; continues the sentence that names the kernels.
std::string describe_all(vnjit::Runtime& runtime, const vnjit::DeviceLimits& limits,
                         const Problems& problems) {
  const std::array<vnjit::Problem, 3> all = {problems.hidden, problems.logits, problems.gradient};
  std::string lines;
  std::filesystem::path folder;
  for (const vnjit::Problem& problem : all) {
    const vnjit::Config config = vnjit::choose_config(problem, limits);
    const vnjit::KernelSource source = vnjit::emit(problem, config, limits);
    const vnjit::Compiled compiled = runtime.compile(source);
    folder = compiled.cached_file.parent_path();
    lines += describe(source, compiled);
  }
  return folder.empty() ? fmt::format("are in memory only, without a cache folder:\n{}", lines)
                        : fmt::format("lie in {}:\n{}", folder.string(), lines);
}

}  // namespace

std::string describe_kernels(vnjit::Runtime& runtime, const vnjit::Device& device,
                             const Problems& problems, const std::string& arch) {
  if (device.is_gpu()) {
    return fmt::format("The kernels that ran, generated for {}, {}", device.limits().arch(),
                       describe_all(runtime, device.limits(), problems));
  }
  try {
    const vnjit::DeviceLimits limits = vnjit::DeviceLimits::preset(arch);
    return fmt::format(
        "The CPU backend ran. The kernels for {}, generated and compiled all the same, {}", arch,
        describe_all(runtime, limits, problems));
  } catch (const vnjit::Unavailable& error) {
    return fmt::format("The CPU backend ran. No kernels were compiled for {}: {}\n", arch,
                       one_line(error.what()));
  }
}

}  // namespace es_digits
