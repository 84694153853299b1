#include "vnjit/codegen/emit.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <regex>

#include "examples.hpp"
#include "vnjit/codegen/error.hpp"

namespace vnjit {
namespace {

using testing::ContainsRegex;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;
using testing::StartsWith;
using testing::ThrowsMessage;

const DeviceLimits kSm75 = DeviceLimits::preset("sm_75");
const DeviceLimits kSm90 = DeviceLimits::preset("sm_90");

KernelSource emitted(const Problem& problem, const DeviceLimits& limits = kSm90) {
  return emit(problem, choose_config(problem, limits), limits);
}

std::size_t count(const std::string& text, std::string_view part) {
  std::size_t found = 0;
  for (std::size_t at = text.find(part); at != std::string::npos; at = text.find(part, at + 1)) {
    ++found;
  }
  return found;
}

/// Sources of every operation with every noise, on an architecture with background copies and on
/// one without, for each kind of access.
std::vector<KernelSource> many_sources() {
  std::vector<KernelSource> all;
  for (const DeviceLimits& limits : {kSm75, kSm90}) {
    for (NoiseSpec noise : tests::every_noise()) {
      for (noise.antithetic = false;; noise.antithetic = true) {
        for (const Problem& problem : tests::every_operation(noise)) {
          const Config config = choose_config(problem, limits);
          all.push_back(emit(problem, config, limits));
          all.push_back(emit(problem, config, limits, Access{}));
        }
        if (noise.antithetic) break;
      }
    }
  }
  return all;
}

TEST(Emit, YieldsTheSameBytesAgain) {
  const std::vector<KernelSource> first = many_sources();
  const std::vector<KernelSource> second = many_sources();
  ASSERT_EQ(first.size(), second.size());
  for (std::size_t n = 0; n < first.size(); ++n) ASSERT_EQ(first[n].text, second[n].text);
}

TEST(Emit, YieldsOneSelfContainedFileWithOneEntry) {
  for (const KernelSource& source : many_sources()) {
    SCOPED_TRACE(source.entry);
    EXPECT_THAT(source.text, Not(HasSubstr("#include")));
    EXPECT_THAT(source.text, Not(HasSubstr("#pragma once")));
    EXPECT_THAT(source.text, Not(HasSubstr("//@")));
    EXPECT_THAT(source.text, Not(HasSubstr("\n\n\n")));
    EXPECT_EQ(count(source.text, "__global__"), 1u);
    EXPECT_EQ(count(source.text, "extern \"C\""), 1u);
    EXPECT_THAT(source.text,
                ContainsRegex("\n" + source.entry +
                              R"(\(const (__grid_constant__ )?vnjit::\w+ params\) \{)"));
    EXPECT_TRUE(std::ranges::all_of(source.text, [](char letter) {
      return letter == '\n' || (letter >= ' ' && letter <= '~');
    })) << "not plain ASCII";
    EXPECT_TRUE(source.text.ends_with("}\n"));
  }
}

TEST(Emit, SaysHowToCompileAndLaunch) {
  const KernelSource source = emit(PerturbedLinear{}, {}, kSm90);
  EXPECT_EQ(source.entry, "vnjit_perturbed_linear_simt_f32_o64b64k64_s2_w8_r1");
  EXPECT_EQ(source.arch, "sm_90");
  EXPECT_THAT(source.options, ElementsAre("--gpu-architecture=sm_90", "--std=c++17"));
  EXPECT_EQ(source.threads, 256);
  EXPECT_EQ(source.shared_bytes, 87296);
  EXPECT_THAT(source.text, HasSubstr("constexpr int kThreads = 256;\n"));
  EXPECT_THAT(source.text, HasSubstr("\nstatic_assert(vnjit::kSharedBytes == 87296, \""));
  EXPECT_THAT(source.text, HasSubstr("__launch_bounds__(256, 1)"));
}

TEST(Emit, NamesTheEntryOfEachOperation) {
  const Config simt = tests::segment_config();
  const Config mma_sync = tests::segment_config(4, Family::mma_sync);
  EXPECT_EQ(emit(Gradient{}, simt, kSm90).entry, "vnjit_gradient_simt_o1b1k512_s1_w8_r1");
  EXPECT_EQ(emit(Gradient{.update = Update::sgd}, mma_sync, kSm90).entry,
            "vnjit_gradient_mma_sync_sgd_o1b1k512_s1_w4_r1");
  EXPECT_EQ(emit(Gradient{.update = Update::adam}, simt, kSm75).entry,
            "vnjit_gradient_simt_adam_o1b1k512_s1_w8_r1");
  EXPECT_EQ(emit(ReduceMetric{.input = DataType::bf16}, tests::metric_config(), kSm75).entry,
            "vnjit_reduce_metric_simt_bf16_o1b1k512_s1_w8_r1_i16");
  EXPECT_EQ(emit(PerturbedLinear{.input = DataType::f16}, {}, kSm90).entry,
            "vnjit_perturbed_linear_simt_f16_o64b64k64_s2_w8_r1");
}

/// The rest of the line of the opening comment that begins with `label`.
std::string comment_line(const KernelSource& source, const std::string& label) {
  const std::string begin = "\n// " + label;
  const std::size_t at = source.text.find(begin);
  if (at == std::string::npos) return "no line " + label;
  const std::size_t end = source.text.find('\n', at + 1);
  return source.text.substr(at + begin.size(), end - at - begin.size());
}

TEST(Emit, OpensWithWhatTheKernelIs) {
  const PerturbedLinear problem{.noise = {.antithetic = true}, .input = DataType::bf16, .in = 784};
  const KernelSource source = emit(problem, {.stages = 3}, kSm90);
  EXPECT_THAT(source.text, StartsWith("// vnjit "));
  EXPECT_TRUE(std::regex_search(source.text.substr(0, source.text.find('\n')),
                                std::regex(R"(^// vnjit \d+\.\d+\.\d+: perturbed-linear$)")));
  EXPECT_EQ(comment_line(source, "  "), "Y[i] = X[i]*(W + sigma*N_i)^T + (b + sigma*nb_i)");
  EXPECT_EQ(comment_line(source, "noise:  "),
            "philox:uniform8:7, antithetic pairs, contract version 1");
  EXPECT_EQ(comment_line(source, "config: "),
            "simt_o64b64k64_s3_w8_r1 for sm_90, 256 threads, 69888 bytes of shared memory");
  EXPECT_EQ(comment_line(source, "types:  "), "X, W and b bf16, operands f32, Y f32, sums f32");
  EXPECT_EQ(comment_line(source, "layout: "),
            "X (batch, in), shared; access rows16+noise16+index32+counter32");
  EXPECT_EQ(comment_line(source, "stages: "),
            "3; (232448 - 17664) / 17408 bytes a stage = 12, at most 4: 4");
  EXPECT_EQ(comment_line(source, "again:  "),
            "vnjit emit perturbed-linear --dtype bf16 --bias --x shared --noise philox:uniform8:7 "
            "--antithetic --arch sm_90 --config simt_o64b64k64_s3_w8_r1 --access "
            "rows16+noise16+index32+counter32");
}

TEST(Emit, OpensWithTheFormulaOfItsOperation) {
  const auto formula = [](const Problem& problem) { return comment_line(emitted(problem), "  "); };
  EXPECT_EQ(formula(PerturbedLinear{.bias = false}), "Y[i] = X[i]*(W + sigma*N_i)^T");
  const std::string gradient =
      "G[j, k] = sum_i fitness[i]*N_i[j, k] / (divisor*sigma), over a list of blocks";
  EXPECT_EQ(formula(Gradient{}), gradient);
  EXPECT_EQ(formula(Gradient{.update = Update::sgd}), gradient + "; W += learning_rate*G");
  EXPECT_EQ(formula(Gradient{.update = Update::adam}), gradient + "; Adam's step of W");
  EXPECT_EQ(formula(ReduceMetric{}), "metric[i] = mean_k |center[k] + sigma*N_i[k]|");
}

TEST(Emit, SizesDoNotReachTheSource) {
  const auto text = [](const Problem& problem, const Config& config) {
    return emit(problem, config, kSm90, Access{}).text;
  };
  EXPECT_EQ(text(PerturbedLinear{}, {}),
            text(PerturbedLinear{.pop = 12, .batch = 7, .in = 33, .out = 5}, {}));
  const Config config = tests::segment_config();
  EXPECT_EQ(text(Gradient{}, config), text(Gradient{.pop = 12, .rows = 7, .columns = 33}, config));
  EXPECT_EQ(text(ReduceMetric{}, tests::metric_config()),
            text(ReduceMetric{.pop = 12, .params = 7}, tests::metric_config()));
  // The divisor of a gradient is an argument too.
  EXPECT_EQ(text(Gradient{}, config), text(Gradient{.normalize = Normalize::unbiased}, config));
}

TEST(Emit, ABakedShapeReachesTheSourceAndNoOtherSizeDoes) {
  const PerturbedLinear baked{.pop = 12, .batch = 7, .in = 784, .out = 250, .bake_shape = true};
  const std::string text = emit(baked, {}, kSm90).text;
  EXPECT_THAT(text, HasSubstr("constexpr Index kIn = 784;\n"));
  EXPECT_THAT(text, HasSubstr("constexpr Index kOut = 250;\n"));
  EXPECT_THAT(text, HasSubstr("  in = kIn;\n"));
  EXPECT_THAT(text, HasSubstr("  out = kOut;\n"));
  PerturbedLinear other = baked;
  other.pop = 13;
  other.batch = 77;
  EXPECT_EQ(emit(other, {}, kSm90).text, text);
  other.in = 800;
  EXPECT_NE(emit(other, {}, kSm90).text, text);
  other.bake_shape = false;
  EXPECT_THAT(emit(other, {}, kSm90).text, Not(HasSubstr(" kIn")));
}

TEST(Emit, ABakedShapeBeyond32BitsKeepsItsValue) {
  const PerturbedLinear wide{.in = 5'000'000'000, .out = 1, .bake_shape = true};
  const std::string text = emit(wide, {}, kSm90).text;
  EXPECT_THAT(text, HasSubstr("using Index = long long;\n"));
  EXPECT_THAT(text, HasSubstr("constexpr Index kIn = 5000000000;\n"));
}

TEST(Emit, WithoutAccessTakesContiguousBuffersOfTheProblemsSizes) {
  const PerturbedLinear problem{.in = 784};
  EXPECT_EQ(emit(problem, {}, kSm90).text,
            emit(problem, {}, kSm90, contiguous_access(problem)).text);
  EXPECT_NE(emit(problem, {}, kSm90).text, emit(problem, {}, kSm90, Access{}).text);
}

TEST(Emit, WhatDiffersInTheProblemDiffersInTheSource) {
  std::vector<std::string> texts;
  for (const KernelSource& source : many_sources()) texts.push_back(source.text);
  for (const PerturbedLinear& problem :
       {PerturbedLinear{.bias = false}, PerturbedLinear{.layout = InputLayout::individual},
        PerturbedLinear{.input = DataType::f16}, PerturbedLinear{.input = DataType::bf16}}) {
    texts.push_back(emitted(problem).text);
  }
  // Weight and bias gradient are one kernel that differs in its comment; any access is a gradient's
  // and a reduction's only one.
  std::ranges::sort(texts);
  const auto repeated = std::ranges::unique(texts);
  EXPECT_EQ(repeated.size(), 2 * tests::every_noise().size() * 2 * 5);
}

TEST(Emit, RefusesProblemsAndConfigsThatDoNotValidate) {
  EXPECT_THAT([] { emit(PerturbedLinear{.out = -1}, {}, kSm90); },
              ThrowsMessage<InvalidArgument>("out is -1; sizes are 0 or more"));
  EXPECT_THAT([] { emit(PerturbedLinear{}, {.stages = 9}, kSm90); },
              ThrowsMessage<ConfigError>("stages is 9; on sm_90 it is 1 to 4"));
}

}  // namespace
}  // namespace vnjit
