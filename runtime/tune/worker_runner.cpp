#include "vnjit/runtime/tune/worker_runner.hpp"

#include <algorithm>
#include <atomic>
#include <thread>

#include "vnjit/runtime/error.hpp"
#include "vnjit/runtime/tune/device_json.hpp"
#include "vnjit/runtime/tune/json_fields.hpp"

namespace vnjit {
namespace {

std::string request(const char* what, const Config& config) {
  return Json{{"do", what}, {"config", to_string(config)}}.dump();
}

/// The answer's fields; throws Error with its failure, or for an answer that is none.
Json answer_of(const std::string& line) {
  Json answer = parse_json(line, "an answer of a worker");
  if (const auto failure = answer.find("failure"); failure != answer.end()) {
    throw Error(failure->is_string() ? failure->get<std::string>() : failure->dump());
  }
  return answer;
}

}  // namespace

WorkerRunner::WorkerRunner(const Problem& problem, const DeviceLimits& limits, Setup setup)
    : setup_(std::move(setup)) {
  begin_ = Json{{"do", "begin"},
                {"problem", problem_to_json(problem)},
                {"limits", limits_to_json(limits)},
                {"cache_dir", setup_.options->cache_dir.string()},
                {"nvrtc", setup_.options->nvrtc.string()}}
               .dump(-1, ' ', false, Json::error_handler_t::replace);
}

std::unique_ptr<WorkerProcess> WorkerRunner::start(int device) const {
  auto worker = std::make_unique<WorkerProcess>(setup_.command);
  Json begin = Json::parse(begin_);
  begin["device"] = device;
  answer_of(worker->ask(begin.dump(), setup_.patience));
  return worker;
}

CandidateRunner::Build WorkerRunner::build_one(std::unique_ptr<WorkerProcess>& worker,
                                               const Config& config) const {
  Build build;
  try {
    if (!worker || !worker->alive()) worker = start(-1);
    const Json answer = answer_of(worker->ask(request("build", config), setup_.patience));
    JsonFields fields(answer, "");
    build.usage = {.registers = fields.small_integer("registers"),
                   .stack_bytes = fields.small_integer("stack_bytes"),
                   .spill_store_bytes = fields.small_integer("spill_store_bytes"),
                   .spill_load_bytes = fields.small_integer("spill_load_bytes"),
                   .static_shared_bytes = fields.small_integer("static_shared_bytes"),
                   .barriers = fields.small_integer("barriers")};
    build.shared_bytes = fields.integer("shared_bytes");
  } catch (const Error& error) {
    build.failure = error.what();
  }
  return build;
}

void WorkerRunner::build(std::span<const Config> configs,
                         const std::function<void(std::size_t index, const Build&)>& done,
                         const std::function<bool()>& stop) {
  std::mutex mutex;  // of the callbacks
  std::atomic<std::size_t> next = 0;
  const auto work = [&] {
    std::unique_ptr<WorkerProcess> worker;
    for (;;) {
      const std::size_t n = next.fetch_add(1);
      {
        const std::lock_guard lock(mutex);
        if (n >= configs.size() || stop()) return;
      }
      const Build built = build_one(worker, configs[n]);
      const std::lock_guard lock(mutex);
      done(n, built);
    }
  };
  std::vector<std::thread> threads;
  const auto count =
      std::min(configs.size(), static_cast<std::size_t>(std::max(1, setup_.workers)));
  for (std::size_t n = 0; n < count; ++n) threads.emplace_back(work);
  for (std::thread& thread : threads) thread.join();
}

double WorkerRunner::measure(const char* what, const char* answer, const Config& config) {
  if (!measuring_ || !measuring_->alive()) measuring_ = start(setup_.device);
  const Json found = answer_of(measuring_->ask(request(what, config), setup_.patience));
  return JsonFields(found, "").number(answer);
}

double WorkerRunner::check(const Config& config) { return measure("check", "error", config); }

double WorkerRunner::time(const Config& config) { return measure("time", "seconds", config); }

}  // namespace vnjit
