#include "vnjit/runtime/tune/tune_worker.hpp"

#include <iostream>

#include "command.hpp"

namespace vnjit::cli {

Command add_tune_worker(CLI::App& app) {
  CLI::App* command = app.add_subcommand("tune-worker", "Answer the requests of a sweep");
  command->group("");
  return {command, [] {
            serve_tuning(std::cin, std::cout);
            return kOk;
          }};
}

}  // namespace vnjit::cli
