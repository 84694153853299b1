#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "specializations.hpp"

namespace vnjit {
namespace {

using tests::covering_set;
using tests::kTensorTargets;
using tests::Levels;
using tests::Specialization;
using tests::TensorChoices;
using tests::TensorTarget;

std::vector<Specialization> specializations(const TensorTarget& target) {
  std::vector<Specialization> all;
  for (const Levels& levels : covering_set(TensorChoices::counts())) {
    all.push_back(TensorChoices::make(levels, target));
  }
  return all;
}

/// Typical sizes: square and tall, of few and of many individuals, of one row of X and of many.
std::vector<PerturbedLinear> typical_sizes() {
  constexpr InputLayout kShared = InputLayout::shared;
  constexpr InputLayout kOwn = InputLayout::individual;
  return {
      {.layout = kShared, .pop = 256, .batch = 128, .in = 1024, .out = 1024},
      {.layout = kShared, .pop = 64, .batch = 256, .in = 4096, .out = 4096},
      {.layout = kShared, .pop = 1024, .batch = 64, .in = 784, .out = 256},
      {.layout = kOwn, .pop = 1024, .batch = 64, .in = 512, .out = 1536},
      {.layout = kOwn, .pop = 8192, .batch = 1, .in = 64, .out = 64},
      {.layout = kOwn, .pop = 4096, .batch = 16, .in = 256, .out = 256},
      {.layout = kShared, .pop = 16, .batch = 1024, .in = 512, .out = 128},
  };
}

class EmittedTensorSource : public testing::TestWithParam<std::size_t> {
 protected:
  EmittedTensorSource() : compiler(in_memory()) {}

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

  void expect_clean(const KernelSource& source) {
    ASSERT_NO_THROW({
      const Binary binary = compiler.compile(source).binary;
      EXPECT_EQ(tests::complaints(binary.log), "");
      EXPECT_GT(binary.usage.registers, 0);
      EXPECT_EQ(binary.usage.static_shared_bytes, 0);
    });
  }

  void expect_fit(const PerturbedLinear& problem) {
    const Config config = choose_config(problem, limits, target.family);
    SCOPED_TRACE(command_flags(problem) + " " + to_string(config));
    const Binary binary = compiler.compile(emit(problem, config, limits)).binary;
    EXPECT_EQ(tests::complaints(binary.log), "");
    EXPECT_EQ(binary.usage.spill_store_bytes, 0);
    EXPECT_EQ(binary.usage.spill_load_bytes, 0);
    EXPECT_EQ(binary.usage.stack_bytes, 0);
    // The config counts on this many resident blocks.
    EXPECT_LE(binary.usage.registers * config.threads() * config.blocks_per_sm,
              limits.registers_per_sm);
  }

  Compiler compiler;
  TensorTarget target = kTensorTargets.at(GetParam());
  DeviceLimits limits = target.limits();
};

TEST_P(EmittedTensorSource, CompilesWithoutWarnings) {
  for (const Specialization& specialization : specializations(target)) {
    SCOPED_TRACE(specialization.name());
    KernelSource source;
    ASSERT_NO_THROW(source = specialization.emit());
    expect_clean(source);
  }
}

TEST_P(EmittedTensorSource, OfChosenConfigsFitsTheRegistersWithoutSpills) {
  for (PerturbedLinear problem : typical_sizes()) {
    for (const DataType input : {DataType::f16, DataType::bf16}) {
      problem.input = input;
      expect_fit(problem);
    }
    problem.input = DataType::f32;
    problem.precision = Precision::tf32;
    expect_fit(problem);
  }
}

TEST_P(EmittedTensorSource, OfTheBaseProductCompilesWithoutWarnings) {
  PerturbedLinear problem;
  for (const Precision precision : {Precision::f16, Precision::bf16, Precision::tf32}) {
    problem.precision = precision;
    problem.bias = !problem.bias;
    SCOPED_TRACE(command_flags(problem));
    expect_clean(emit_base_product(problem, limits, Access{.vector_rows = true}));
    expect_clean(emit_base_product(problem, limits, contiguous_access(problem)));
  }
}

TEST_P(EmittedTensorSource, OfQuantizedInputsCompilesWithoutWarnings) {
  for (const DataType input : {DataType::f32, DataType::f16, DataType::bf16}) {
    PerturbedLinear problem{.input = input, .output = input, .precision = Precision::int8};
    for (const bool other : {false, true}) {
      problem.noise.antithetic = problem.bake_shape = other;
      problem.bias = !other;
      const Config config = choose_config(problem, limits, target.family);
      SCOPED_TRACE(command_flags(problem) + " " + to_string(config));
      expect_clean(emit(problem, config, limits, contiguous_access(problem)));
      expect_clean(emit(problem, config, limits, parse_access("rows16+noise64")));
    }
    expect_clean(emit_quantize(problem, limits));
  }
}

TEST_P(EmittedTensorSource, OfTheConversionCompilesWithoutWarnings) {
  for (const Precision precision : {Precision::f16, Precision::bf16}) {
    expect_clean(emit_convert(PerturbedLinear{.precision = precision}, limits));
  }
}

INSTANTIATE_TEST_SUITE_P(, EmittedTensorSource,
                         testing::Range(std::size_t{0}, kTensorTargets.size()),
                         [](const auto& target) { return kTensorTargets.at(target.param).name(); });

}  // namespace
}  // namespace vnjit
