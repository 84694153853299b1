#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <locale.h>
#include <stdlib.h>

#include <cstdio>
#include <locale>
#include <sstream>
#include <string>

#include "child_process.hpp"
#include "examples.hpp"
#include "temp_dir.hpp"
#include "vnjit/codegen/emit.hpp"
#include "vnjit/codegen/error.hpp"
#include "vnjit/codegen/sum_split.hpp"

namespace vnjit {
namespace {

std::string message_of_uneven_warps() {
  try {
    validate(Config{.block_batch = 32, .warps = 5}, PerturbedLinear{},
             DeviceLimits::preset("sm_90"));
  } catch (const ConfigError& refusal) {
    return refusal.what();
  }
  return "not refused";
}

/// All text that codegen makes of numbers, for several problems, and what it reads back.
std::string all_text() {
  std::string text;
  for (const char* arch : {"sm_75", "sm_90"}) {
    const DeviceLimits limits = DeviceLimits::preset(arch);
    for (const NoiseSpec& noise : tests::every_noise()) {
      std::vector<Problem> problems = tests::every_operation(noise);
      problems.push_back(PerturbedLinear{
          .noise = noise, .in = 5'000'000'016, .out = 1'234'567, .bake_shape = true});
      for (const Problem& problem : problems) {
        const Config config = choose_config(problem, limits);
        text += to_string(config) + "\n" + to_string(parse_config(to_string(config))) + "\n";
        text += pipeline_depth(config, problem, limits).explain() + "\n";
        text += explain_split(config, problem, limits) + "\n";
        text += command_flags(problem) + "\n";
        text += to_string(contiguous_access(problem)) + "\n";
        text += emit(problem, config, limits).text;
        text += emit(problem, config, limits, Access{}).text;
      }
    }
  }
  return text + message_of_uneven_warps();
}

/// Makes de_DE.UTF-8 in `folder` and takes it for C and C++ alike. Says what failed, or nothing.
std::string take_german_locale(const std::filesystem::path& folder) {
  ::setenv("LOCPATH", folder.c_str(), 1);
  // Its exit status is 1 for mere warnings; whether it made a locale is seen below.
  if (std::system("localedef -c -i de_DE -f UTF-8 \"$LOCPATH/de_DE.UTF-8\" 2> /dev/null") == -1) {
    return "no shell";
  }
  if (!std::filesystem::exists(folder / "de_DE.UTF-8")) {
    return "localedef made nothing; it needs Debian's package locales";
  }
  if (!std::setlocale(LC_ALL, "de_DE.UTF-8")) return "setlocale did not take de_DE.UTF-8";
  std::locale::global(std::locale("de_DE.UTF-8"));
  char number[16];
  std::snprintf(number, sizeof number, "%.1f", 1.5);
  if (std::string(number) != "1,5") return "printf writes " + std::string(number);
  std::ostringstream stream;
  stream << 1234567;
  if (stream.str() != "1.234.567") return "a stream writes " + stream.str();
  return {};
}

// In a child process, so that the rest of this program keeps its locale.
TEST(Locale, TextIsTheSameUnderGerman) {
  const std::string expected = all_text();
  ASSERT_THAT(expected, testing::HasSubstr("gives each thread 12.8 outputs"));
  const tests::TempDir folder;
  const pid_t child = tests::start_child([&] {
    const std::string failure = take_german_locale(folder.path());
    if (failure.empty()) return all_text() == expected ? 0 : 1;
    std::fprintf(stderr, "%s\n", failure.c_str());
    return 2;
  });
  EXPECT_EQ(tests::exit_status(child), 0) << "1: other text, 2: no German locale";
}

}  // namespace
}  // namespace vnjit
