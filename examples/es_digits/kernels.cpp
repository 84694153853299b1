#include "kernels.hpp"

#include <fmt/format.h>

#include <array>

namespace es_digits {
namespace {

std::string describe(const vnjit::KernelSource& source, const vnjit::Compiled& compiled) {
  const std::string made = compiled.cache_hit
                               ? std::string("from the cache")
                               : fmt::format("compiled in {:.0f} ms", compiled.milliseconds);
  std::filesystem::path text = compiled.cached_file;
  const std::string where = text.empty() ? std::string("in memory only")
                                         : text.replace_extension(".cu").filename().string();
  return fmt::format("  {}: {}, {} registers, {}\n", where, source.entry,
                     compiled.binary.usage.registers, made);
}

std::string describe_all(vnjit::Runtime& runtime, const vnjit::DeviceLimits& limits,
                         const std::array<vnjit::Problem, 3>& problems) {
  std::string lines;
  std::filesystem::path folder;
  for (const vnjit::Problem& problem : problems) {
    const vnjit::Config config = vnjit::choose_config(problem, limits);
    const vnjit::KernelSource source = vnjit::emit(problem, config, limits);
    const vnjit::Compiled compiled = runtime.compile(source);
    folder = compiled.cached_file.parent_path();
    lines += describe(source, compiled);
  }
  const std::string where = folder.empty()
                                ? std::string("are kept in memory only (no cache folder)")
                                : fmt::format("lie in {}", folder.string());
  return fmt::format("kernels generated and compiled for {} {}:\n{}", limits.arch(), where, lines);
}

}  // namespace

std::string describe_kernels(vnjit::Runtime& runtime, const vnjit::Device& device,
                             const Problems& problems, const std::string& arch) {
  const vnjit::DeviceLimits limits =
      device.is_gpu() ? device.limits() : vnjit::DeviceLimits::preset(arch);
  try {
    return describe_all(runtime, limits, {problems.hidden, problems.logits, problems.gradient});
  } catch (const vnjit::Unavailable& error) {
    return fmt::format("no kernels were compiled for {}: {}\n", limits.arch(), error.what());
  }
}

}  // namespace es_digits
