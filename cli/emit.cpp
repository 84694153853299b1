
#include <memory>

#include "command.hpp"
#include "files.hpp"
#include "problem_flags.hpp"
#include "vnjit/runtime/runtime.hpp"

namespace vnjit::cli {

Command add_emit(CLI::App& app) {
  CLI::App* command =
      app.add_subcommand("emit", "Print the source of a kernel, or its PTX, on standard output");
  const auto flags = std::make_shared<ProblemFlags>(*command);
  const auto ptx = std::make_shared<bool>(false);
  command->add_flag("--ptx", *ptx, "compile with NVRTC and print the PTX instead")
      ->disable_flag_override()
      ->group("How");
  command->footer(
      "Example:\n"
      "  vnjit emit perturbed-linear --arch sm_90 --in 784 --out 256 --no-bias > kernel.cu");
  return {command, [flags, ptx] {
            const KernelRequest request = flags->request();
            const KernelSource source = request.source();
            write_output(*ptx ? Runtime().compile_to_ptx(source) : source.text);
            return kOk;
          }};
}

}  // namespace vnjit::cli
