#pragma once

#include <CLI/CLI.hpp>
#include <functional>

namespace vnjit::cli {

// Exit statuses of the command.
constexpr int kOk = 0;
constexpr int kFailed = 1;   ///< a check does not hold, or this machine cannot do what was asked
constexpr int kRefused = 2;  ///< flags, values or files that cannot be used

/// A subcommand: where its flags are parsed, and what it does then. The action returns the exit
/// status and throws vnjit::Error.
struct Command {
  CLI::App* app = nullptr;
  std::function<int()> run;
};

// Each adds its subcommand to `app`, which owns the parser.
Command add_emit(CLI::App& app);
Command add_compile(CLI::App& app);
Command add_explain(CLI::App& app);
Command add_run(CLI::App& app);
Command add_tune(CLI::App& app);
/// Hidden: what `tune` starts.
Command add_tune_worker(CLI::App& app);
Command add_report(CLI::App& app);
Command add_inspect(CLI::App& app);
Command add_diff(CLI::App& app);
Command add_noise(CLI::App& app);
Command add_check(CLI::App& app);
Command add_bench(CLI::App& app);
Command add_cache(CLI::App& app);
Command add_devices(CLI::App& app);

}  // namespace vnjit::cli
