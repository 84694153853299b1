#include "specializations.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace vnjit {
namespace {

using tests::covering_set;
using tests::GradientChoices;
using tests::Levels;
using tests::LinearChoices;
using tests::MetricChoices;
using tests::Specialization;

TEST(CoveringSet, HoldsEveryTwoLevelsOfEveryTwoChoices) {
  const std::vector<std::size_t> counts = {4, 3, 2, 3};
  const std::vector<Levels> rows = covering_set(counts);
  EXPECT_LE(rows.size(), 18u);  // of 72
  for (std::size_t a = 0; a < counts.size(); ++a) {
    for (std::size_t b = a + 1; b < counts.size(); ++b) {
      std::set<std::pair<std::size_t, std::size_t>> pairs;
      for (const Levels& row : rows) {
        ASSERT_LT(row[a], counts[a]);
        pairs.insert({row[a], row[b]});
      }
      EXPECT_EQ(pairs.size(), counts[a] * counts[b]);
    }
  }
}

/// The combinations of one preset: the covering set has the preset as its first choice.
template <typename Choices>
std::vector<Specialization> specializations(std::size_t preset) {
  std::vector<std::size_t> counts = Choices::counts();
  counts.insert(counts.begin(), preset_names().size());
  std::vector<Specialization> all;
  const DeviceLimits limits = DeviceLimits::preset(preset_names()[preset]);
  for (const Levels& row : covering_set(counts)) {
    if (row[0] == preset) all.push_back(Choices::make({row.begin() + 1, row.end()}, limits));
  }
  return all;
}

class EmittedSource : public testing::TestWithParam<std::size_t> {
 protected:
  EmittedSource() : compiler(in_memory()) {}

  void SetUp() override {
    const int arch = limits.compute_major * 10 + limits.compute_minor;
    if (!std::ranges::binary_search(compiler.nvrtc()->supported_archs(), arch)) {
      GTEST_SKIP() << "this NVRTC does not know " << limits.arch();
    }
  }

  static Options in_memory() {
    Options options = Options::from_environment();
    options.cache_dir.clear();
    return options;
  }

  void expect_clean(const std::vector<Specialization>& all) {
    for (const Specialization& specialization : all) {
      SCOPED_TRACE(specialization.name());
      ASSERT_NO_THROW({
        const Binary binary = compiler.compile(specialization.emit()).binary;
        EXPECT_EQ(tests::complaints(binary.log), "");
        EXPECT_GT(binary.usage.registers, 0);
        EXPECT_EQ(binary.usage.static_shared_bytes, 0);
      });
    }
  }

  Compiler compiler;
  DeviceLimits limits = DeviceLimits::preset(preset_names()[GetParam()]);
};

TEST_P(EmittedSource, OfPerturbedLinearCompilesWithoutWarnings) {
  expect_clean(specializations<LinearChoices>(GetParam()));
}

TEST_P(EmittedSource, OfGradientsCompilesWithoutWarnings) {
  expect_clean(specializations<GradientChoices>(GetParam()));
}

TEST_P(EmittedSource, OfReduceMetricCompilesWithoutWarnings) {
  expect_clean(specializations<MetricChoices>(GetParam()));
}

TEST_P(EmittedSource, OfChosenConfigsSpillsNoRegisters) {
  for (const Problem& problem : {Problem{PerturbedLinear{}}, Problem{ReduceMetric{}}}) {
    const Config config = choose_config(problem, limits);
    SCOPED_TRACE(std::string(operation_name(problem)) + " " + to_string(config));
    const ResourceUsage usage = compiler.compile(emit(problem, config, limits)).binary.usage;
    EXPECT_EQ(usage.spill_store_bytes, 0);
    EXPECT_EQ(usage.spill_load_bytes, 0);
    EXPECT_EQ(usage.stack_bytes, 0);
    // The config counts on this many resident blocks.
    EXPECT_LE(usage.registers * config.threads() * config.blocks_per_sm, limits.registers_per_sm);
  }
}

/// Bytes that a thread may spill: some where sums fill the 128 registers of 16 resident warps, or
/// the 255 of 8.
int most_spilled(const Problem& problem, const Config& config) {
  const NoiseSpec& noise = noise_of(problem);
  if (config.family == Family::mma_sync) return 288;
  if (noise.generator == Generator::triton) return 176;
  return noise.distribution == Distribution::normal ? 16 : 0;
}

TEST_P(EmittedSource, OfChosenConfigsOfSumsFitsTheRegisters) {
  for (const char* name : tests::kNoises) {
    const NoiseSpec noise = parse_noise_spec(name);
    for (const Problem& problem : {Problem{Gradient{.noise = noise}},
                                   Problem{Gradient{.noise = noise, .update = Update::adam}},
                                   Problem{ReduceMetric{.noise = noise}}}) {
      const Config config = choose_config(problem, limits);
      SCOPED_TRACE(command_flags(problem) + " " + to_string(config));
      const ResourceUsage usage = compiler.compile(emit(problem, config, limits)).binary.usage;
      EXPECT_LE(usage.spill_store_bytes, most_spilled(problem, config));
      EXPECT_LE(usage.registers * config.threads() * config.blocks_per_sm, limits.registers_per_sm);
    }
  }
}

INSTANTIATE_TEST_SUITE_P(, EmittedSource, testing::Range(std::size_t{0}, preset_names().size()),
                         [](const auto& preset) {
                           return std::string(preset_names()[preset.param]);
                         });

}  // namespace
}  // namespace vnjit
