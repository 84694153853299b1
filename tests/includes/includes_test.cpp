#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "layers.hpp"

namespace vnjit::tests {
namespace {

using testing::AllOf;
using testing::Each;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;

const std::filesystem::path kRoot = VNJIT_SOURCE_DIR;

class Layer : public testing::TestWithParam<const char*> {};

TEST_P(Layer, includes_only_what_lies_below_it) {
  const auto sources = sources_of(kRoot, GetParam());
  EXPECT_THAT(sources, Not(IsEmpty()));
  for (const std::filesystem::path& source : sources) {
    for (const Include& include : includes_of_file(kRoot / source)) {
      EXPECT_EQ(refusal(source.string(), include.header), "") << source << ":" << include.line;
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Tree, Layer,
                         testing::Values("templates", "codegen", "runtime", "cli", "examples",
                                         "bench", "tests"),
                         [](const auto& layer) { return std::string(layer.param); });

TEST(Refusal, names_the_layer_and_the_header) {
  EXPECT_EQ(refusal("codegen/emit.cpp", "vnjit/runtime/plan.hpp"),
            "codegen/ may not include vnjit/runtime/plan.hpp");
  EXPECT_EQ(refusal("elsewhere/a.cpp", "vector"), "no rule for the folder elsewhere");
}

TEST(Refusal, keeps_each_layer_from_those_above_it) {
  EXPECT_NE(refusal("templates/noise/noise.cuh", "vnjit/codegen/problem.hpp"), "");
  EXPECT_NE(refusal("templates/noise/noise.cuh", "cstdint"), "");
  EXPECT_NE(refusal("codegen/emit.hpp", "vnjit/vnjit.hpp"), "");
  EXPECT_NE(refusal("codegen/emit.cpp", "cuda.h"), "");
  EXPECT_NE(refusal("codegen/emit.cpp", "fstream"), "");
  EXPECT_NE(refusal("runtime/cpu/noise.cpp", "vnjit/cli/files.hpp"), "");
  EXPECT_NE(refusal("examples/embed/main.cpp", "vnjit/runtime/cpu/noise.hpp"), "");
}

TEST(Refusal, lets_each_layer_use_those_below_it) {
  EXPECT_EQ(refusal("templates/noise/noise.cuh", "noise/philox.cuh"), "");
  EXPECT_EQ(refusal("codegen/noise_spec.cpp", "noise/noise.cuh"), "");
  EXPECT_EQ(refusal("codegen/emit.cpp", "fmt/format.h"), "");
  EXPECT_EQ(refusal("runtime/plan.hpp", "vnjit/codegen/config.hpp"), "");
  EXPECT_EQ(refusal("runtime/driver.cpp", "cuda.h"), "");
  EXPECT_EQ(refusal("cli/emit.cpp", "vnjit/runtime/runtime.hpp"), "");
  EXPECT_EQ(refusal("examples/embed/main.cpp", "vnjit/vnjit.hpp"), "");
}

TEST(IncludesOf, finds_both_spellings_and_their_lines) {
  const auto includes = includes_of("// a\n#include <vector>\n\n  # include \"b/c.hpp\"  // why\n");
  ASSERT_EQ(includes.size(), 2u);
  EXPECT_EQ(includes[0].header, "vector");
  EXPECT_EQ(includes[0].line, 2);
  EXPECT_EQ(includes[1].header, "b/c.hpp");
  EXPECT_EQ(includes[1].line, 4);
}

TEST(PublicHeaders, need_only_the_standard_library) {
  for (const char* header : {"vnjit/vnjit.hpp", "vnjit/vnjit.h"}) {
    const auto reached = reached_headers(kRoot, header);
    EXPECT_GT(reached.size(), 1u) << header;
    EXPECT_THAT(reached, Each(AllOf(Not(HasSubstr("fmt/")), Not(HasSubstr("cuda")),
                                    Not(HasSubstr("nvrtc")), Not(HasSubstr("xxhash")))));
  }
}

}  // namespace
}  // namespace vnjit::tests
