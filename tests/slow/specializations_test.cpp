#include "specializations.hpp"

#include <gtest/gtest.h>

// Everything that tests/emit tries a covering set of.

namespace vnjit {
namespace {

using tests::Levels;

Options in_memory() {
  Options options = Options::from_environment();
  options.cache_dir.clear();
  return options;
}

/// All combinations, in the order of numbers whose digits they are.
std::vector<Levels> product(const std::vector<std::size_t>& counts) {
  std::vector<Levels> all;
  Levels levels(counts.size(), 0);
  for (;;) {
    all.push_back(levels);
    std::size_t digit = 0;
    while (digit < levels.size() && ++levels[digit] == counts[digit]) levels[digit++] = 0;
    if (digit == levels.size()) return all;
  }
}

/// By preset, and by noise: number of tests::kNoises.
class EverySpecialization
    : public testing::TestWithParam<std::tuple<std::string_view, std::size_t>> {
 protected:
  EverySpecialization()
      : compiler(in_memory()), limits(DeviceLimits::preset(std::get<0>(GetParam()))) {}

  void SetUp() override {
    const int arch = limits.compute_major * 10 + limits.compute_minor;
    if (!std::ranges::binary_search(compiler.nvrtc()->supported_archs(), arch)) {
      GTEST_SKIP() << "this NVRTC does not know " << limits.arch();
    }
  }

  template <typename Choices>
  void expect_clean() {
    std::vector<std::size_t> counts = Choices::counts();
    counts[Choices::noise] = 1;
    for (Levels levels : product(counts)) {
      levels[Choices::noise] = std::get<1>(GetParam());
      const tests::Specialization specialization = Choices::make(levels, limits);
      SCOPED_TRACE(specialization.name());
      ASSERT_NO_THROW({
        const Binary binary = compiler.compile(specialization.emit()).binary;
        ASSERT_EQ(tests::complaints(binary.log), "");
      });
    }
  }

  Compiler compiler;
  DeviceLimits limits;
};

TEST_P(EverySpecialization, OfPerturbedLinearCompilesWithoutWarnings) {
  expect_clean<tests::LinearChoices>();
}

TEST_P(EverySpecialization, OfGradientsCompilesWithoutWarnings) {
  expect_clean<tests::GradientChoices>();
}

TEST_P(EverySpecialization, OfReduceMetricCompilesWithoutWarnings) {
  expect_clean<tests::MetricChoices>();
}

// Every tile, depth and number of warps that a tuner may try: what the generator counts of shared
// memory is asserted in the source.
class EveryCandidate : public EverySpecialization {};

TEST_P(EveryCandidate, Compiles) {
  const PerturbedLinear problem{.noise = tests::noise_number(std::get<1>(GetParam()), false),
                                .input = DataType::bf16};
  for (const Config& config : candidates(problem, limits)) {
    SCOPED_TRACE(to_string(config));
    ASSERT_NO_THROW(compiler.compile_to_ptx(emit(problem, config, limits)));
  }
}

std::string name_of(const testing::TestParamInfo<std::tuple<std::string_view, std::size_t>>& info) {
  std::string name =
      fmt::format("{}_{}", std::get<0>(info.param), tests::kNoises.at(std::get<1>(info.param)));
  std::ranges::replace(name, ':', '_');
  return name;
}

constexpr auto kByPreset = [](auto noises) {
  return testing::Combine(testing::ValuesIn(preset_names().begin(), preset_names().end()), noises);
};

INSTANTIATE_TEST_SUITE_P(, EverySpecialization,
                         kByPreset(testing::Range(std::size_t{0}, tests::kNoises.size())), name_of);

// Noise made an element at a time, and in blocks.
INSTANTIATE_TEST_SUITE_P(, EveryCandidate,
                         kByPreset(testing::Values(std::size_t{0}, std::size_t{3})), name_of);

}  // namespace
}  // namespace vnjit
