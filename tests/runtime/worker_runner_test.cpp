#include "vnjit/runtime/tune/worker_runner.hpp"

#include <gmock/gmock.h>

#include <sstream>

#include "vnjit/codegen/candidates.hpp"
#include "vnjit/codegen/error.hpp"
#include "vnjit/runtime/tune/tune_worker.hpp"

namespace vnjit {
namespace {

using testing::AnyOf;
using testing::HasSubstr;
using testing::StartsWith;
using testing::ThrowsMessage;

const Problem kProblem = ReduceMetric{};
const DeviceLimits kLimits = DeviceLimits::preset("sm_90");

/// Workers that are shell scripts: `script` answers what follows the first request.
class WorkerRunnerTest : public testing::Test {
 protected:
  WorkerRunner runner_of(const std::string& script, int workers = 1) {
    return {kProblem,
            kLimits,
            {.command = {"/bin/sh", "-c", "read begin; echo '{\"ready\":true}'; " + script},
             .workers = workers,
             .patience = std::chrono::milliseconds(500),
             .device = 0,
             .options = &options}};
  }
  std::vector<CandidateRunner::Build> build(WorkerRunner& runner, std::size_t count) {
    const std::vector<Config> all = candidates(PerturbedLinear{}, kLimits);
    std::vector<CandidateRunner::Build> builds(count);
    runner.build(
        std::span(all).first(count),
        [&](std::size_t n, const CandidateRunner::Build& made) { builds.at(n) = made; },
        [] { return false; });
    return builds;
  }
  Options options;
  const Config config = choose_config(kProblem, kLimits);
};

constexpr const char* kBuilt =
    "{\"registers\":40,\"stack_bytes\":0,\"spill_store_bytes\":1,\"spill_load_bytes\":2,"
    "\"static_shared_bytes\":3,\"barriers\":4,\"shared_bytes\":1000}";

TEST_F(WorkerRunnerTest, AnswersBecomeNumbers) {
  WorkerRunner runner =
      runner_of("read a; echo '{\"error\":0.5}'; read b; echo '{\"seconds\":0.25}'; read c");
  EXPECT_EQ(runner.check(config), 0.5);
  EXPECT_EQ(runner.time(config), 0.25);
}

TEST_F(WorkerRunnerTest, ManyWorkersShareTheBuilds) {
  WorkerRunner runner = runner_of(std::string("while read a; do echo '") + kBuilt + "'; done", 4);
  for (const auto& made : build(runner, 20)) {
    EXPECT_EQ(made.failure, "");
    EXPECT_EQ(made.usage.registers, 40);
    EXPECT_EQ(made.shared_bytes, 1000);
  }
}

TEST_F(WorkerRunnerTest, AFailureIsThatOfOneCandidate) {
  WorkerRunner runner = runner_of("while read a; do echo '{\"failure\":\"no such thing\"}'; done");
  EXPECT_THAT([&] { runner.check(config); }, ThrowsMessage<Error>("no such thing"));
  EXPECT_EQ(build(runner, 2).at(1).failure, "no such thing");
}

TEST_F(WorkerRunnerTest, ACrashIsNamedAndTheNextGetsANewWorker) {
  WorkerRunner runner = runner_of("read a; kill -SEGV $$");
  for (int n = 0; n < 2; ++n) {
    EXPECT_THAT([&] { runner.check(config); },
                ThrowsMessage<Error>("the worker was killed by signal 11 (Segmentation fault)"));
  }
  for (const auto& made : build(runner, 3)) {
    EXPECT_THAT(made.failure, StartsWith("the worker was killed by signal 11"));
  }
}

TEST_F(WorkerRunnerTest, AnEarlyEndIsNamed) {
  WorkerRunner runner = runner_of("read a; exit 3");
  EXPECT_THAT([&] { runner.time(config); }, ThrowsMessage<Error>("the worker ended with status 3"));
}

TEST_F(WorkerRunnerTest, AHangIsEndedAndNamed) {
  WorkerRunner runner = runner_of("read a; sleep 60");
  EXPECT_THAT([&] { runner.time(config); },
              ThrowsMessage<Error>("nothing was heard of the worker for 0.5 s"));
  EXPECT_THAT([&] { runner.time(config); },
              ThrowsMessage<Error>("nothing was heard of the worker for 0.5 s"));
}

TEST_F(WorkerRunnerTest, RubbishIsAnAnswerOfNone) {
  WorkerRunner runner =
      runner_of("read a; echo rubbish; read b; echo '{\"seconds\":\"x\"}'; read c");
  EXPECT_THAT([&] { runner.time(config); },
              ThrowsMessage<Error>(StartsWith("not an answer of a worker: no JSON")));
  EXPECT_THAT([&] { runner.time(config); },
              ThrowsMessage<Error>("seconds is \"x\"; it must be a finite number"));
}

TEST_F(WorkerRunnerTest, AWorkerThatCannotBeStartedIsNamed) {
  WorkerRunner runner(kProblem, kLimits,
                      {.command = {"/no/such/program"}, .device = 0, .options = &options});
  EXPECT_THAT([&] { runner.time(config); },
              ThrowsMessage<Error>(AnyOf(HasSubstr("the worker /no/such/program cannot be started"),
                                         HasSubstr("the worker ended with status 127"))));
}

TEST_F(WorkerRunnerTest, AStopEndsTheBuilds) {
  WorkerRunner runner = runner_of(std::string("while read a; do echo '") + kBuilt + "'; done");
  int built = 0;
  const std::vector<Config> all = candidates(PerturbedLinear{}, kLimits);
  runner.build(
      std::span(all).first(20), [&](std::size_t, const auto&) { ++built; },
      [&] { return built >= 5; });
  EXPECT_EQ(built, 5);
}

TEST(TuneWorker, AnswersEveryLineWhateverItIs) {
  std::istringstream in(
      "rubbish\n"
      "{\"do\":\"build\",\"config\":\"simt\"}\n"
      "{\"do\":\"dance\"}\n");
  std::ostringstream out;
  serve_tuning(in, out);
  EXPECT_EQ(out.str(),
            "{\"failure\":\"not a request: no JSON from byte 1 on\"}\n"
            "{\"failure\":\"the first request has to be begin\"}\n"
            "{\"failure\":\"the first request has to be begin\"}\n");
}

}  // namespace
}  // namespace vnjit
