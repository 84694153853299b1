#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <csignal>
#include <filesystem>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "command.hpp"
#include "files.hpp"
#include "flag_values.hpp"
#include "problem_flags.hpp"
#include "report.hpp"
#include "tune_progress.hpp"
#include "vnjit/runtime/error.hpp"
#include "vnjit/runtime/runtime.hpp"
#include "vnjit/runtime/tune/problem_json.hpp"
#include "vnjit/runtime/tune/tuner.hpp"

namespace vnjit::cli {
namespace {

constexpr int kInterrupted = 130;  // exit status, as shells have it
constexpr int kShownCandidates = 5;
constexpr int kDryCandidates = 24;

volatile std::sig_atomic_t interrupted = 0;

/// The second signal ends the program at once.
void on_signal(int signal) {
  interrupted = 1;
  std::signal(signal, SIG_DFL);
}

struct TuneFlags {
  explicit TuneFlags(CLI::App& command) : problem(command, FlagsFor::tuning) {}

  ProblemFlags problem;
  std::string seconds = "60";
  std::string candidates = "48";
  std::string workers = "0";
  std::string shard, from, json, report;
  bool dry_run = false;
  bool no_record = false;
};

struct Shard {
  std::size_t number = 1;
  std::size_t count = 1;

  bool takes(std::size_t n) const { return n % count == number - 1; }
};

Shard parse_shard(std::string_view text) {
  if (text.empty()) return {};
  Shard shard;
  const std::size_t slash = std::min(text.find('/'), text.size());
  const auto parse = [](std::string_view part, std::size_t& value) {
    const char* end = part.data() + part.size();
    const auto parsed = std::from_chars(part.data(), end, value);
    return parsed.ec == std::errc() && parsed.ptr == end;
  };
  if (slash == text.size() || !parse(text.substr(0, slash), shard.number) ||
      !parse(text.substr(slash + 1), shard.count) || shard.number < 1 ||
      shard.number > shard.count) {
    throw InvalidArgument(fmt::format(
        "--shard: '{}' is not a part such as 2/8: a number from 1 up to the number of parts",
        text));
  }
  return shard;
}

double parse_seconds(std::string_view text) {
  constexpr double kMost = 86'400;
  double value = 0;
  const char* end = text.data() + text.size();
  const auto parsed = std::from_chars(text.data(), end, value);
  if (parsed.ec != std::errc() || parsed.ptr != end || !(value > 0 && value <= kMost)) {
    throw InvalidArgument(
        fmt::format("--seconds: '{}' is not a number of seconds above 0, at most {}", text, kMost));
  }
  return value;
}

/// One problem a line; empty lines are skipped. All lines are looked at before anything runs.
std::vector<Problem> read_problems(const std::string& path) {
  const std::string text = read_file(path);
  std::vector<Problem> problems;
  std::size_t number = 0;
  for (std::size_t begin = 0; begin < text.size();) {
    const std::size_t end = std::min(text.find('\n', begin), text.size());
    const std::string_view line = std::string_view(text).substr(begin, end - begin);
    begin = end + 1;
    ++number;
    if (line.find_first_not_of(" \t\r") == std::string_view::npos) continue;
    try {
      problems.push_back(problem_from_json(line));
    } catch (const InvalidArgument& error) {
      throw InvalidArgument(fmt::format("--from: {}:{}: {}", path, number, error.what()));
    }
  }
  if (problems.empty()) throw InvalidArgument(fmt::format("--from: {} holds no problems", path));
  return problems;
}

std::vector<Problem> problems_of(const TuneFlags& flags) {
  if (flags.from.empty() == !flags.problem.has_problem()) {
    throw InvalidArgument("tune takes OP with its flags, or --from FILE, and one of them");
  }
  if (!flags.from.empty()) return read_problems(flags.from);
  return {flags.problem.noted_problem()};
}

/// This program, to be started again as a worker.
std::vector<std::string> worker_command() {
  std::error_code failed;
  const auto self = std::filesystem::read_symlink("/proc/self/exe", failed);
  if (failed) throw Error(fmt::format("/proc/self/exe cannot be read: {}", failed.message()));
  return {self.string(), "tune-worker"};
}

std::string sizes(const Problem& problem) {
  return fmt::format("{}, result ({})", command_flags(problem),
                     fmt::join(output_shape(problem), ", "));
}

std::string candidate_row(const Candidate& c, bool timed) {
  const std::string time = timed ? fmt::format("{:>10.4g}", c.seconds * 1e6) : std::string();
  return fmt::format("{}{:>10.4g}  {:>4} {:>6} {:>7} {:>5.2f}  {}{}\n", time,
                     c.predicted_seconds * 1e6, c.usage.registers, c.usage.spill_store_bytes,
                     c.shared_bytes + c.usage.static_shared_bytes, c.occupancy, to_string(c.config),
                     c.reason.empty() ? "" : "  " + c.reason);
}

/// The candidates that were timed, the fastest first; or of a dry run all that were compiled, and
/// how many were pruned for what.
std::string table(const SweepResult& result, bool dry) {
  std::vector<const Candidate*> shown;
  for (const Candidate& c : result.candidates) {
    const bool compiled = c.outcome == Outcome::compiled || c.outcome == Outcome::failed;
    if (dry ? compiled : c.seconds > 0) shown.push_back(&c);
  }
  if (!dry) {
    std::ranges::stable_sort(shown, {}, &Candidate::seconds);
    shown.resize(std::min<std::size_t>(shown.size(), kShownCandidates));
  }
  std::string text =
      fmt::format("{}{:>10}  {:>4} {:>6} {:>7} {:>5}  {}\n", dry ? "" : fmt::format("{:>10}", "us"),
                  "predicted", "regs", "spills", "shared", "occ.", "config");
  for (const Candidate* c : shown) text += candidate_row(*c, !dry);
  return text;
}

/// Reasons and how many candidates each left out; figures in them that differ are one reason.
std::map<std::string, int> pruned_for(const SweepResult& result) {
  std::map<std::string, int> reasons;
  for (const Candidate& c : result.candidates) {
    if (c.outcome != Outcome::pruned) continue;
    const bool slow = c.reason.starts_with("predicted ");
    ++reasons[slow ? "predicted too slow" : c.reason];
  }
  return reasons;
}

std::string outcomes(const SweepResult& result) {
  std::string text;
  for (const Outcome outcome :
       {Outcome::measured, Outcome::dropped, Outcome::compiled, Outcome::failed, Outcome::pruned}) {
    const auto count = std::ranges::count(result.candidates, outcome, &Candidate::outcome);
    if (count == 0) continue;
    text += fmt::format("{}{} {}", text.empty() ? "" : ", ", count, to_string(outcome));
  }
  text = fmt::format("{} candidates: {}\n", result.candidates.size(), text);
  for (const auto& [reason, count] : pruned_for(result)) {
    text += fmt::format("{:>6} pruned: {}\n", count, reason);
  }
  return text;
}

std::string verdict(const SweepResult& result) {
  if (!result.winner) return "no candidate was timed: the default stays\n";
  const Candidate& winner = result.candidates.at(*result.winner);
  const Candidate& first = result.candidates.front();
  if (*result.winner == 0) {
    return fmt::format("the default stays: {}, {:.4g} us\n", to_string(first.config),
                       first.seconds * 1e6);
  }
  return fmt::format(
      "winner: {}, {:.4g} us, {:.3f} of the default's {:.4g} us ({}); noise {:.2f} %\n",
      to_string(winner.config), winner.seconds * 1e6, winner.seconds / first.seconds,
      first.seconds * 1e6, to_string(first.config), 100 * result.noise);
}

std::string failures(const SweepResult& result) {
  std::string text;
  for (const Candidate& c : result.candidates) {
    if (c.outcome == Outcome::failed) {
      text += fmt::format("failed: {}: {}\n", to_string(c.config), c.reason);
    }
  }
  return text;
}

class Tuning {
 public:
  explicit Tuning(const TuneFlags& flags)
      : flags_(flags), runtime_([] {
          Options options = Options::from_environment();
          options.use_records = false;
          options.record_problems.clear();
          return options;
        }()) {
    options_.limits.seconds = parse_seconds(flags.seconds);
    options_.limits.candidates = static_cast<int>(std::min<std::int64_t>(
        parse_count("--candidates", flags.candidates, "a number of candidates"), 1 << 20));
    if (flags.dry_run) {
      options_.limits.candidates = std::min(options_.limits.candidates, kDryCandidates);
    }
    options_.workers = static_cast<int>(std::min<std::int64_t>(
        parse_count("--workers", flags.workers, "a number of workers"), 256));
    options_.worker = worker_command();
    options_.stop = [] { return interrupted != 0; };
    if (flags.dry_run) {
      limits_ = flags.problem.limits(flags.problem.has_device() ? flags.problem.ordinal() : -1);
    } else if (flags.problem.has_arch()) {
      throw InvalidArgument("--arch goes with --dry-run: kernels are timed where they run");
    } else {
      device_ = gpu(flags.problem.ordinal());
    }
  }

  void run(const Problem& problem) {
    write_output(sizes(problem) + '\n');
    TuneProgress progress;
    options_.progress = [&](const SweepProgress& now) { progress.show(now); };
    SweepResult result = device_ ? tune(runtime_, device_, problem, options_)
                                 : tune_dry(runtime_, *limits_, problem, options_);
    progress.end();
    write_output(table(result, !device_) + failures(result) + outcomes(result));
    if (device_) {
      write_output(verdict(result) + fmt::format("swept in {:.1f} s{}\n", result.seconds,
                                                 result.interrupted     ? ", interrupted"
                                                 : result.out_of_budget ? ", out of time"
                                                                        : ""));
      keep(result);
    }
    results.push_back(std::move(result));
  }

  std::vector<SweepResult> results;

 private:
  std::shared_ptr<Device> gpu(int ordinal) {
    try {
      return runtime_.gpu(ordinal);
    } catch (const Unavailable& why) {
      throw Unavailable(fmt::format("{}; --dry-run --arch ARCH needs no GPU", why.what()));
    }
  }
  void keep(const SweepResult& result) {
    if (flags_.no_record || !result.winner) return;
    if (runtime_.options().cache_dir.empty()) {
      write_note("vnjit: note: without a cache folder no tuning record is kept");
      return;
    }
    write_output(fmt::format("record: {}\n", runtime_.records().put(record_of(result)).string()));
  }

  const TuneFlags& flags_;
  Runtime runtime_;
  TuneOptions options_;
  std::shared_ptr<Device> device_;
  std::optional<DeviceLimits> limits_;
};

int run(const TuneFlags& flags) {
  const std::vector<Problem> problems = problems_of(flags);
  const Shard shard = parse_shard(flags.shard);
  require_writable("--json", flags.json);
  require_writable("--report", flags.report);
  Tuning tuning(flags);
  std::signal(SIGINT, on_signal);
  std::signal(SIGTERM, on_signal);
  int failed = 0;
  for (std::size_t n = 0; n < problems.size() && interrupted == 0; ++n) {
    if (!shard.takes(n)) continue;
    tuning.run(problems[n]);
    failed += !flags.dry_run && !tuning.results.back().winner;
  }
  if (!flags.json.empty()) write_file(flags.json, sweeps_to_json(tuning.results));
  if (!flags.report.empty()) write_file(flags.report, report_page(tuning.results));
  if (interrupted != 0) return kInterrupted;
  return failed == 0 ? kOk : kFailed;
}

}  // namespace

Command add_tune(CLI::App& app) {
  CLI::App* command = app.add_subcommand(
      "tune", "Find the fastest config for a problem, and keep it for the plans to come");
  const auto flags = std::make_shared<TuneFlags>(*command);
  const auto add = [&](const std::string& name, std::string& value, const std::string& type,
                       const std::string& text) {
    CLI::Option* option = command->add_option(name, value, text)->type_name(type)->group("Sweep");
    if (!value.empty()) option->capture_default_str();
  };
  add("--seconds", flags->seconds, "S", "of a problem's sweep, at most");
  add("--candidates", flags->candidates, "N", "compiled, at most; 0: all that are not pruned");
  add("--workers", flags->workers, "N",
      "processes that compile at once; 0: one a core, at most 16");
  add("--from", flags->from, "FILE",
      "sweep each problem of a file, one JSON line each, as\nVNJIT_RECORD_PROBLEMS writes it");
  add("--shard", flags->shard, "I/N",
      "only part I of N of the problems: parts run on any machines,\n"
      "and their records are merged by copying files");
  add("--report", flags->report, "FILE", "write a page there that shows it all, for a browser");
  add("--json", flags->json, "FILE", "write all that was found there too");
  command
      ->add_flag("--dry-run", flags->dry_run,
                 "compile the candidates, of --arch too, and say what they take; needs no\nGPU")
      ->disable_flag_override()
      ->group("Sweep");
  command->add_flag("--no-record", flags->no_record, "keep no tuning record")
      ->disable_flag_override()
      ->group("Sweep");
  command->footer(
      "Candidates are compiled and run in processes of their own, checked against float64 before\n"
      "they are timed, and timed in turns. The default stays unless another wins by more than the\n"
      "noise. Ctrl-C keeps what was found (exit status 130); a second one ends at once.\n"
      "Example:\n"
      "  vnjit tune reduce-metric --in 64 --out 64 --pop 16 --dry-run --arch sm_90 --candidates 2");
  return {command, [flags] { return run(*flags); }};
}

}  // namespace vnjit::cli
