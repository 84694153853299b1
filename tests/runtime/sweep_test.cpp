#include "vnjit/runtime/tune/sweep.hpp"

#include <gmock/gmock.h>

#include <cmath>
#include <functional>
#include <map>
#include <random>

#include "vnjit/codegen/candidates.hpp"
#include "vnjit/codegen/cost_model.hpp"
#include "vnjit/codegen/error.hpp"
#include "vnjit/runtime/tune/statistics.hpp"
#include "vnjit/runtime/tune/tuner.hpp"

namespace vnjit {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::SizeIs;

const Problem kProblem = PerturbedLinear{.input = DataType::f16};
const DeviceLimits kLimits = DeviceLimits::preset("sm_90");

/// A device made of functions, on a clock that moves only as it works.
class FakeRunner final : public CandidateRunner {
 public:
  void build(std::span<const Config> configs,
             const std::function<void(std::size_t, const Build&)>& done,
             const std::function<bool()>& stop) override {
    for (std::size_t n = 0; n < configs.size() && !stop(); ++n) {
      now += build_seconds;
      done(n, {.usage = {.registers = 64},
               .shared_bytes = 1000,
               .failure = fails_to_build(configs[n])});
    }
  }
  double check(const Config& config) override {
    now += check_seconds;
    const std::string why = fails_check(config);
    if (!why.empty()) throw Error(why);
    return 1e-6;
  }
  double time(const Config& config) override {
    now += 0.02;
    ++timed[to_string(config)];
    return seconds(config);
  }

  double now = 100;
  double build_seconds = 0.1;
  double check_seconds = 0.05;
  std::function<std::string(const Config&)> fails_to_build = [](const Config&) { return ""; };
  std::function<std::string(const Config&)> fails_check = [](const Config&) { return ""; };
  std::function<double(const Config&)> seconds = [](const Config& config) {
    return predicted_seconds(config, kProblem, kLimits);
  };
  std::map<std::string, int> timed;
};

class SweepTest : public testing::Test {
 protected:
  SweepResult run() {
    return sweep(
        kProblem, kLimits, runner, bounds, [&] { return runner.now; },
        [&](const SweepProgress& progress) { told.push_back(progress); }, [&] { return stop(); });
  }
  Config default_config() const { return choose_config(kProblem, kLimits); }
  /// The candidate that is compiled as number n; 0 is the default.
  Config taking_part(std::size_t n) {
    FakeRunner other;
    const SweepResult space = dry_run(kProblem, kLimits, other, bounds, [&] { return other.now; });
    std::vector<Config> configs;
    for (const Candidate& c : space.candidates) {
      if (c.outcome == Outcome::compiled) configs.push_back(c.config);
    }
    return configs.at(n);
  }
  static const Candidate& of(const SweepResult& result, const Config& config) {
    return *std::ranges::find(result.candidates, config, &Candidate::config);
  }
  Config winner(const SweepResult& result) {
    return result.candidates.at(result.winner.value()).config;
  }

  FakeRunner runner;
  SweepLimits bounds{.seconds = 1000, .candidates = 12};
  std::vector<SweepProgress> told;
  std::function<bool()> stop = [] { return false; };
};

TEST_F(SweepTest, TheDefaultComesFirstAndTheRestByPrediction) {
  const SweepResult result = run();
  EXPECT_EQ(result.candidates.front().config, default_config());
  EXPECT_EQ(result.candidates.size(), candidates(kProblem, kLimits).size());
  EXPECT_TRUE(std::ranges::is_sorted(result.candidates.begin() + 1, result.candidates.end(), {},
                                     &Candidate::predicted_seconds));
  int compiled = 0;
  for (const Candidate& c : result.candidates) compiled += c.outcome != Outcome::pruned;
  EXPECT_EQ(compiled, 12);
}

TEST_F(SweepTest, WhatIsPrunedSaysWhy) {
  const SweepResult result = run();
  std::map<std::string, int> reasons;
  for (const Candidate& c : result.candidates) {
    if (c.outcome == Outcome::pruned) ++reasons[c.reason.substr(0, 9)];
    if (c.outcome == Outcome::measured) {
      EXPECT_EQ(c.reason, "");
    }
  }
  EXPECT_THAT(reasons, ElementsAre(testing::Pair("2 depths ", testing::Gt(0)),
                                   testing::Pair("beyond th", testing::Gt(0)),
                                   testing::Pair("predicted", testing::Gt(0))));
}

TEST_F(SweepTest, TheFastestWins) {
  const Config fast = taking_part(5);
  runner.seconds = [&](const Config& config) { return config == fast ? 8e-4 : 1e-3; };
  const SweepResult result = run();
  EXPECT_EQ(winner(result), fast);
  EXPECT_DOUBLE_EQ(of(result, fast).seconds, 8e-4);
  EXPECT_DOUBLE_EQ(result.candidates.front().seconds, 1e-3);
  EXPECT_FALSE(result.interrupted);
  EXPECT_FALSE(result.out_of_budget);
}

TEST_F(SweepTest, TheDefaultStaysWhereNothingIsFaster) {
  runner.seconds = [](const Config&) { return 1e-3; };
  EXPECT_EQ(winner(run()), default_config());
}

TEST_F(SweepTest, ALeadWithinTheNoiseDoesNotWin) {
  const Config lucky = taking_part(3);
  std::mt19937 engine(7);
  std::normal_distribution<double> noise(0, 0.1);
  runner.seconds = [&](const Config& config) {
    return (config == lucky ? 0.99e-3 : 1e-3) * (1 + noise(engine));
  };
  const SweepResult result = run();
  EXPECT_EQ(winner(result), default_config());
  EXPECT_GT(result.noise, 0.01);
}

TEST_F(SweepTest, ALeadBeyondTheNoiseWins) {
  const Config fast = taking_part(3);
  std::mt19937 engine(7);
  std::normal_distribution<double> noise(0, 0.01);
  runner.seconds = [&](const Config& config) {
    return (config == fast ? 0.9e-3 : 1e-3) * (1 + noise(engine));
  };
  EXPECT_EQ(winner(run()), fast);
}

// A device that slows down steadily: whoever came last would lose, were it not for the rounds.
TEST_F(SweepTest, DriftHitsAllAlike) {
  const Config fast = taking_part(7);
  double slow = 1;
  runner.seconds = [&](const Config& config) {
    slow *= 1.01;
    return (config == fast ? 0.95e-3 : 1e-3) * slow;
  };
  EXPECT_EQ(winner(run()), fast);
  const Config none = default_config();
  runner.seconds = [&](const Config&) { return 1e-3 * (slow *= 1.01); };
  EXPECT_EQ(winner(run()), none);
}

TEST_F(SweepTest, TwoNoisySweepsChooseConfigsOfLikeTimes) {
  const auto truth = [](const Config& config) {
    return 1e-3 *
           (1 + 0.01 * static_cast<double>(std::hash<std::string>()(to_string(config)) % 30));
  };
  std::vector<double> chosen;
  for (const unsigned seed : {1u, 2u, 3u, 4u, 5u, 6u}) {
    std::mt19937 engine(seed);
    std::normal_distribution<double> noise(0, 0.01);
    runner.seconds = [&](const Config& config) { return truth(config) * (1 + noise(engine)); };
    chosen.push_back(truth(winner(run())));
  }
  EXPECT_LE(std::ranges::max(chosen) / std::ranges::min(chosen), 1.03);
}

TEST_F(SweepTest, OfATieTheFirstWinsEachTime) {
  const Config first = taking_part(2);
  const Config second = taking_part(9);
  for (const double ahead : {0.9999, 1.0, 1.0001}) {
    runner.seconds = [&](const Config& config) {
      return config == first ? 8e-4 : config == second ? 8e-4 * ahead : 1e-3;
    };
    EXPECT_EQ(winner(run()), first) << ahead;
  }
}

TEST_F(SweepTest, LosersAreDroppedEarlyAndTheDefaultIsNot) {
  const Config fast = taking_part(4);
  runner.seconds = [&](const Config& config) { return config == fast ? 1e-4 : 1e-3; };
  const SweepResult result = run();
  EXPECT_EQ(runner.timed[to_string(fast)], bounds.rounds);
  EXPECT_EQ(runner.timed[to_string(default_config())], bounds.rounds);
  const Candidate& loser = of(result, taking_part(6));
  EXPECT_EQ(loser.outcome, Outcome::dropped);
  EXPECT_EQ(loser.reason, "10 times the best after 3 rounds");
  EXPECT_THAT(loser.rounds, SizeIs(3));
}

TEST_F(SweepTest, WhatFailsToCompileIsNeitherCheckedNorTimed) {
  const Config broken = taking_part(1);
  runner.fails_to_build = [&](const Config& config) {
    return config == broken ? "ptxas crashed\nand said more" : "";
  };
  const SweepResult result = run();
  EXPECT_EQ(of(result, broken).outcome, Outcome::failed);
  EXPECT_EQ(of(result, broken).reason, "ptxas crashed");
  EXPECT_FALSE(runner.timed.contains(to_string(broken)));
}

TEST_F(SweepTest, AWrongResultIsNeverTimedHoweverFast) {
  const Config wrong = taking_part(1);
  runner.fails_check = [&](const Config& config) {
    return config == wrong ? "the relative error of the result is 0.5, beyond 1e-05" : "";
  };
  runner.seconds = [&](const Config& config) { return config == wrong ? 1e-9 : 1e-3; };
  const SweepResult result = run();
  EXPECT_EQ(of(result, wrong).outcome, Outcome::failed);
  EXPECT_THAT(of(result, wrong).reason, HasSubstr("relative error"));
  EXPECT_FALSE(runner.timed.contains(to_string(wrong)));
  EXPECT_EQ(winner(result), default_config());
}

TEST_F(SweepTest, ACrashWhileTimingCostsOneCandidate) {
  const Config crashing = taking_part(2);
  const Config fast = taking_part(3);
  runner.seconds = [&](const Config& config) {
    if (config == crashing && runner.timed[to_string(crashing)] == 4) {
      throw Error("the worker was killed by signal 11");
    }
    return config == crashing ? 1e-4 : config == fast ? 5e-4 : 1e-3;
  };
  const SweepResult result = run();
  EXPECT_EQ(of(result, crashing).outcome, Outcome::failed);
  EXPECT_EQ(of(result, crashing).reason, "the worker was killed by signal 11");
  EXPECT_EQ(winner(result), fast);
}

TEST_F(SweepTest, AHangCostsItsTimeAndOneCandidate) {
  bounds.seconds = 100;
  const Config hanging = taking_part(2);
  runner.fails_check = [&](const Config& config) -> std::string {
    if (config != hanging) return "";
    runner.now += 20;
    return "nothing was heard of the worker for 20 s";
  };
  const SweepResult result = run();
  EXPECT_EQ(of(result, hanging).outcome, Outcome::failed);
  EXPECT_TRUE(result.winner.has_value());
}

TEST_F(SweepTest, ADefaultThatFailsLeavesTheFastestOfTheRest) {
  const Config fast = taking_part(4);
  runner.fails_check = [&](const Config& config) {
    return config == default_config() ? "wrong" : "";
  };
  runner.seconds = [&](const Config& config) { return config == fast ? 9e-4 : 1e-3; };
  const SweepResult result = run();
  EXPECT_EQ(winner(result), fast);
  EXPECT_EQ(result.candidates.front().outcome, Outcome::failed);
}

TEST_F(SweepTest, WhereAllFailNothingWins) {
  runner.fails_check = [](const Config&) { return "wrong"; };
  const SweepResult result = run();
  EXPECT_EQ(result.winner, std::nullopt);
  EXPECT_THROW(record_of(result), InvalidArgument);
}

TEST_F(SweepTest, AnInterruptionKeepsWhatWasFound) {
  const Config fast = taking_part(5);
  runner.seconds = [&](const Config& config) { return config == fast ? 5e-4 : 1e-3; };
  stop = [&] { return runner.timed[to_string(fast)] >= 5; };
  const SweepResult result = run();
  EXPECT_TRUE(result.interrupted);
  EXPECT_EQ(winner(result), fast);
  EXPECT_DOUBLE_EQ(record_of(result).seconds, 5e-4);
}

TEST_F(SweepTest, AnInterruptionOfTheFirstRoundLeavesTheDefault) {
  int calls = 0;
  runner.seconds = [&](const Config& config) {
    ++calls;
    return config == default_config() ? 1e-3 : 1e-4;
  };
  stop = [&] { return calls >= 11; };
  const SweepResult result = run();
  EXPECT_TRUE(result.interrupted);
  if (result.winner) {
    EXPECT_EQ(winner(result), default_config());
  }
}

TEST_F(SweepTest, AnInterruptionWhileCompilingOrCheckingFindsNothingAndSaysSo) {
  for (const char* phase : {"compiling", "checking"}) {
    runner.timed.clear();
    told.clear();
    stop = [&] { return !told.empty() && told.back().phase == phase && told.back().done >= 3; };
    const SweepResult result = run();
    EXPECT_TRUE(result.interrupted) << phase;
    EXPECT_EQ(result.winner, std::nullopt) << phase;
    EXPECT_TRUE(runner.timed.empty()) << phase;
    int said = 0;
    for (const Candidate& c : result.candidates) said += c.reason.ends_with(": interrupted");
    EXPECT_GT(said, 5) << phase;
  }
}

TEST_F(SweepTest, TheBudgetIsKeptAndLeavesTimeForTheFinal) {
  bounds.seconds = 10;
  bounds.candidates = 0;
  runner.build_seconds = 0.5;
  const double start = runner.now;
  const SweepResult result = run();
  EXPECT_TRUE(result.out_of_budget);
  EXPECT_LE(runner.now - start, 10.5);
  EXPECT_TRUE(result.winner.has_value());
  EXPECT_THAT(result.candidates.back().reason, testing::Ne(""));
  EXPECT_DOUBLE_EQ(result.seconds, runner.now - start);
}

TEST_F(SweepTest, ProgressCountsEachPhase) {
  run();
  EXPECT_EQ(told.front().phase, "compiling");
  EXPECT_EQ(told.front().all, 12);
  EXPECT_EQ(told.back().phase, "timing");
  EXPECT_EQ(told.back().all, bounds.rounds);
  EXPECT_GT(told.back().best_seconds, 0);
  EXPECT_GT(told.back().default_seconds, 0);
  EXPECT_GT(told.back().seconds_left, 0);
  EXPECT_FALSE(told.back().best.empty());
}

TEST_F(SweepTest, ADryRunCompilesAndRunsNothing) {
  const SweepResult result = dry_run(kProblem, kLimits, runner, bounds, [&] { return runner.now; });
  EXPECT_TRUE(runner.timed.empty());
  EXPECT_EQ(result.winner, std::nullopt);
  const Candidate& first = result.candidates.front();
  EXPECT_EQ(first.outcome, Outcome::compiled);
  EXPECT_EQ(first.usage.registers, 64);
  EXPECT_EQ(first.shared_bytes, 1000);
  EXPECT_EQ(first.blocks_per_sm, std::min(32, 65536 / 2048 / first.config.warps));
  EXPECT_DOUBLE_EQ(first.occupancy, first.blocks_per_sm * first.config.warps / 64.0);
}

TEST_F(SweepTest, TheJsonOfASweepIsReadBack) {
  const Config wrong = taking_part(1);
  runner.fails_check = [&](const Config& config) { return config == wrong ? "wrong \"<&\n" : ""; };
  const SweepResult result = run();
  const std::string json = to_json(result);
  const SweepResult back = sweep_result_from_json(json);
  EXPECT_EQ(to_json(back), json);
  EXPECT_EQ(back.problem, kProblem);
  EXPECT_EQ(back.limits, kLimits);
  EXPECT_EQ(back.winner, result.winner);
  EXPECT_EQ(back.candidates.at(3).rounds, result.candidates.at(3).rounds);
  for (const std::string& damaged :
       {std::string("{"), std::string("[]"), json.substr(0, json.size() / 2),
        std::string("{\"sweep_version\": 9}")}) {
    EXPECT_THROW(sweep_result_from_json(damaged), InvalidArgument);
  }
}

TEST(Statistics, MediansAndTheirErrors) {
  EXPECT_EQ(median({}), 0);
  EXPECT_EQ(median({3, 1, 2}), 2);
  EXPECT_EQ(median({4, 1, 2, 3}), 2.5);
  EXPECT_EQ(error_of_median({5, 5, 5}), 0);
  EXPECT_NEAR(error_of_median({1, 2, 3, 4}), 1.2533 * 1.4826 * 1 / 2, 1e-12);
}

TEST(Statistics, RankCorrelationOfKnownValues) {
  const std::vector<double> up = {1, 2, 3, 4, 5};
  const std::vector<double> down = {50, 40, 30, 20, 10};
  const std::vector<double> mixed = {2, 1, 4, 3, 5};
  const std::vector<double> tied = {1, 2, 2, 4, 5};
  const std::vector<double> flat = {7, 7, 7, 7, 7};
  EXPECT_DOUBLE_EQ(rank_correlation(up, up), 1);
  EXPECT_DOUBLE_EQ(rank_correlation(up, down), -1);
  EXPECT_DOUBLE_EQ(rank_correlation(up, mixed), 0.8);
  EXPECT_NEAR(rank_correlation(up, tied), 0.974679, 1e-6);
  EXPECT_EQ(rank_correlation(up, flat), 0);
  EXPECT_THROW(rank_correlation(up, std::vector<double>{1}), InvalidArgument);
}

}  // namespace
}  // namespace vnjit
