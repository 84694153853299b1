#include "vnjit/runtime/tune/sweep.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <random>

#include "vnjit/codegen/candidates.hpp"
#include "vnjit/codegen/error.hpp"
#include "vnjit/runtime/tune/roofline.hpp"
#include "vnjit/runtime/tune/statistics.hpp"
#include "vnjit/runtime/tune/sweep_space.hpp"

namespace vnjit {
namespace {

// Shares of the budget after which a phase leaves the rest to the next.
constexpr double kBuildShare = 0.5;
constexpr double kCheckShare = 0.7;
constexpr double kTimeShare = 0.97;

constexpr std::size_t kRoundsBeforeDrop = 3;
constexpr std::size_t kRoundsToWin = 3;  // fewer say too little of the noise
constexpr double kCertain = 3;           // standard errors
constexpr double kTie = 0.005;           // medians this close are one, whatever the noise

class Sweep {
 public:
  Sweep(const Problem& problem, const DeviceLimits& limits, CandidateRunner& runner,
        const SweepLimits& bounds, const SweepClock& clock,
        const std::function<void(const SweepProgress&)>& progress,
        const std::function<bool()>& stop)
      : runner_(runner),
        bounds_(bounds),
        clock_(clock),
        progress_(progress),
        stop_(stop),
        start_(clock()) {
    result_.problem = problem;
    result_.limits = limits;
    result_.default_config = choose_config(problem, limits);
    result_.candidates = sweep_space(problem, limits, result_.default_config, bounds);
    const Roofline least = roofline(problem, limits);
    result_.roofline_seconds = least.seconds;
    result_.roofline = least.bound;
  }

  SweepResult run() {
    build();
    check();
    time();
    decide();
    return finish();
  }

  SweepResult dry_run() {
    build();
    return finish();
  }

 private:
  std::vector<Candidate>& all() { return result_.candidates; }

  bool interrupted() {
    result_.interrupted = result_.interrupted || (stop_ && stop_());
    return result_.interrupted;
  }

  /// Whether the sweep is to go on to what needs this share of the budget.
  bool beyond(double share) {
    if (interrupted()) return true;
    const bool over = bounds_.seconds > 0 && clock_() - start_ > share * bounds_.seconds;
    result_.out_of_budget = result_.out_of_budget || over;
    return over;
  }

  void tell(std::string_view phase, std::size_t done, std::size_t of) {
    if (!progress_) return;
    SweepProgress now{.phase = phase, .done = static_cast<int>(done), .all = static_cast<int>(of)};
    for (const Candidate& candidate : all()) {
      if (candidate.rounds.empty()) continue;
      const double seconds = median(candidate.rounds);
      if (&candidate == &all().front()) now.default_seconds = seconds;
      if (now.best_seconds == 0 || seconds < now.best_seconds) {
        now.best_seconds = seconds;
        now.best = to_string(candidate.config);
      }
    }
    if (bounds_.seconds > 0) {
      now.seconds_left = std::max(0.0, bounds_.seconds - (clock_() - start_));
    }
    progress_(now);
  }

  static void fail(Candidate& candidate, std::string_view why) {
    candidate.outcome = Outcome::failed;
    candidate.reason = why.substr(0, why.find('\n'));
  }

  void build() {
    std::vector<std::size_t> wanted;
    std::vector<Config> configs;
    for (std::size_t n = 0; n < all().size(); ++n) {
      if (!all()[n].reason.empty()) continue;
      wanted.push_back(n);
      configs.push_back(all()[n].config);
    }
    std::size_t done = 0;
    tell("compiling", 0, configs.size());
    const auto built = [&](std::size_t index, const CandidateRunner::Build& build) {
      Candidate& candidate = all()[wanted[index]];
      if (build.failure.empty()) {
        candidate.outcome = Outcome::compiled;
        set_resources(candidate, build.usage, build.shared_bytes, result_.limits);
      } else {
        fail(candidate, build.failure);
      }
      tell("compiling", ++done, configs.size());
    };
    try {
      runner_.build(configs, built, [&] { return beyond(kBuildShare); });
    } catch (const Error& error) {
      for (const std::size_t n : wanted) {
        if (all()[n].outcome == Outcome::pruned) fail(all()[n], error.what());
      }
    }
    leave_out(Outcome::pruned, "not compiled");
  }

  /// Says of candidates that wait at a stage why they went no further.
  void leave_out(Outcome at, std::string_view what) {
    for (Candidate& candidate : all()) {
      if (candidate.outcome != at || !candidate.reason.empty()) continue;
      candidate.outcome = Outcome::pruned;
      candidate.reason =
          fmt::format("{}: {}", what, result_.interrupted ? "interrupted" : "out of time");
    }
  }

  void check() {
    std::vector<Candidate*> built;
    for (Candidate& candidate : all()) {
      if (candidate.outcome == Outcome::compiled) built.push_back(&candidate);
    }
    for (std::size_t n = 0; n < built.size(); ++n) {
      tell("checking", n, built.size());
      if (n > 0 ? beyond(kCheckShare) : interrupted()) break;
      try {
        built[n]->error = runner_.check(built[n]->config);
        living_.push_back(built[n]);
      } catch (const Error& error) {
        fail(*built[n], error.what());
      }
    }
    for (Candidate* candidate : living_) candidate->outcome = Outcome::measured;
    leave_out(Outcome::compiled, "not checked");
  }

  void time() {
    std::mt19937 engine(1);
    for (int round = 0; round < bounds_.rounds && !living_.empty(); ++round) {
      // Another order each round: nobody always follows the same neighbour, or comes first.
      std::vector<Candidate*> order = living_;
      std::ranges::shuffle(order, engine);
      for (std::size_t n = 0; n < order.size(); ++n) {
        tell("timing", static_cast<std::size_t>(round), static_cast<std::size_t>(bounds_.rounds));
        if (round > 0 || n > 0 ? beyond(kTimeShare) : interrupted()) {
          forget_last_round(static_cast<std::size_t>(round));
          return end_timing();
        }
        try {
          order[n]->rounds.push_back(runner_.time(order[n]->config));
        } catch (const Error& error) {
          order[n]->rounds.clear();
          fail(*order[n], error.what());
          std::erase(living_, order[n]);
        }
      }
      drop_losers();
    }
    end_timing();
  }

  /// A round that some did not take part in compares nothing, unless it is all there is.
  void forget_last_round(std::size_t complete) {
    if (complete == 0) return;
    for (Candidate* candidate : living_) {
      if (candidate->rounds.size() > complete) candidate->rounds.pop_back();
    }
  }

  void end_timing() {
    for (Candidate& candidate : all()) candidate.seconds = median(candidate.rounds);
    for (Candidate* candidate : living_) {
      if (candidate->rounds.empty()) {
        candidate->outcome = Outcome::pruned;
        candidate->reason =
            result_.interrupted ? "not timed: interrupted" : "not timed: out of time";
      }
    }
  }

  void drop_losers() {
    const auto rounds = [](const Candidate* c) { return c->rounds.size(); };
    if (std::ranges::min(living_, {}, rounds)->rounds.size() < kRoundsBeforeDrop) return;
    const auto seconds = [](const Candidate* c) { return median(c->rounds); };
    const double best = seconds(std::ranges::min(living_, {}, seconds));
    std::erase_if(living_, [&](Candidate* candidate) {
      const double surely = seconds(candidate) - kCertain * error_of_median(candidate->rounds);
      if (candidate == &all().front() || surely <= bounds_.drop * best) return false;
      candidate->outcome = Outcome::dropped;
      candidate->reason = fmt::format("{:.3g} times the best after {} rounds",
                                      seconds(candidate) / best, candidate->rounds.size());
      return true;
    });
  }

  /// Times relative to the default's, round by round: what slows the device down cancels.
  std::vector<double> ratios(const Candidate& candidate) {
    const std::vector<double>& base = all().front().rounds;
    std::vector<double> result;
    for (std::size_t n = 0; n < std::min(base.size(), candidate.rounds.size()); ++n) {
      result.push_back(candidate.rounds[n] / base[n]);
    }
    return result;
  }

  void decide() {
    struct Challenger {
      std::size_t index;
      double ratio;
      double noise;
    };
    const bool has_default = !all().front().rounds.empty();
    std::vector<Challenger> challengers;
    for (std::size_t n = 0; n < all().size(); ++n) {
      const Candidate& candidate = all()[n];
      // What was dropped counts too: that which it lost to may have failed since.
      if (candidate.rounds.empty()) continue;
      const std::vector<double> times = has_default ? ratios(candidate) : candidate.rounds;
      challengers.push_back({n, median(times), kCertain * error_of_median(times)});
    }
    if (challengers.empty()) return;
    const auto best = *std::ranges::min_element(challengers, {}, &Challenger::ratio);
    result_.noise = best.noise / best.ratio;
    const bool wins = !has_default || (best.ratio + best.noise < 1 &&
                                       all()[best.index].rounds.size() >= kRoundsToWin);
    if (!wins) {
      result_.winner = 0;
      return;
    }
    // Of those that cannot be told from the best, the first: the same in every sweep.
    const double tie = best.ratio * (1 + kTie);
    result_.winner = std::ranges::find_if(challengers, [&](const Challenger& one) {
                       return one.ratio <= tie && (!has_default || one.ratio + one.noise < 1);
                     })->index;
  }

  SweepResult finish() {
    result_.seconds = clock_() - start_;
    return std::move(result_);
  }

  CandidateRunner& runner_;
  const SweepLimits& bounds_;
  const SweepClock& clock_;
  const std::function<void(const SweepProgress&)>& progress_;
  const std::function<bool()>& stop_;
  double start_;
  SweepResult result_;
  std::vector<Candidate*> living_;  // take part in the next round
};

}  // namespace

std::string_view to_string(Outcome outcome) {
  switch (outcome) {
    case Outcome::pruned:
      return "pruned";
    case Outcome::compiled:
      return "compiled";
    case Outcome::failed:
      return "failed";
    case Outcome::dropped:
      return "dropped";
    case Outcome::measured:
      return "measured";
  }
  return {};
}

SweepResult sweep(const Problem& problem, const DeviceLimits& limits, CandidateRunner& runner,
                  const SweepLimits& bounds, const SweepClock& clock,
                  const std::function<void(const SweepProgress&)>& progress,
                  const std::function<bool()>& stop) {
  return Sweep(problem, limits, runner, bounds, clock, progress, stop).run();
}

SweepResult dry_run(const Problem& problem, const DeviceLimits& limits, CandidateRunner& runner,
                    const SweepLimits& bounds, const SweepClock& clock,
                    const std::function<void(const SweepProgress&)>& progress,
                    const std::function<bool()>& stop) {
  return Sweep(problem, limits, runner, bounds, clock, progress, stop).dry_run();
}

}  // namespace vnjit
