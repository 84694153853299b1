#include "vnjit/runtime/options.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <map>
#include <optional>

#include "vnjit/codegen/error.hpp"

namespace vnjit {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

/// Replaces every variable that Options reads, until it is destroyed.
class Environment {
 public:
  explicit Environment(const std::map<std::string, std::string>& values) {
    for (const char* name :
         {"VNJIT_CACHE_DIR", "VNJIT_CACHE_BYTES", "VNJIT_CACHE_LOCK_SECONDS", "VNJIT_RECORDS",
          "VNJIT_RECORD_PROBLEMS", "XDG_CACHE_HOME", "HOME", "VNJIT_NVRTC", "VNJIT_CPU_THREADS",
          "LD_LIBRARY_PATH", "CUDA_HOME", "CUDA_PATH", "VIRTUAL_ENV", "PYTHONPATH"}) {
      const char* value = std::getenv(name);
      saved_[name] = value ? std::optional<std::string>(value) : std::nullopt;
      ::unsetenv(name);
    }
    for (const auto& [name, value] : values) ::setenv(name.c_str(), value.c_str(), 1);
  }
  ~Environment() {
    for (const auto& [name, value] : saved_) {
      if (value) {
        ::setenv(name.c_str(), value->c_str(), 1);
      } else {
        ::unsetenv(name.c_str());
      }
    }
  }
  Environment(const Environment&) = delete;
  Environment& operator=(const Environment&) = delete;

 private:
  std::map<std::string, std::optional<std::string>> saved_;
};

Options options_of(const std::map<std::string, std::string>& values) {
  const Environment environment(values);
  return Options::from_environment();
}

std::string refusal_of(const std::map<std::string, std::string>& values) {
  try {
    options_of(values);
  } catch (const InvalidArgument& refusal) {
    return refusal.what();
  }
  return "nothing was refused";
}

TEST(Options, DefaultsNameNoFolderAndNoLibrary) {
  const Options options;
  EXPECT_EQ(options.cache_dir, "");
  EXPECT_EQ(options.nvrtc, "");
  EXPECT_EQ(options.cpu_threads, 0);
  EXPECT_EQ(options.cached_plans, 1024u);
  EXPECT_FALSE(options.report);
}

TEST(Options, OwnCacheFolderGoesBeforeXdgAndHome) {
  EXPECT_EQ(options_of({{"VNJIT_CACHE_DIR", "/own dir/\xC3\xA9"},
                        {"XDG_CACHE_HOME", "/xdg"},
                        {"HOME", "/home/me"}})
                .cache_dir,
            "/own dir/\xC3\xA9");
  EXPECT_EQ(options_of({{"XDG_CACHE_HOME", "/xdg"}, {"HOME", "/home/me"}}).cache_dir, "/xdg/vnjit");
  EXPECT_EQ(options_of({{"HOME", "/home/me"}}).cache_dir, "/home/me/.cache/vnjit");
}

TEST(Options, WithoutHomeTheCacheIsInMemory) { EXPECT_EQ(options_of({}).cache_dir, ""); }

TEST(Options, AnEmptyVariableCountsAsUnset) {
  const Options options = options_of({{"VNJIT_CACHE_DIR", ""},
                                      {"XDG_CACHE_HOME", ""},
                                      {"HOME", "/h"},
                                      {"VNJIT_NVRTC", ""},
                                      {"VNJIT_CPU_THREADS", ""},
                                      {"CUDA_HOME", ""}});
  EXPECT_EQ(options.cache_dir, "/h/.cache/vnjit");
  EXPECT_EQ(options.nvrtc, "");
  EXPECT_EQ(options.cpu_threads, 0);
  EXPECT_THAT(options.toolkit_dirs, IsEmpty());
}

TEST(Options, RelativePathsAreMadeAbsolute) {
  const std::filesystem::path here = std::filesystem::current_path();
  const Options options = options_of({{"VNJIT_CACHE_DIR", "some cache"},
                                      {"VNJIT_NVRTC", "lib/libnvrtc.so.13"},
                                      {"LD_LIBRARY_PATH", "lib"}});
  EXPECT_EQ(options.cache_dir, here / "some cache");
  EXPECT_EQ(options.nvrtc, here / "lib/libnvrtc.so.13");
  EXPECT_THAT(options.library_dirs, ElementsAre(here / "lib"));
}

TEST(Options, RelativeHomeAndXdgCacheAreNotUsed) {
  EXPECT_EQ(options_of({{"XDG_CACHE_HOME", "xdg"}, {"HOME", "/h"}}).cache_dir, "/h/.cache/vnjit");
  const Options options = options_of({{"HOME", "h"}});
  EXPECT_EQ(options.cache_dir, "");
  EXPECT_THAT(options.python_dirs, IsEmpty());
}

TEST(Options, LibrarySearchComesFromTheUsualVariables) {
  const Options options = options_of({{"LD_LIBRARY_PATH", "/a::/b c:"},
                                      {"CUDA_HOME", "/cuda home"},
                                      {"CUDA_PATH", "/cuda-12"},
                                      {"VIRTUAL_ENV", "/venv"},
                                      {"PYTHONPATH", ":/site1:/site2"},
                                      {"HOME", "/h"}});
  EXPECT_THAT(options.library_dirs, ElementsAre("/a", "/b c"));
  EXPECT_THAT(options.toolkit_dirs, ElementsAre("/cuda home", "/cuda-12"));
  EXPECT_THAT(options.python_dirs, ElementsAre("/venv", "/site1", "/site2", "/h/.local"));
}

TEST(Options, CpuThreadsIsAWholeNumberInItsRange) {
  EXPECT_EQ(options_of({{"VNJIT_CPU_THREADS", "0"}}).cpu_threads, 0);
  EXPECT_EQ(options_of({{"VNJIT_CPU_THREADS", "1024"}}).cpu_threads, 1024);
  for (const std::string value : {"-1", "1025", "two", "2 ", "1.5", "99999999999"}) {
    EXPECT_EQ(refusal_of({{"VNJIT_CPU_THREADS", value}}),
              "VNJIT_CPU_THREADS is '" + value +
                  "'; use a whole number from 1 to 1024, or 0 for one thread a core");
  }
}

TEST(Options, CacheBytesIsAWholeNumberWithAUnitOrWithout) {
  EXPECT_EQ(options_of({}).cache_bytes, std::int64_t{2} << 30);
  EXPECT_EQ(options_of({{"VNJIT_CACHE_BYTES", "0"}}).cache_bytes, 0);
  EXPECT_EQ(options_of({{"VNJIT_CACHE_BYTES", "1234567"}}).cache_bytes, 1234567);
  EXPECT_EQ(options_of({{"VNJIT_CACHE_BYTES", "3K"}}).cache_bytes, 3072);
  EXPECT_EQ(options_of({{"VNJIT_CACHE_BYTES", "5M"}}).cache_bytes, 5 << 20);
  EXPECT_EQ(options_of({{"VNJIT_CACHE_BYTES", "7G"}}).cache_bytes, std::int64_t{7} << 30);
  for (const std::string value :
       {"-1", "1.5G", "K", "2g", "2 G", "2GB", "9223372036854775808", "8589934592G", "1,000"}) {
    EXPECT_EQ(refusal_of({{"VNJIT_CACHE_BYTES", value}}),
              "VNJIT_CACHE_BYTES is '" + value +
                  "'; use a whole number of bytes, such as 2147483648, or one with K, M or G, such "
                  "as 2G, or 0 for no bound");
  }
}

TEST(Options, CacheLockSecondsIsAWholeNumberUpToADay) {
  EXPECT_EQ(options_of({}).cache_lock_wait, std::chrono::seconds(60));
  EXPECT_EQ(options_of({{"VNJIT_CACHE_LOCK_SECONDS", "0"}}).cache_lock_wait,
            std::chrono::seconds(0));
  EXPECT_EQ(options_of({{"VNJIT_CACHE_LOCK_SECONDS", "86400"}}).cache_lock_wait,
            std::chrono::hours(24));
  for (const std::string value : {"-1", "86401", "0.5", "a minute"}) {
    EXPECT_EQ(refusal_of({{"VNJIT_CACHE_LOCK_SECONDS", value}}),
              "VNJIT_CACHE_LOCK_SECONDS is '" + value +
                  "'; use a whole number of seconds from 0 to 86400");
  }
}

TEST(Options, WarningsGoToStandardErrorAndProgressDoesNot) {
  const Options options = options_of({});
  testing::internal::CaptureStderr();
  options.report(Severity::info, "compiled");
  options.report(Severity::warning, "the disk is full");
  EXPECT_EQ(testing::internal::GetCapturedStderr(), "vnjit: warning: the disk is full\n");
}

}  // namespace
}  // namespace vnjit
