#include "vnjit/runtime/nvrtc.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "child_process.hpp"
#include "temp_dir.hpp"
#include "vnjit/runtime/error.hpp"
#include "vnjit/runtime/find_nvrtc.hpp"

namespace vnjit {
namespace {

namespace fs = std::filesystem;
using testing::HasSubstr;
using testing::StartsWith;

KernelSource small_kernel() {
  return {.entry = "small",
          .text = "extern \"C\" __global__ void small(float* x) { x[threadIdx.x] *= 2.0f; }\n",
          .arch = "sm_90",
          .options = {"--gpu-architecture=sm_90"}};
}

fs::path installed() { return find_nvrtc(Options::from_environment()); }

TEST(Nvrtc, KnowsItsVersionFileAndArchitectures) {
  const Nvrtc nvrtc(installed());
  EXPECT_GE(nvrtc.version().major, 12);
  EXPECT_TRUE(fs::equivalent(nvrtc.path(), installed()));
  EXPECT_THAT(nvrtc.supported_archs(), testing::IsSupersetOf({75, 80, 86, 89, 90}));
  EXPECT_TRUE(std::ranges::is_sorted(nvrtc.supported_archs()));
}

TEST(Nvrtc, CompilesToAnElfImage) {
  const KernelSource source = small_kernel();
  const auto output = Nvrtc(installed()).compile(source, source.options, Nvrtc::Target::cubin);
  EXPECT_THAT(output.image, StartsWith("\x7F"
                                       "ELF"));
  EXPECT_THAT(output.image, HasSubstr("small"));
  EXPECT_GT(output.milliseconds, 0);
}

TEST(Nvrtc, CompilesToPtxText) {
  const KernelSource source = small_kernel();
  const auto output = Nvrtc(installed()).compile(source, source.options, Nvrtc::Target::ptx);
  EXPECT_THAT(output.image, HasSubstr(".target sm_90"));
  EXPECT_THAT(output.image, HasSubstr(".entry small("));
  EXPECT_EQ(output.image.find('\0'), std::string::npos);
}

TEST(Nvrtc, WorksThroughLinksInTheFoldersOfBothWheelLayouts) {
  const fs::path real = fs::canonical(installed());
  const tests::TempDir folder;
  for (const char* layout : {"nvidia/cuda_nvrtc/lib", "nvidia/cu13/lib"}) {
    const fs::path link = folder / layout / "libnvrtc.so.13";
    fs::create_directories(link.parent_path());
    fs::create_symlink(real, link);
    Options options;
    options.python_dirs = {folder.path()};
    ASSERT_EQ(find_nvrtc(options, folder / "root", folder / "program"), link);
    // In a process of its own, since the loader goes on naming a library by its first link.
    const int status = tests::exit_status(tests::start_child([&] {
      const KernelSource source = small_kernel();
      return Nvrtc(link).compile(source, source.options, Nvrtc::Target::cubin).image.empty();
    }));
    EXPECT_EQ(status, 0);
    fs::remove_all(folder / "nvidia");
  }
}

TEST(Nvrtc, OpensTheBuiltinsThatLieBesideIt) {
  const Nvrtc nvrtc(installed());
  const fs::path builtins = fs::canonical(installed()).parent_path() /
                            ("libnvrtc-builtins.so." + std::to_string(nvrtc.version().major) + "." +
                             std::to_string(nvrtc.version().minor));
  EXPECT_THAT(tests::read_file("/proc/self/maps"), HasSubstr(fs::canonical(builtins).string()));
}

TEST(Nvrtc, RefusalOfASourceCarriesLogAndSource) {
  KernelSource source = small_kernel();
  source.text = "extern \"C\" __global__ void small(float* x) { x[0] = missing_name; }\n";
  try {
    Nvrtc(installed()).compile(source, source.options, Nvrtc::Target::cubin);
    FAIL() << "it compiled";
  } catch (const CompileError& refusal) {
    EXPECT_THAT(refusal.log(), HasSubstr("small.cu(1): error: identifier \"missing_name\""));
    EXPECT_EQ(refusal.source(), source.text);
    EXPECT_THAT(refusal.what(), HasSubstr("could not compile small for sm_90 "
                                          "(NVRTC_ERROR_COMPILATION):\n"));
    EXPECT_THAT(refusal.what(), HasSubstr(refusal.log()));
  }
}

TEST(Nvrtc, RefusalOfAnOptionSaysWhich) {
  const KernelSource source = small_kernel();
  try {
    Nvrtc(installed()).compile(source, {"--no-such-option"}, Nvrtc::Target::cubin);
    FAIL() << "it compiled";
  } catch (const CompileError& refusal) {
    EXPECT_THAT(refusal.what(), HasSubstr("NVRTC_ERROR_INVALID_OPTION"));
    EXPECT_THAT(refusal.what(), HasSubstr("no-such-option"));
  }
}

TEST(Nvrtc, AnUnknownArchitectureIsNamedWithThoseItKnows) {
  const Nvrtc nvrtc(installed());
  for (const char* arch : {"sm_30a", "sm_999", "hopper", ""}) {
    KernelSource source = small_kernel();
    source.arch = arch;
    try {
      nvrtc.compile(source, source.options, Nvrtc::Target::cubin);
      ADD_FAILURE() << arch << " was compiled";
    } catch (const Unavailable& refusal) {
      EXPECT_THAT(refusal.what(),
                  HasSubstr(nvrtc.path().string() + ") does not know " + arch + "; it knows sm_"));
      EXPECT_THAT(refusal.what(), HasSubstr(", sm_80, "));
      EXPECT_THAT(refusal.what(), HasSubstr(", sm_90, "));
    }
  }
}

TEST(Nvrtc, AFileThatIsNoLibraryIsNamed) {
  const tests::TempDir folder;
  tests::write_file(folder / "libnvrtc.so.13", "not a library");
  try {
    const Nvrtc nvrtc(folder / "libnvrtc.so.13");
    FAIL() << "it was opened";
  } catch (const Unavailable& refusal) {
    EXPECT_THAT(refusal.what(), StartsWith("cannot open " + (folder / "libnvrtc.so.13").string()));
  }
}

}  // namespace
}  // namespace vnjit
