#include <fmt/format.h>

#include <algorithm>
#include <csignal>
#include <exception>
#include <new>
#include <string>
#include <string_view>
#include <vector>

#include "command.hpp"
#include "files.hpp"
#include "vnjit/codegen/noise_spec.hpp"
#include "vnjit/runtime/error.hpp"

namespace vnjit::cli {
namespace {

int complain(const std::string& message, int status) {
  write_note("vnjit: " + message);
  return status;
}

/// The lines of a message, such as a list of what was tried, as one.
std::string one_line(std::string_view message) {
  std::string joined;
  while (!message.empty()) {
    const std::size_t end = std::min(message.find('\n'), message.size());
    std::string_view line = message.substr(0, end);
    message.remove_prefix(std::min(end + 1, message.size()));
    line.remove_prefix(std::min(line.find_first_not_of(" \t"), line.size()));
    if (line.empty()) continue;
    if (!joined.empty()) {
      const bool continues = std::string_view(":;,.").find(joined.back()) != std::string_view::npos;
      joined += continues ? " " : "; ";
    }
    joined += line;
  }
  return joined;
}

/// In one line, whatever an argument or a file put into the message.
int refuse(std::string message) {
  std::replace_if(
      message.begin(), message.end(), [](unsigned char c) { return c < 0x20 || c == 0x7f; }, ' ');
  return complain(message, kRefused);
}

int complain(const CompileError& error) {
  complain(one_line(error.what()), kFailed);
  if (!error.log().empty()) write_note(error.log());
  return kFailed;
}

/// Runs what `action` does and turns what it throws into a message and an exit status.
template <typename Action>
int guarded(Action action) {
  try {
    return action();
  } catch (const FileError& error) {
    return refuse(error.what());
  } catch (const InvalidArgument& error) {
    return refuse(error.what());
  } catch (const ConfigError& error) {
    return refuse(error.what());
  } catch (const CompileError& error) {
    return complain(error);
  } catch (const std::bad_alloc&) {
    return complain("out of memory", kFailed);
  } catch (const std::exception& error) {
    return complain(one_line(error.what()), kFailed);
  }
}

std::string names(const std::vector<Command>& commands) {
  std::string text;
  for (const Command& command : commands) {
    if (command.app->get_group().empty()) continue;  // hidden
    text += (text.empty() ? "" : ", ") + command.app->get_name();
  }
  return text;
}

/// The command that was named, or null.
const Command* chosen(const std::vector<Command>& commands) {
  const auto found = std::find_if(commands.begin(), commands.end(),
                                  [](const Command& command) { return command.app->parsed(); });
  return found == commands.end() ? nullptr : &*found;
}

int refuse_extra(const std::string& extra, const std::vector<Command>& commands) {
  if (const Command* command = chosen(commands)) {
    return refuse(fmt::format("unknown argument '{}'; vnjit {} --help lists what it takes", extra,
                              command->app->get_name()));
  }
  return refuse(fmt::format("unknown {} '{}'; use {}", extra.starts_with('-') ? "flag" : "command",
                            extra, names(commands)));
}

int refuse_mismatch(std::string_view message) {
  constexpr std::string_view kOverride = " was given a disallowed flag override";
  if (message.ends_with(kOverride)) {
    message.remove_suffix(kOverride.size());
    return refuse(fmt::format("--{} takes no value", message));
  }
  const std::size_t colon = message.find(':');
  if (colon == std::string_view::npos) return refuse(std::string(message));
  return refuse(fmt::format("{} is given once, with one value", message.substr(0, colon)));
}

int run(int argc, char** argv) {
  CLI::App app("Run-time generated CUDA kernels for virtual noise", "vnjit");
  app.set_version_flag("--version", fmt::format("vnjit {}, noise contract {}", VNJIT_VERSION_TEXT,
                                                noise_contract_version()));
  app.footer(
      "Example:\n"
      "  vnjit emit perturbed-linear --arch sm_90 --in 784 --out 256\n"
      "`vnjit COMMAND --help` lists a command's flags. The exit status is 1 for a check that does\n"
      "not hold and for what this machine cannot do, 2 for flags, values and files that cannot be\n"
      "used.");
  const std::vector<Command> commands = {
      add_emit(app),  add_compile(app), add_explain(app),     add_inspect(app), add_diff(app),
      add_run(app),   add_tune(app),    add_tune_worker(app), add_report(app),  add_noise(app),
      add_check(app), add_bench(app),   add_cache(app),       add_devices(app)};
  app.require_subcommand(0, 1);
  try {
    app.parse(argc, argv);
  } catch (const CLI::CallForHelp&) {
    write_output(app.help());
    return kOk;
  } catch (const CLI::CallForVersion& version) {
    write_output(std::string(version.what()) + '\n');
    return kOk;
  } catch (const CLI::ExtrasError&) {
    return refuse_extra(app.remaining(true).front(), commands);
  } catch (const CLI::ArgumentMismatch& error) {
    return refuse_mismatch(error.what());
  } catch (const CLI::RequiredError& error) {
    // A flag that was mistyped says more than what is missing for want of it.
    const std::vector<std::string> extras = app.remaining(true);
    return extras.empty() ? refuse(error.what()) : refuse_extra(extras.front(), commands);
  } catch (const CLI::ParseError& error) {
    return refuse(error.what());
  }
  if (const Command* command = chosen(commands)) return command->run();
  write_note(app.help());
  return kRefused;
}

}  // namespace
}  // namespace vnjit::cli

int main(int argc, char** argv) {
  // A reader that went away is an error like another: write() says so.
  std::signal(SIGPIPE, SIG_IGN);
  vnjit::cli::occupy_standard_descriptors();
  return vnjit::cli::guarded([&] { return vnjit::cli::run(argc, argv); });
}
