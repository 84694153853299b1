#include "vnjit/runtime/explain_key.hpp"

#include <gmock/gmock.h>

#include "vnjit/codegen/candidates.hpp"
#include "vnjit/codegen/emit.hpp"
#include "vnjit/codegen/error.hpp"
#include "vnjit/runtime/compiler.hpp"

namespace vnjit {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

KeyParts parts_of(const Problem& problem, const std::string& arch = "sm_90") {
  const DeviceLimits limits = DeviceLimits::preset(arch);
  return {.problem = problem,
          .config = choose_config(problem, limits),
          .limits = limits,
          .access = contiguous_access(problem),
          .nvrtc = "id"};
}

std::vector<std::string> names(const KeyExplanation& explanation, bool in_key) {
  std::vector<std::string> found;
  for (const KeyField& field : explanation.differing) {
    if (field.in_key == in_key) found.push_back(field.name);
  }
  return found;
}

TEST(ExplainKey, TheSameKernelIsOneBinary) {
  const KeyExplanation same = explain_key(parts_of(ReduceMetric{}), parts_of(ReduceMetric{}));
  EXPECT_TRUE(same.one_binary);
  EXPECT_THAT(same.differing, IsEmpty());
  EXPECT_EQ(same.text(), "one binary: " + same.first_key + "\n  nothing differs\n");
}

TEST(ExplainKey, SizesOfARunAreNoPartOfTheKey) {
  KeyParts other = parts_of(PerturbedLinear{});
  std::get<PerturbedLinear>(other.problem).pop = 7;
  std::get<PerturbedLinear>(other.problem).in = 512;
  const KeyExplanation found = explain_key(parts_of(PerturbedLinear{}), other);
  EXPECT_TRUE(found.one_binary);
  EXPECT_THAT(names(found, false), ElementsAre("pop", "in"));
  EXPECT_EQ(found.text(), "one binary: " + found.first_key +
                              "\n  pop         256 and 7: not part of the key\n"
                              "  in          1024 and 512: not part of the key\n");
}

TEST(ExplainKey, BakedSizesArePartOfIt) {
  const PerturbedLinear baked{.bake_shape = true};
  KeyParts other = parts_of(baked);
  std::get<PerturbedLinear>(other.problem).in = 512;
  const KeyExplanation found = explain_key(parts_of(baked), other);
  EXPECT_FALSE(found.one_binary);
  EXPECT_THAT(names(found, true), ElementsAre("in"));
}

TEST(ExplainKey, NamesWhatMakesTwoBinariesWithBothValues) {
  PerturbedLinear second;
  second.bias = !second.bias;
  second.batch = 63;
  KeyParts other = parts_of(PerturbedLinear{});
  other.problem = second;
  const KeyExplanation found = explain_key(parts_of(PerturbedLinear{}), other);
  EXPECT_FALSE(found.one_binary);
  EXPECT_EQ(found.text(), "two binaries: " + found.first_key + " and " + found.second_key +
                              "\n  bias        true and false: part of the key\n"
                              "  batch       64 and 63: not part of the key\n");
}

TEST(ExplainKey, OperationsDeviceConfigAccessAndCompilerArePartOfIt) {
  EXPECT_THAT(names(explain_key(parts_of(ReduceMetric{}), parts_of(Gradient{})), true),
              ElementsAre("operation"));
  KeyParts other = parts_of(ReduceMetric{});
  other.nvrtc = "id2";
  EXPECT_THAT(names(explain_key(parts_of(ReduceMetric{}), other), true), ElementsAre("NVRTC"));
  other = parts_of(ReduceMetric{});
  other.limits = DeviceLimits::preset("sm_80");
  EXPECT_THAT(names(explain_key(parts_of(ReduceMetric{}), other), true), ElementsAre("device"));
  other = parts_of(PerturbedLinear{});
  other.access = Access{};
  EXPECT_THAT(names(explain_key(parts_of(PerturbedLinear{}), other), true), ElementsAre("access"));
  other = parts_of(PerturbedLinear{});
  other.config = candidates(other.problem, other.limits).back();
  EXPECT_THAT(names(explain_key(parts_of(PerturbedLinear{}), other), true), ElementsAre("config"));
}

TEST(ExplainKey, HoldsForEveryPairOfManyKernels) {
  std::vector<KeyParts> all;
  for (const char* noise : {"philox:uniform8", "triton"}) {
    for (const bool antithetic : {false, true}) {
      NoiseSpec spec = parse_noise_spec(noise);
      spec.antithetic = antithetic;
      for (const char* arch : {"sm_80", "sm_90"}) {
        all.push_back(parts_of(PerturbedLinear{.noise = spec}, arch));
        all.push_back(parts_of(PerturbedLinear{.noise = spec, .input = DataType::f16}, arch));
        all.push_back(parts_of(
            PerturbedLinear{.noise = spec, .layout = InputLayout::individual, .pop = 32}, arch));
        all.push_back(parts_of(Gradient{.noise = spec}, arch));
        all.push_back(parts_of(Gradient{.noise = spec, .normalize = Normalize::unbiased}, arch));
        all.push_back(parts_of(Gradient{.noise = spec, .update = Update::adam}, arch));
        all.push_back(parts_of(ReduceMetric{.noise = spec}, arch));
        all.push_back(parts_of(ReduceMetric{.noise = spec, .pop = 8, .params = 77}, arch));
      }
    }
  }
  const auto key = [](const KeyParts& parts) {
    return cache_key(emit(parts.problem, parts.config, parts.limits, parts.access), parts.nvrtc);
  };
  for (const KeyParts& first : all) {
    for (const KeyParts& second : all) {
      const KeyExplanation found = explain_key(first, second);
      EXPECT_EQ(found.one_binary, key(first) == key(second));
      EXPECT_EQ(found.one_binary, names(found, true).empty())
          << command_flags(first.problem) << '\n'
          << command_flags(second.problem) << '\n'
          << found.text();
    }
  }
}

TEST(ExplainKey, WhatCannotBeEmittedIsRefused) {
  KeyParts wrong = parts_of(ReduceMetric{});
  wrong.config.warps = 33;
  EXPECT_THROW(explain_key(parts_of(ReduceMetric{}), wrong), ConfigError);
}

}  // namespace
}  // namespace vnjit
