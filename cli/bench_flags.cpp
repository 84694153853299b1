#include "bench_flags.hpp"

#include <fmt/format.h>

#include <charconv>
#include <chrono>
#include <limits>

#include "flag_values.hpp"

namespace vnjit::cli {
namespace {

constexpr std::int64_t kRandomCases = 20;
constexpr std::int64_t kMaxRandomCases = 1000;
constexpr double kMaxSeconds = 60;

double parse_seconds(std::string_view flag, std::string_view text) {
  double value = 0;
  const char* end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data(), end, value);
  // Written so that NaN is refused.
  if (error != std::errc() || stop != end || !(value > 0 && value <= kMaxSeconds)) {
    throw InvalidArgument(fmt::format("{}: '{}' is not a number of seconds up to {}, such as 0.3",
                                      flag, text, kMaxSeconds));
  }
  return value;
}

}  // namespace

BenchFlags::BenchFlags(CLI::App& command) {
  command.add_option("--suite", suite_, "what is measured: " + suite_names())
      ->required()
      ->type_name("SUITE");
  command
      .add_option("--case", cases_,
                  "only this case, such as F1-bf16, G1-triton or R2; may be given again")
      ->type_name("CASE")
      ->allow_extra_args(false);
  command
      .add_option("--random", random_,
                  fmt::format("of forward: how many random sizes, at most {} [{}; 0 with\n--case]",
                              kMaxRandomCases, kRandomCases))
      ->type_name("N");
  command.add_option("--seed", seed_, "of the random sizes and inputs [the time]")->type_name("S");
  command
      .add_option("--config", config_, "of the cases that --case names; else the library chooses")
      ->type_name("CONFIG");
  command.add_option("--repeat", repeat_, "about how long a case is measured")
      ->type_name("SECONDS")
      ->capture_default_str();
  command.add_option("--device", device_, "number of the GPU [0]")->type_name("N");
  command.add_option("--json", json_, "write all numbers there too")->type_name("FILE");
  command
      .add_flag("--list", list_,
                "measure nothing: print cases, configs and predicted times; needs\nno GPU")
      ->disable_flag_override();
  command
      .add_option("--arch", arch_,
                  fmt::format("with --list: for an architecture's typical device [{}]:\n{}",
                              DeviceLimits{}.name, fmt::join(preset_names(), ", ")))
      ->type_name("ARCH");
}

void BenchFlags::refuse_contradictions() const {
  if (config_ && cases_.empty()) {
    throw InvalidArgument("--config is for named cases; name them with --case");
  }
  if (arch_ && !list_) {
    throw InvalidArgument("--arch is for --list; a measurement takes the limits of --device");
  }
  if (arch_ && device_) throw InvalidArgument("--arch and --device exclude each other");
}

std::int64_t BenchFlags::random_count(const Suite& suite) const {
  if (!suite.random_cases) {
    if (!random_) return 0;
    throw InvalidArgument(fmt::format(
        "--random: suite {} has no random sizes; leave the flag out, or use --suite forward",
        suite.name));
  }
  if (!random_) return cases_.empty() ? kRandomCases : 0;
  const std::int64_t count = parse_count("--random", *random_, "a count");
  if (count > kMaxRandomCases) {
    throw InvalidArgument(
        fmt::format("--random: {} is more than the {} allowed", count, kMaxRandomCases));
  }
  return count;
}

std::uint64_t BenchFlags::seed() const {
  if (seed_) return static_cast<std::uint64_t>(parse_count("--seed", *seed_, "a seed"));
  const auto now = std::chrono::system_clock::now().time_since_epoch();
  return static_cast<std::uint64_t>(
      std::chrono::duration_cast<std::chrono::milliseconds>(now).count() % 1'000'000);
}

int BenchFlags::device() const {
  if (!device_) return 0;
  const std::int64_t ordinal = parse_count("--device", *device_, "a device number");
  if (ordinal > std::numeric_limits<int>::max()) {
    throw InvalidArgument(fmt::format("--device: there is no device {}", ordinal));
  }
  return static_cast<int>(ordinal);
}

BenchRequest BenchFlags::request() const {
  refuse_contradictions();
  BenchRequest request;
  request.suite = parse_with("--suite", suite_, suite_named);
  request.cases = parse_with("--case", {},
                             [&](std::string_view) { return named_cases(request.suite, cases_); });
  request.seed = seed();
  const std::int64_t random = random_count(request.suite);
  if (random > 0) request.random = request.suite.random_cases(random, request.seed);
  if (config_) request.config = parse_with<ConfigError>("--config", *config_, parse_config);
  request.seconds = parse_seconds("--repeat", repeat_);
  request.list = list_;
  if (!list_ || device_) request.device = device();
  request.arch = arch_.value_or(DeviceLimits{}.name);
  if (json_) require_name("--json", *json_);
  request.json = json_;
  return request;
}

}  // namespace vnjit::cli
