#include "vnjit/runtime/compiler.hpp"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <atomic>
#include <thread>

#include "child_process.hpp"
#include "temp_dir.hpp"
#include "vnjit/runtime/build_id.hpp"
#include "vnjit/runtime/error.hpp"
#include "vnjit/runtime/find_nvrtc.hpp"

namespace vnjit {
namespace {

namespace fs = std::filesystem;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;
using testing::UnorderedElementsAre;

KernelSource small_kernel() {
  return {.entry = "small",
          .text =
              "extern \"C\" __global__ void small(float* x) {\n"
              "  __shared__ float tile[64];\n"
              "  tile[threadIdx.x] = x[threadIdx.x];\n"
              "  __syncthreads();\n"
              "  x[threadIdx.x] = tile[63 - threadIdx.x];\n"
              "}\n",
          .arch = "sm_90",
          .options = {"--gpu-architecture=sm_90"}};
}

class CompilerTest : public testing::Test {
 protected:
  CompilerTest() {
    options.cache_dir = cache;
    options.report = [this](Severity, std::string_view message) { reports.emplace_back(message); };
  }
  std::vector<std::string> files() const {
    std::vector<std::string> names;
    if (!fs::exists(cache)) return names;
    for (const auto& entry : fs::directory_iterator(cache)) {
      names.push_back(entry.path().filename());
    }
    return names;
  }
  std::string key() const {
    return cache_key(small_kernel(), build_id(find_nvrtc(Options::from_environment())));
  }

  tests::TempDir folder;
  fs::path cache = folder / "cache";
  Options options = Options::from_environment();
  std::vector<std::string> reports;
};

TEST_F(CompilerTest, CompilesOnceAndThenHits) {
  const Compiled cold = Compiler(options).compile(small_kernel());
  EXPECT_FALSE(cold.cache_hit);
  EXPECT_GT(cold.milliseconds, 0);
  EXPECT_EQ(cold.cached_file, cache / (key() + ".cubin"));
  EXPECT_EQ(cold.binary.entry, "small");
  EXPECT_EQ(cold.binary.arch, "sm_90");
  EXPECT_GT(cold.binary.usage.registers, 0);
  EXPECT_EQ(cold.binary.usage.static_shared_bytes, 256);
  EXPECT_EQ(cold.binary.usage.barriers, 1);
  EXPECT_EQ(cold.binary.usage.spill_store_bytes, 0);

  const Compiled hit = Compiler(options).compile(small_kernel());
  EXPECT_TRUE(hit.cache_hit);
  EXPECT_EQ(hit.milliseconds, 0);
  EXPECT_EQ(hit.cached_file, cold.cached_file);
  EXPECT_EQ(hit.binary, cold.binary);
  EXPECT_THAT(files(), UnorderedElementsAre(key() + ".cubin", key() + ".cu", "lock"));
  EXPECT_EQ(tests::read_file(cache / (key() + ".cu")), small_kernel().text);
  EXPECT_THAT(reports, IsEmpty());
}

/// What a new process, in which nothing has opened NVRTC, finds when another filled the cache.
int hit_in_a_new_process(const Options& options) {
  const auto nvrtc_is_loaded = [] {
    return tests::read_file("/proc/self/maps").find("libnvrtc") != std::string::npos;
  };
  const int filled = tests::exit_status(tests::start_child([&] {
    const bool hit = Compiler(options).compile(small_kernel()).cache_hit;
    return !hit && nvrtc_is_loaded() ? 0 : 1;
  }));
  if (filled != 0 || nvrtc_is_loaded()) return 1;
  if (!Compiler(options).compile(small_kernel()).cache_hit) return 2;
  return nvrtc_is_loaded() ? 3 : 0;
}

TEST_F(CompilerTest, AHitDoesNotLoadNvrtc) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  EXPECT_EXIT(
      {
        const tests::TempDir own;
        Options fresh = options;
        fresh.cache_dir = own / "cache";
        const int status = hit_in_a_new_process(fresh);
        fs::remove_all(own.path());
        ::_exit(status);
      },
      testing::ExitedWithCode(0), "");
}

TEST_F(CompilerTest, ARefusedSourceIsThrownWithItsLogAndCachesNothing) {
  KernelSource source = small_kernel();
  source.text = "#error no such kernel\n";
  Compiler compiler(options);
  for (int i = 0; i < 2; ++i) {
    try {
      compiler.compile(source);
      FAIL() << "it compiled";
    } catch (const CompileError& refusal) {
      EXPECT_THAT(refusal.log(), HasSubstr("no such kernel"));
      EXPECT_EQ(refusal.source(), source.text);
    }
  }
  EXPECT_THAT(files(), ElementsAre("lock"));
}

TEST_F(CompilerTest, AnUnknownArchitectureCachesNothing) {
  KernelSource source = small_kernel();
  source.arch = "sm_30";
  EXPECT_THROW(Compiler(options).compile(source), Unavailable);
  EXPECT_THROW(Compiler(options).compile_to_ptx(source), Unavailable);
  EXPECT_THAT(files(), ElementsAre("lock"));
}

TEST_F(CompilerTest, WithoutNvrtcSaysWhatWasTriedAndTouchesNothing) {
  options.nvrtc = folder / "no nvrtc here";
  try {
    Compiler(options).compile(small_kernel());
    FAIL() << "it compiled";
  } catch (const Unavailable& refusal) {
    EXPECT_THAT(refusal.what(), HasSubstr((folder / "no nvrtc here").string()));
  }
  EXPECT_FALSE(fs::exists(cache));
}

TEST_F(CompilerTest, PtxIsTextAndIsNotCached) {
  EXPECT_THAT(Compiler(options).compile_to_ptx(small_kernel()), HasSubstr(".entry small("));
  EXPECT_THAT(files(), IsEmpty());
}

TEST_F(CompilerTest, WithoutACacheFolderAProcessStillHits) {
  options.cache_dir.clear();
  Compiler compiler(options);
  const Compiled cold = compiler.compile(small_kernel());
  const Compiled hit = compiler.compile(small_kernel());
  EXPECT_FALSE(cold.cache_hit);
  EXPECT_EQ(cold.cached_file, "");
  EXPECT_TRUE(hit.cache_hit);
  EXPECT_EQ(hit.cached_file, "");
  EXPECT_EQ(hit.binary, cold.binary);
  EXPECT_THAT(reports, IsEmpty());
}

TEST_F(CompilerTest, AnUnusableFolderCostsOneWarningAndNoKernel) {
  tests::write_file(cache, "a file");
  Compiler compiler(options);
  EXPECT_FALSE(compiler.compile(small_kernel()).cache_hit);
  EXPECT_TRUE(compiler.compile(small_kernel()).cache_hit);
  EXPECT_THAT(reports, ElementsAre(HasSubstr("it is not a directory")));
}

TEST_F(CompilerTest, ADamagedEntryIsCompiledAgainAndReplaced) {
  const fs::path file = Compiler(options).compile(small_kernel()).cached_file;
  fs::resize_file(file, fs::file_size(file) - 1);
  EXPECT_FALSE(Compiler(options).compile(small_kernel()).cache_hit);
  EXPECT_TRUE(Compiler(options).compile(small_kernel()).cache_hit);
  EXPECT_THAT(reports, ElementsAre(HasSubstr("will be replaced")));
}

TEST_F(CompilerTest, EightThreadsCompileAKeyOnce) {
  for (const fs::path& place : {cache, fs::path()}) {
    options.cache_dir = place;
    Compiler compiler(options);
    std::atomic<int> compiled = 0;
    std::vector<std::thread> threads;
    for (int i = 0; i < 8; ++i) {
      threads.emplace_back([&] { compiled += !compiler.compile(small_kernel()).cache_hit; });
    }
    for (std::thread& thread : threads) thread.join();
    EXPECT_EQ(compiled, 1);
  }
}

TEST_F(CompilerTest, SixteenProcessesCompileEachKeyOnce) {
  constexpr int kKernels = 3;
  int gate[2];
  ASSERT_EQ(::pipe(gate), 0);
  const auto compile_all = [&] {
    ::close(gate[1]);
    char byte = 0;
    if (::read(gate[0], &byte, 1) != 0) return 100;  // ends when the parent lets all go at once
    Compiler compiler(options);
    int compiled = 0;
    for (int kernel = 0; kernel < kKernels; ++kernel) {
      KernelSource source = small_kernel();
      source.text += fmt::format("// {}\n", kernel);
      compiled += compiler.compile(source).cache_hit ? 0 : 1;
    }
    return compiled;
  };
  std::vector<pid_t> children;
  for (int i = 0; i < 16; ++i) children.push_back(tests::start_child(compile_all));
  ::close(gate[0]);
  ::close(gate[1]);
  int compiled = 0;
  for (const pid_t child : children) compiled += tests::exit_status(child);
  EXPECT_EQ(compiled, kKernels);
  EXPECT_THAT(files(), testing::SizeIs(2 * kKernels + 1));
  EXPECT_THAT(reports, IsEmpty());
}

TEST_F(CompilerTest, TwoVersionsOfNvrtcKeepTheirKernelsApart) {
  const fs::path other = VNJIT_NVRTC_12;
  if (!fs::exists(other)) GTEST_SKIP() << "no NVRTC of CUDA 12 beside that of CUDA 13";
  Options old = options;
  old.nvrtc = other;
  const Compiled first = Compiler(options).compile(small_kernel());
  const Compiled second = Compiler(old).compile(small_kernel());
  EXPECT_FALSE(first.cache_hit);
  EXPECT_FALSE(second.cache_hit);
  EXPECT_NE(first.cached_file, second.cached_file);
  EXPECT_NE(first.binary.cubin, second.binary.cubin);
  const Compiled again = Compiler(options).compile(small_kernel());
  const Compiled old_again = Compiler(old).compile(small_kernel());
  EXPECT_TRUE(again.cache_hit);
  EXPECT_EQ(again.binary, first.binary);
  EXPECT_TRUE(old_again.cache_hit);
  EXPECT_EQ(old_again.binary, second.binary);
}

TEST(CacheKey, DependsOnEverythingThatMakesTheBinary) {
  const std::string key = cache_key(small_kernel(), "id");
  EXPECT_THAT(key, testing::MatchesRegex("[0-9a-f]{32}"));
  EXPECT_EQ(cache_key(small_kernel(), "id"), key);
  EXPECT_NE(cache_key(small_kernel(), "id2"), key);
  const auto changed = [](auto change) {
    KernelSource source = small_kernel();
    change(source);
    return cache_key(source, "id");
  };
  EXPECT_NE(changed([](KernelSource& source) { source.text += '\n'; }), key);
  EXPECT_NE(changed([](KernelSource& source) { source.entry += '2'; }), key);
  EXPECT_NE(changed([](KernelSource& source) { source.arch = "sm_90a"; }), key);
  EXPECT_NE(changed([](KernelSource& source) { source.options.emplace_back("-G"); }), key);
  EXPECT_NE(changed([](KernelSource& source) {
              source.entry += source.text.substr(0, 1);
              source.text.erase(0, 1);
            }),
            key);
}

}  // namespace
}  // namespace vnjit
