#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "examples.hpp"
#include "vnjit/codegen/emit.hpp"
#include "vnjit/codegen/error.hpp"

namespace vnjit {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;
using testing::StartsWith;
using testing::ThrowsMessage;

const DeviceLimits kSm80 = DeviceLimits::preset("sm_80");
const DeviceLimits kSm90 = DeviceLimits::preset("sm_90");

constexpr PerturbedLinear kF16{.input = DataType::f16};

Config config_of(const char* text) { return parse_config(text); }

/// The rest of the line of the opening comment that begins with `label`.
std::string comment_line(const KernelSource& source, const std::string& label) {
  const std::string begin = "\n// " + label;
  const std::size_t at = source.text.find(begin);
  if (at == std::string::npos) return "no line " + label;
  const std::size_t end = source.text.find('\n', at + 1);
  return source.text.substr(at + begin.size(), end - at - begin.size());
}

TEST(EmitTensor, SaysHowToCompileAndLaunch) {
  const Config config = config_of("wgmma_o256b128k128_s6_w16_r1");
  const KernelSource source = emit(kF16, config, kSm90);
  EXPECT_EQ(source.entry, "vnjit_perturbed_linear_wgmma_f16_o256b128k128_s6_w16_r1");
  EXPECT_EQ(source.arch, "sm_90a");
  EXPECT_THAT(source.options, ElementsAre("--gpu-architecture=sm_90a", "--std=c++17"));
  EXPECT_EQ(source.threads, 512);
  EXPECT_EQ(source.shared_bytes, shared_bytes(config, kF16));
  EXPECT_THAT(source.text, HasSubstr("static_assert(vnjit::kSharedBytes == " +
                                     std::to_string(source.shared_bytes) + ", \""));
  EXPECT_THAT(source.text, HasSubstr("__launch_bounds__(512, 1)\n" + source.entry +
                                     "(const __grid_constant__ vnjit::PerturbedLinearParams "
                                     "params,\n"
                                     "    const __grid_constant__ vnjit::TensorMap x_map,\n"
                                     "    const __grid_constant__ vnjit::TensorMap weight_map) "
                                     "{\n"));
}

TEST(EmitTensor, MmaSyncIsForThePlainArchitecture) {
  for (const DeviceLimits& limits : tests::every_preset()) {
    if (!limits.has_async_copy()) continue;
    const KernelSource source = emit(kF16, config_of("mma_sync_o64b64k64_s2_w4_r1"), limits);
    EXPECT_EQ(source.arch, limits.name);
    EXPECT_EQ(source.entry, "vnjit_perturbed_linear_mma_sync_f16_o64b64k64_s2_w4_r1");
    EXPECT_THAT(source.text, HasSubstr(source.entry + "(const vnjit::PerturbedLinearParams params) "
                                                      "{\n"));
  }
}

TEST(EmitTensor, NamesTheOperandsAndTheForm) {
  const auto entry = [](const PerturbedLinear& problem, const char* config) {
    return emit(problem, config_of(config), kSm90).entry;
  };
  EXPECT_EQ(entry({.precision = Precision::tf32}, "wgmma_o64b64k32_s2_w4_r1"),
            "vnjit_perturbed_linear_wgmma_tf32_o64b64k32_s2_w4_r1");
  EXPECT_EQ(entry({.precision = Precision::bf16}, "mma_sync_o64b64k64_s2_w4_r1"),
            "vnjit_perturbed_linear_mma_sync_bf16_o64b64k64_s2_w4_r1");
  EXPECT_EQ(entry(kF16, "wgmma_fused_o64b64k64_s2_w4_r1"),
            "vnjit_perturbed_linear_wgmma_f16_fused_o64b64k64_s2_w4_r1");
  EXPECT_EQ(entry({.input = DataType::f16, .layout = InputLayout::individual},
                  "mma_sync_o64b8k64_s2_w4_r1_i4"),
            "vnjit_perturbed_linear_mma_sync_f16_o64b8k64_s2_w4_r1_i4");
}

TEST(EmitTensor, YieldsOneSelfContainedFileAndTheSameBytesAgain) {
  for (const PerturbedLinear& problem : tests::every_tensor_problem()) {
    for (const Family family : {Family::mma_sync, Family::wgmma}) {
      const Config config = choose_config(problem, kSm90, family);
      const KernelSource source = emit(problem, config, kSm90);
      SCOPED_TRACE(source.entry);
      EXPECT_EQ(source.text, emit(problem, config, kSm90).text);
      EXPECT_THAT(source.text, Not(HasSubstr("#include")));
      EXPECT_THAT(source.text, Not(HasSubstr("//@")));
      EXPECT_THAT(source.text, Not(HasSubstr("\n\n\n")));
      EXPECT_THAT(source.text, HasSubstr("\n" + source.entry + "(const "));
      EXPECT_TRUE(source.text.ends_with("}\n"));
    }
  }
}

TEST(EmitTensor, OpensWithWhatTheKernelIs) {
  PerturbedLinear problem{.precision = Precision::bf16};
  const char* const config = "wgmma_o128b64k64_s4_w8_r1";
  const KernelSource source = emit(problem, config_of(config), kSm90);
  EXPECT_EQ(comment_line(source, "form:   "), "split: X*W^T + b made before, X*N^T here");
  EXPECT_EQ(comment_line(source, "types:  "), "X, W and b f32, operands bf16, Y f32, sums f32");
  EXPECT_EQ(comment_line(source, "layout: "),
            "X (batch, in), shared; access rows16+noise64+index32+counter32");
  EXPECT_EQ(comment_line(source, "again:  "),
            "vnjit emit perturbed-linear --dtype f32 --precision bf16 --bias --x shared --noise "
            "philox:uniform8:7 --arch sm_90 --config wgmma_o128b64k64_s4_w8_r1 --access "
            "rows16+noise64+index32+counter32");
  problem.layout = InputLayout::individual;
  EXPECT_EQ(comment_line(emit(problem, config_of(config), kSm90), "form:   "),
            "split: X*W^T and X*N^T in sums of their own");
  EXPECT_EQ(
      comment_line(emit(problem, config_of("wgmma_fused_o64b64k64_s4_w4_r1"), kSm90), "form:   "),
      "fused: W + sigma*N rounded to the operands' type");
}

TEST(EmitTensor, RefusesAccessThatItsKernelsCannotDoWith) {
  EXPECT_THAT([] { emit(kF16, config_of("mma_sync_o64b64k64_s2_w4_r1"), kSm90, Access{}); },
              ThrowsMessage<ConfigError>(StartsWith(
                  "access is any; rows of X and W have to start and end on 16-byte boundaries")));
  EXPECT_THAT(
      [] {
        emit(kF16, config_of("wgmma_fused_o64b64k64_s2_w4_r1"), kSm90,
             parse_access("rows16+noise16"));
      },
      ThrowsMessage<ConfigError>(StartsWith(
          "access is rows16+noise16; a kernel that reads W needs noise rows at multiples of 64")));
}

TEST(EmitTensor, CountersFollowAccess) {
  const Config config = config_of("mma_sync_o64b64k64_s2_w4_r1");
  EXPECT_THAT(emit(kF16, config, kSm90, parse_access("rows16+noise64+counter32")).text,
              HasSubstr("using Counter = unsigned;\n"));
  EXPECT_THAT(emit(kF16, config, kSm90, parse_access("rows16+noise64")).text,
              HasSubstr("using Counter = unsigned long long;\n"));
}

TEST(EmitTensor, SizesDoNotReachTheSourceUnlessBaked) {
  const Config config = config_of("mma_sync_o64b64k64_s2_w4_r1");
  const auto text = [&](PerturbedLinear problem) {
    return emit(problem, config, kSm90, parse_access("rows16+noise64")).text;
  };
  PerturbedLinear other{.input = DataType::f16, .pop = 12, .batch = 7, .in = 128, .out = 5};
  EXPECT_EQ(text(other), text(kF16));
  other.bake_shape = true;
  EXPECT_THAT(text(other), HasSubstr("kIn = 128;\n"));
  EXPECT_THAT(text(other), HasSubstr("  in = kIn;\n"));
}

TEST(EmitBaseProduct, HasItsOwnNameAndNoNoise) {
  for (const DeviceLimits& limits : {kSm80, kSm90}) {
    for (const PerturbedLinear& problem : tests::every_tensor_input()) {
      const KernelSource source = emit_base_product(problem, limits, contiguous_access(problem));
      const Config config = base_product_config(problem, limits);
      SCOPED_TRACE(source.entry);
      EXPECT_EQ(source.entry, "vnjit_base_product_mma_sync_" +
                                  std::string(to_string(operand_precision(problem))) +
                                  to_string(config).substr(std::string_view("mma_sync").size()));
      EXPECT_EQ(source.arch, limits.name);
      EXPECT_EQ(source.threads, config.threads());
      EXPECT_THAT(source.text, HasSubstr("\n//   base = X*W^T + b\n"));
      EXPECT_THAT(source.text, HasSubstr("using Output = float;\n"));
      for (const char* word : {"Noise::", "noise::", "philox", "seeds[", "wgmma", "TensorMap"}) {
        EXPECT_THAT(source.text, Not(HasSubstr(word)));
      }
    }
  }
}

TEST(EmitBaseProduct, OverlapsTheNextKernelOnlyWhereTheDeviceCan) {
  const auto text = [](const DeviceLimits& limits) {
    return emit_base_product(kF16, limits, contiguous_access(kF16)).text;
  };
  EXPECT_THAT(text(kSm90), HasSubstr("griddepcontrol"));
  EXPECT_THAT(text(kSm80), Not(HasSubstr("griddepcontrol")));
  const Config config = config_of("mma_sync_o64b64k64_s2_w4_r1");
  EXPECT_THAT(emit(kF16, config, kSm90).text, HasSubstr("griddepcontrol.wait"));
  EXPECT_THAT(emit(kF16, config, kSm80).text, Not(HasSubstr("griddepcontrol")));
}

TEST(EmitBaseProduct, WithoutBiasHasNoBias) {
  PerturbedLinear problem = kF16;
  const auto text = [&] {
    return emit_base_product(problem, kSm90, contiguous_access(problem)).text;
  };
  EXPECT_THAT(text(), HasSubstr("params.bias"));
  problem.bias = false;
  EXPECT_THAT(text(), Not(HasSubstr("params.bias")));
  EXPECT_THAT(text(), HasSubstr("\n//   base = X*W^T\n"));
}

TEST(EmitConvert, RoundsToTheOperands) {
  for (const Precision precision : {Precision::f16, Precision::bf16}) {
    const KernelSource source = emit_convert(PerturbedLinear{.precision = precision}, kSm80);
    EXPECT_EQ(source.entry, "vnjit_convert_f32_" + std::string(to_string(precision)));
    EXPECT_EQ(source.arch, "sm_80");
    EXPECT_THAT(source.text, HasSubstr("\n" + source.entry + "(const "));
    EXPECT_THAT(source.text, Not(HasSubstr("Noise")));
  }
}

}  // namespace
}  // namespace vnjit
