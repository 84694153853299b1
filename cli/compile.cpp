#include <fmt/format.h>

#include <memory>

#include "command.hpp"
#include "files.hpp"
#include "flag_values.hpp"
#include "problem_flags.hpp"
#include "vnjit/runtime/runtime.hpp"

namespace vnjit::cli {
namespace {

void report(const Compiled& compiled, const KernelSource& source) {
  const ResourceUsage& usage = compiled.binary.usage;
  write_note(compiled.cache_hit ? "cache hit"
                                : fmt::format("compiled in {:.0f} ms", compiled.milliseconds));
  write_note(fmt::format(
      "registers {}, spill stores {} bytes, spill loads {} bytes, shared memory {} bytes",
      usage.registers, usage.spill_store_bytes, usage.spill_load_bytes,
      source.shared_bytes + usage.static_shared_bytes));
}

}  // namespace

Command add_compile(CLI::App& app) {
  CLI::App* command = app.add_subcommand("compile", "Compile a kernel to a cubin file");
  const auto flags = std::make_shared<ProblemFlags>(*command);
  const auto path = std::make_shared<std::string>();
  command->add_option("-o,--cubin", *path, "the cubin")
      ->required()
      ->type_name("FILE")
      ->group("How");
  command->footer(
      "Example:\n"
      "  vnjit compile weight-gradient --arch sm_80 --in 784 --out 256 -o gradient.cubin");
  return {command, [flags, path] {
            require_name("--cubin", *path);
            const KernelRequest request = flags->request();
            const KernelSource source = request.source();
            const Compiled compiled = Runtime().compile(source);
            write_file(*path, compiled.binary.cubin);
            report(compiled, source);
            return kOk;
          }};
}

}  // namespace vnjit::cli
