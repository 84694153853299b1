#include "vnjit/runtime/tune/tune_worker.hpp"

#include <fmt/format.h>

#include <istream>
#include <memory>
#include <ostream>

#include "vnjit/runtime/error.hpp"
#include "vnjit/runtime/tune/device_json.hpp"
#include "vnjit/runtime/tune/in_process_runner.hpp"
#include "vnjit/runtime/tune/json_fields.hpp"

namespace vnjit {
namespace {

class Worker {
 public:
  Json answer(const std::string& line) {
    try {
      const Json request = parse_json(line, "a request");
      JsonFields fields(request, "");
      const std::string what = fields.text("do");
      if (what == "begin") return begin(fields);
      if (!runner_) throw Error("the first request has to be begin");
      const Config config = fields.parsed("config", parse_config);
      if (what == "build") return build(config);
      if (what == "check") return {{"error", runner_->check(config)}};
      if (what == "time") return {{"seconds", runner_->time(config)}};
      throw Error(fmt::format("unknown request '{}'", what));
    } catch (const std::exception& error) {
      return {{"failure", error.what()}};
    }
  }

 private:
  Json begin(JsonFields& fields) {
    Options options = Options::from_environment();
    options.cache_dir = fields.text("cache_dir");
    options.nvrtc = fields.text("nvrtc");
    options.use_records = false;
    options.record_problems.clear();
    const Problem problem = problem_from_json(fields.at("problem"), "problem");
    const DeviceLimits limits = limits_from_json(fields.at("limits"), "limits");
    const std::int64_t device = fields.integer("device");
    runner_.reset();
    runtime_ = std::make_unique<Runtime>(options);
    runner_ = std::make_unique<InProcessRunner>(
        *runtime_, problem, limits, device < 0 ? nullptr : runtime_->gpu(static_cast<int>(device)));
    return {{"ready", true}};
  }

  Json build(const Config& config) {
    const CandidateRunner::Build built = runner_->build(config);
    if (!built.failure.empty()) return {{"failure", built.failure}};
    return {{"registers", built.usage.registers},
            {"stack_bytes", built.usage.stack_bytes},
            {"spill_store_bytes", built.usage.spill_store_bytes},
            {"spill_load_bytes", built.usage.spill_load_bytes},
            {"static_shared_bytes", built.usage.static_shared_bytes},
            {"barriers", built.usage.barriers},
            {"shared_bytes", built.shared_bytes}};
  }

  std::unique_ptr<Runtime> runtime_;
  std::unique_ptr<InProcessRunner> runner_;
};

}  // namespace

void serve_tuning(std::istream& in, std::ostream& out) {
  Worker worker;
  for (std::string line; std::getline(in, line);) {
    out << worker.answer(line).dump(-1, ' ', false, Json::error_handler_t::replace) << std::endl;
  }
}

}  // namespace vnjit
