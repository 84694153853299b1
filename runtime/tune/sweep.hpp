#pragma once

#include <cstddef>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "vnjit/codegen/config.hpp"
#include "vnjit/codegen/device_limits.hpp"
#include "vnjit/codegen/problem.hpp"
#include "vnjit/runtime/binary.hpp"

namespace vnjit {

// A sweep: which of a problem's candidates is the fastest on a device. Everything that takes a GPU,
// a compiler or a clock is behind CandidateRunner and SweepClock, so what is decided here is tested
// without any.

/// What became of a candidate.
enum class Outcome {
  pruned,    ///< never compiled: the model or the budget left it out; `reason` says why
  compiled,  ///< compiled only (a dry run)
  failed,    ///< did not compile, crashed, hung or gave a wrong result; `reason` says what
  dropped,   ///< timed in some rounds, then too slow to go on
  measured,  ///< timed to the end
};
std::string_view to_string(Outcome outcome);

struct Candidate {
  Config config{};
  double predicted_seconds = 0;
  Outcome outcome = Outcome::pruned;
  std::string reason{};           ///< one line; empty where measured
  ResourceUsage usage{};          ///< once compiled: of the kernel that is named in the config
  std::int64_t shared_bytes = 0;  ///< dynamic, of a block
  int blocks_per_sm = 0;          ///< resident, by registers, warps and shared memory
  double occupancy = 0;           ///< resident warps / the multiprocessor's most, 0 to 1
  double error = 0;               ///< relative Frobenius error against the reference, where checked
  std::vector<double> rounds{};   ///< seconds a run, one for each round it took part in
  double seconds = 0;             ///< median of rounds; 0 where there is none
};

struct SweepLimits {
  double seconds = 60;  ///< of the whole sweep, by the clock; 0 is no bound
  int candidates = 48;  ///< compiled at most; 0 is no bound
  int rounds = 12;      ///< each candidate takes part in at most
  double drop = 1.15;   ///< slower than the best by this factor (beyond the noise): dropped
  double prune = 3.0;   ///< predicted slower than the best prediction by this factor: pruned
};

/// Compiles and runs candidates. A call that fails throws Error with one line of why.
class CandidateRunner {
 public:
  virtual ~CandidateRunner() = default;

  /// Compiles ahead, in parallel where it can; calls `done` once for each config in any order with
  /// what it takes, or why it failed. Stops early when `stop()` answers true.
  struct Build {
    ResourceUsage usage{};
    std::int64_t shared_bytes = 0;
    std::string failure;  ///< empty: it compiled
  };
  virtual void build(std::span<const Config> configs,
                     const std::function<void(std::size_t index, const Build&)>& done,
                     const std::function<bool()>& stop) = 0;

  /// Runs it once over poisoned outputs and compares with the reference; the relative error. Throws
  /// Error when it is wrong, crashes or hangs.
  virtual double check(const Config& config) = 0;

  /// Seconds of one run on the device, from device events around enough runs to be told apart from
  /// their resolution.
  virtual double time(const Config& config) = 0;
};

using SweepClock = std::function<double()>;  ///< seconds since any fixed moment, never backwards

/// How far a sweep is, for a line of progress.
struct SweepProgress {
  std::string_view phase;  ///< "compiling", "checking", "timing"
  int done = 0;            ///< of `all`, in this phase
  int all = 0;
  std::string best{};          ///< config so far; empty before the first time
  double best_seconds = 0;     ///< 0 before
  double default_seconds = 0;  ///< 0 before
  double seconds_left = 0;     ///< of the budget
};

struct SweepResult {
  Problem problem{};
  DeviceLimits limits{};
  std::vector<Candidate> candidates;  ///< the default first, then by predicted time
  Config default_config{};
  std::optional<std::size_t> winner;  ///< index; none when nothing was timed. The default unless
                                      ///< another wins by more than the noise
  double noise = 0;                   ///< relative: what two medians of one candidate differ by
  double seconds = 0;                 ///< the sweep took
  bool interrupted = false;           ///< by stop()
  bool out_of_budget = false;
  double roofline_seconds = 0;  ///< the least the device allows; 0 where unknown
  std::string roofline;         ///< what bounds it, in words
};

/// Prunes, builds, checks, times in interleaved rounds and decides. The default config always takes
/// part. `progress` and `stop` may be empty. Never throws for what a candidate does.
SweepResult sweep(const Problem& problem, const DeviceLimits& limits, CandidateRunner& runner,
                  const SweepLimits& bounds, const SweepClock& clock,
                  const std::function<void(const SweepProgress&)>& progress = {},
                  const std::function<bool()>& stop = {});

/// The pruned space, compiled for the limits' architecture but not run.
SweepResult dry_run(const Problem& problem, const DeviceLimits& limits, CandidateRunner& runner,
                    const SweepLimits& bounds, const SweepClock& clock,
                    const std::function<void(const SweepProgress&)>& progress = {},
                    const std::function<bool()>& stop = {});

/// Spearman's correlation of predicted and measured times of the candidates that were timed.
double rank_correlation(const SweepResult& result);

/// A JSON document of all of it, and back (throws InvalidArgument saying what is wrong).
std::string to_json(const SweepResult& result);
SweepResult sweep_result_from_json(std::string_view text);

}  // namespace vnjit
