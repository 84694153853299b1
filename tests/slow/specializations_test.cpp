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
  const NoiseSpec noise = tests::noise_number(std::get<1>(GetParam()), false);
  for (const Problem& problem :
       {Problem{PerturbedLinear{.noise = noise, .input = DataType::bf16}},
        Problem{Gradient{.noise = noise}}, Problem{ReduceMetric{.noise = noise}}}) {
    for (const Config& config : candidates(problem, limits)) {
      SCOPED_TRACE(std::string(operation_name(problem)) + " " + to_string(config));
      ASSERT_NO_THROW(compiler.compile_to_ptx(emit(problem, config, limits)));
    }
  }
}

/// By target, and by noise: number of tests::kNoises.
class EveryTensorSpecialization
    : public testing::TestWithParam<std::tuple<std::size_t, std::size_t>> {
 protected:
  using Choices = tests::TensorChoices;

  EveryTensorSpecialization()
      : compiler(in_memory()), target(tests::kTensorTargets.at(std::get<0>(GetParam()))) {}

  /// What decides which code a kernel has in all combinations, and the rest in turn.
  std::vector<Levels> combinations() const {
    const std::vector<std::size_t> counts = Choices::counts();
    std::vector<std::size_t> crossed(counts.size(), 1);
    for (const int choice : {Choices::operand, Choices::layout, Choices::antithetic,
                             Choices::alignment, Choices::fused}) {
      crossed[static_cast<std::size_t>(choice)] = counts[static_cast<std::size_t>(choice)];
    }
    std::vector<Levels> all = product(crossed);
    std::size_t turn = std::get<1>(GetParam());
    for (Levels& levels : all) {
      for (std::size_t choice = 0; choice < counts.size(); ++choice) {
        if (crossed[choice] == 1) levels[choice] = (turn / (choice + 1)) % counts[choice];
      }
      levels[Choices::noise] = std::get<1>(GetParam());
      ++turn;
    }
    return all;
  }

  Compiler compiler;
  tests::TensorTarget target;
};

TEST_P(EveryTensorSpecialization, CompilesWithoutWarnings) {
  const DeviceLimits limits = target.limits();
  const int arch = limits.compute_major * 10 + limits.compute_minor;
  if (!std::ranges::binary_search(compiler.nvrtc()->supported_archs(), arch)) {
    GTEST_SKIP() << "this NVRTC does not know " << limits.arch();
  }
  for (const Levels& levels : combinations()) {
    const tests::Specialization specialization = Choices::make(levels, target);
    SCOPED_TRACE(specialization.name());
    ASSERT_NO_THROW({
      const Binary binary = compiler.compile(specialization.emit()).binary;
      ASSERT_EQ(tests::complaints(binary.log), "");
    });
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

INSTANTIATE_TEST_SUITE_P(
    , EveryTensorSpecialization,
    testing::Combine(testing::Range(std::size_t{0}, tests::kTensorTargets.size()),
                     testing::Range(std::size_t{0}, tests::kNoises.size())),
    [](const auto& combination) {
      std::string name =
          fmt::format("{}_{}", tests::kTensorTargets.at(std::get<0>(combination.param)).name(),
                      tests::kNoises.at(std::get<1>(combination.param)));
      std::ranges::replace(name, ':', '_');
      return name;
    });

// Noise made an element at a time, and in blocks.
INSTANTIATE_TEST_SUITE_P(, EveryCandidate,
                         kByPreset(testing::Values(std::size_t{0}, std::size_t{3})), name_of);

}  // namespace
}  // namespace vnjit
