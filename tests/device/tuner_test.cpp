#include "vnjit/runtime/tune/tuner.hpp"

#include <gmock/gmock.h>

#include <filesystem>

#include "device_test.hpp"
#include "temp_dir.hpp"

// Short sweeps on the GPU: in this process, and with workers where the command lies beside this
// program.

namespace vnjit::tests {
namespace {

namespace fs = std::filesystem;
using testing::HasSubstr;
using testing::Not;

class TunerOnGpu : public DeviceTest {
 protected:
  void SetUp() override {
    DeviceTest::SetUp();
    if (!device) return;
    options.cache_dir = folder / "cache";
    options.report = [this](Severity, std::string_view text) { reports.emplace_back(text); };
    tuning.limits = {.seconds = 30, .candidates = 6, .rounds = 6};
  }
  /// The command, to be started as a worker; empty where it is not there.
  static std::vector<std::string> worker() {
    const fs::path command = fs::read_symlink("/proc/self/exe").parent_path() / "vnjit";
    if (!fs::exists(command)) return {};
    return {command.string(), "tune-worker"};
  }
  /// The sweep keeps its promises, and the next plan takes its record.
  void expect_tuned(Runtime& tuned, const std::shared_ptr<Device>& there, const Problem& problem) {
    const SweepResult result = tune(tuned, there, problem, tuning);
    ASSERT_TRUE(result.winner) << command_flags(problem);
    const Candidate& winner = result.candidates.at(*result.winner);
    const Candidate& first = result.candidates.front();
    EXPECT_EQ(first.config, choose_config(problem, there->limits()));
    EXPECT_LE(winner.seconds, first.seconds) << command_flags(problem);
    EXPECT_EQ(winner.outcome, Outcome::measured);
    for (const Candidate& candidate : result.candidates) {
      EXPECT_NE(candidate.outcome, Outcome::failed) << candidate.reason;
    }
    const fs::path file = tuned.records().put(record_of(result));
    const std::string said = tuned.plan(problem, there)->explain();
    EXPECT_THAT(said, HasSubstr(to_string(winner.config)));
    EXPECT_THAT(said, HasSubstr("record:   " + file.string()));
  }

  tests::TempDir folder;
  Options options = Options::from_environment();
  TuneOptions tuning;
  std::vector<std::string> reports;
};

TEST_F(TunerOnGpu, FindsAConfigForEveryOperationThatPlansThenTake) {
  Runtime tuned(options);
  const auto there = tuned.gpu(0);
  expect_tuned(tuned, there, PerturbedLinear{.pop = 8, .batch = 64, .in = 128, .out = 128});
  expect_tuned(
      tuned, there,
      PerturbedLinear{.input = DataType::f16, .pop = 64, .batch = 64, .in = 256, .out = 256});
  expect_tuned(tuned, there, Gradient{.pop = 64, .rows = 256, .columns = 256});
  expect_tuned(tuned, there,
               Gradient{.update = Update::adam, .pop = 64, .rows = 256, .columns = 256});
  expect_tuned(tuned, there, ReduceMetric{.pop = 64, .params = 100'000});
  EXPECT_THAT(reports, testing::IsEmpty());
}

TEST_F(TunerOnGpu, WorkersFindTheSame) {
  tuning.worker = worker();
  if (tuning.worker.empty()) GTEST_SKIP() << "no vnjit beside this program";
  Runtime tuned(options);
  expect_tuned(
      tuned, tuned.gpu(0),
      PerturbedLinear{.input = DataType::f16, .pop = 64, .batch = 64, .in = 256, .out = 256});
}

TEST_F(TunerOnGpu, ARecordOfNearSizesIsTakenAndSaysSo) {
  Runtime tuned(options);
  const auto there = tuned.gpu(0);
  const ReduceMetric problem{.pop = 64, .params = 100'000};
  tuned.records().put(record_of(tune(tuned, there, problem, tuning)));
  EXPECT_THAT(tuned.plan(ReduceMetric{.pop = 70, .params = 100'000}, there)->explain(),
              HasSubstr(", of the nearest sizes: "));
  options.use_records = false;
  Runtime without(options);
  EXPECT_THAT(without.plan(problem, without.gpu(0))->explain(), Not(HasSubstr("record:")));
}

TEST_F(TunerOnGpu, AWorkerThatDiesCostsItsCandidate) {
  if (worker().empty()) GTEST_SKIP() << "no vnjit beside this program";
  // Passes requests on until it is to check one config, and ends then.
  const ReduceMetric problem{.pop = 64, .params = 100'000};
  Runtime tuned(options);
  const auto there = tuned.gpu(0);
  const SweepResult space = tune_dry(tuned, there->limits(), problem, tuning);
  const auto second =
      std::ranges::find_if(space.candidates.begin() + 1, space.candidates.end(),
                           [](const Candidate& c) { return c.outcome == Outcome::compiled; });
  ASSERT_NE(second, space.candidates.end());
  const std::string doomed = to_string(second->config);
  tuning.worker = {"/bin/sh", "-c",
                   "while read -r line; do case \"$line\" in *check*" + doomed +
                       "*) exit ;; esac; echo \"$line\"; done | '" + worker().front() +
                       "' tune-worker"};
  const SweepResult result = tune(tuned, there, problem, tuning);
  EXPECT_TRUE(result.winner);
  const auto failed = std::ranges::find(result.candidates, second->config, &Candidate::config);
  EXPECT_EQ(failed->outcome, Outcome::failed);
  EXPECT_THAT(failed->reason, HasSubstr("the worker ended with status 0"));
}

}  // namespace
}  // namespace vnjit::tests
