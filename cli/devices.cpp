#include "command.hpp"
#include "files.hpp"
#include "vnjit/runtime/runtime.hpp"

namespace vnjit::cli {

Command add_devices(CLI::App& app) {
  CLI::App* command = app.add_subcommand(
      "devices", "Say which GPUs and libraries were found, where, and the limits used");
  command->footer(
      "Example:\n"
      "  vnjit devices");
  return {command, [] {
            std::string text = Runtime().describe();
            if (!text.ends_with('\n')) text += '\n';
            write_output(text);
            return kOk;
          }};
}

}  // namespace vnjit::cli
