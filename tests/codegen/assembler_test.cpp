#include "vnjit/codegen/assembler.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace vnjit {
namespace {

using testing::ThrowsMessage;

std::string assembled(const std::string& text, const TemplateFlags& flags = {}) {
  return assemble({{"root.cuh", text}}, "root.cuh", flags);
}

void expect_refusal(const std::string& text, const TemplateFlags& flags,
                    const std::string& message) {
  EXPECT_THAT([&] { assembled(text, flags); }, ThrowsMessage<TemplateError>(message));
}

TEST(Assembler, KeepsTextAsItIs) {
  EXPECT_EQ(assembled("int a;\n  // a comment\nint b;\n"), "int a;\n  // a comment\nint b;\n");
  EXPECT_EQ(assembled(""), "");
  EXPECT_EQ(assembled("int a;"), "int a;\n");
}

TEST(Assembler, KeepsAnOptionalPartWhereItsFlagHolds) {
  const std::string text = "a\n  //@if wide\nb\n  //@endif\nc\n";
  EXPECT_EQ(assembled(text, {{"wide", true}}), "a\nb\nc\n");
  EXPECT_EQ(assembled(text, {{"wide", false}}), "a\nc\n");
}

TEST(Assembler, KeepsANegatedPartWhereItsFlagDoesNotHold) {
  const std::string text = "//@if !wide\nb\n//@endif\n";
  EXPECT_EQ(assembled(text, {{"wide", true}}), "");
  EXPECT_EQ(assembled(text, {{"wide", false}}), "b\n");
}

TEST(Assembler, NestsParts) {
  const std::string text =
      "//@if outer\n1\n//@if !inner\n2\n//@endif\n3\n//@if inner\n4\n//@endif\n//@endif\n5\n";
  const auto with = [&](bool outer, bool inner) {
    return assembled(text, {{"outer", outer}, {"inner", inner}});
  };
  EXPECT_EQ(with(true, true), "1\n3\n4\n5\n");
  EXPECT_EQ(with(true, false), "1\n2\n3\n5\n");
  EXPECT_EQ(with(false, true), "5\n");
  EXPECT_EQ(with(false, false), "5\n");
}

TEST(Assembler, PutsEachIncludeOnceBeforeTheFirstTextThatNeedsIt) {
  const TemplateFiles files = {
      {"root.cuh", "#pragma once\n\n#include \"a/left.cuh\"\n#include \"a/right.cuh\"\n\nroot\n"},
      {"a/left.cuh", "#pragma once\n\n#include \"base.cuh\"\n\nleft\n"},
      {"a/right.cuh", "#pragma once\n\n#include \"base.cuh\"\n#include \"a/left.cuh\"\n\nright\n"},
      {"base.cuh", "#pragma once\n\nbase\n"},
      {"unused.cuh", "unused\n"}};
  EXPECT_EQ(assemble(files, "root.cuh", {}), "base\n\nleft\n\nright\n\nroot\n");
}

TEST(Assembler, IncludesInAPartThatIsLeftOutAreLeftOut) {
  const TemplateFiles files = {
      {"root.cuh", "//@if bias\n#include \"bias.cuh\"\n#include \"missing.cuh\"\n//@endif\nroot\n"},
      {"bias.cuh", "bias\n"}};
  EXPECT_EQ(assemble(files, "root.cuh", {{"bias", false}}), "root\n");
}

TEST(Assembler, AFlagMayBeAskedForInAnIncludedFileAlone) {
  const TemplateFiles files = {{"root.cuh", "#include \"part.cuh\"\n"},
                               {"part.cuh", "//@if bias\nbias\n//@endif\n"}};
  EXPECT_EQ(assemble(files, "root.cuh", {{"bias", true}}), "bias\n");
}

TEST(Assembler, DropsPragmaOnceAndNoOtherPragma) {
  EXPECT_EQ(assembled("#pragma once\n#pragma unroll\n"), "#pragma unroll\n");
}

TEST(Assembler, JoinsTheBlankLinesThatLeftOutPartsLeave) {
  EXPECT_EQ(assembled("\na\n\n//@if bias\nb\n\n//@endif\n\nc\n", {{"bias", false}}), "a\n\nc\n");
}

TEST(Assembler, NamesFileAndLineOfAFlagThatIsNotGiven) {
  expect_refusal("a\n//@if wide\n//@endif\n", {}, "root.cuh:2: unknown flag 'wide'");
  expect_refusal("//@if !wide\n//@endif\n", {{"bias", true}}, "root.cuh:1: unknown flag 'wide'");
  expect_refusal("//@if \n//@endif\n", {},
                 "root.cuh:1: unknown directive '//@if'; there are "
                 "//@if FLAG, //@if !FLAG and //@endif");
}

TEST(Assembler, NoticesAnUnknownFlagInAPartThatIsLeftOut) {
  expect_refusal("//@if bias\n//@if wide\n//@endif\n//@endif\n", {{"bias", false}},
                 "root.cuh:2: unknown flag 'wide'");
}

TEST(Assembler, NamesAFlagThatNothingAsksFor) {
  expect_refusal("//@if bias\n//@endif\n", {{"bias", true}, {"wide", false}},
                 "root.cuh: flag 'wide' is given but no line asks for it");
}

TEST(Assembler, NamesFileAndLineOfAnUnbalancedPart) {
  expect_refusal("a\n//@endif\n", {}, "root.cuh:2: //@endif without //@if");
  expect_refusal("//@if bias\na\n", {{"bias", true}}, "root.cuh:1: //@if without //@endif");
  expect_refusal("//@if bias\n//@if bias\na\n//@endif\n", {{"bias", false}},
                 "root.cuh:1: //@if without //@endif");
}

TEST(Assembler, APartEndsInTheFileItBeginsIn) {
  const TemplateFiles files = {{"root.cuh", "//@if bias\n#include \"part.cuh\"\n//@endif\n"},
                               {"part.cuh", "a\n\n//@endif\n//@if bias\n"}};
  EXPECT_THAT(
      [&] {
        assemble(files, "root.cuh", {{"bias", true}});
      },
      ThrowsMessage<TemplateError>("part.cuh:3: //@endif without //@if"));
}

TEST(Assembler, NamesFileAndLineOfAMisspelledDirective) {
  const auto refused = [](const std::string& directive) {
    expect_refusal("a\nb\n" + directive + "\n", {{"bias", true}},
                   "root.cuh:3: unknown directive '" + directive +
                       "'; there are //@if FLAG, //@if !FLAG and //@endif");
  };
  refused("//@fi bias");
  refused("//@endi");
  refused("//@end if");
  refused("//@else");
  refused("//@ifbias");
  refused("//@");
}

TEST(Assembler, NoticesAMisspelledDirectiveInAPartThatIsLeftOut) {
  EXPECT_THROW(assembled("//@if bias\n//@esle\n//@endif\n", {{"bias", false}}), TemplateError);
}

TEST(Assembler, RefusesWhatIsNearlyADirective) {
  const auto refused = [](const std::string& line) {
    expect_refusal(line + "\n", {{"bias", true}},
                   "root.cuh:1: a directive stands alone in its line and starts with //@");
  };
  refused("// @if bias");
  refused("// see //@if bias");
  refused("///.//// @");
  refused("//  @endif");
  refused("int a; //@if bias");
}

TEST(Assembler, NamesFileAndLineOfAMissingInclude) {
  expect_refusal("a\n\n#include \"simt/none.cuh\"\n", {},
                 "root.cuh:3: no template 'simt/none.cuh'");
  EXPECT_THAT([] { assemble({}, "none.cuh", {}); },
              ThrowsMessage<TemplateError>("no template 'none.cuh'"));
}

TEST(Assembler, RefusesIncludesOfAnythingButTemplates) {
  expect_refusal("#include <cuda_fp16.h>\n", {},
                 "root.cuh:1: a template includes templates only, in quotes");
  expect_refusal("#include \"half\n", {},
                 "root.cuh:1: a template includes templates only, in quotes");
}

}  // namespace
}  // namespace vnjit
