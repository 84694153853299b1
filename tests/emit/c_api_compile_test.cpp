#include <gmock/gmock.h>

#include <filesystem>

#include "runtime/c_api_fixture.hpp"
#include "temp_dir.hpp"
#include "vnjit/codegen/candidates.hpp"
#include "vnjit/runtime/runtime.hpp"

namespace vnjit {
namespace {

using testing::HasSubstr;

class CApiCompile : public tests::CApiTest {
 protected:
  CApiCompile() {
    options.read_environment = 1;
    options.cache_dir = cache.c_str();
    runtime = make_runtime();
    vnjit_reduce_metric_init(&problem);
  }

  vnjit_status compile(void* cubin, size_t capacity, size_t* needed) {
    return vnjit_compile(runtime.get(), &problem.base, "sm_90", nullptr, nullptr, cubin, capacity,
                         needed, &error);
  }

  std::string cached_entry() const {
    std::string entry;
    for (const auto& file : std::filesystem::directory_iterator(cache)) {
      if (file.path().extension() == ".cubin") entry += file.path().string();
    }
    return entry;
  }

  const tests::TempDir folder;
  const std::string cache = (folder / "cache").string();
  vnjit_reduce_metric problem;
};

TEST_F(CApiCompile, GivesTheImageOfTheCppApi) {
  size_t needed = 0;
  ASSERT_EQ(compile(nullptr, 0, &needed), VNJIT_OK) << error.message;
  std::string cubin(needed, '?');
  ASSERT_EQ(compile(cubin.data(), cubin.size(), nullptr), VNJIT_OK) << error.message;

  const DeviceLimits limits = DeviceLimits::preset("sm_90");
  const ReduceMetric same;
  Options cpp_options = Options::from_environment();
  cpp_options.cache_dir.clear();
  Runtime cpp_runtime(cpp_options);
  const Compiled expected = cpp_runtime.compile(emit(same, choose_config(same, limits), limits));
  EXPECT_EQ(cubin, expected.binary.cubin);
  EXPECT_EQ(cubin.substr(0, 4),
            "\x7F"
            "ELF");
}

TEST_F(CApiCompile, AsksForTheLengthAndTheBytesOfOneCompilation) {
  size_t needed = 0;
  ASSERT_EQ(compile(nullptr, 0, &needed), VNJIT_OK) << error.message;
  const std::string entry = cached_entry();
  const auto written = std::filesystem::last_write_time(entry);
  std::string cubin(needed, '?');
  ASSERT_EQ(compile(cubin.data(), cubin.size(), nullptr), VNJIT_OK) << error.message;
  EXPECT_EQ(cached_entry(), entry);
  EXPECT_EQ(std::filesystem::last_write_time(entry), written);
}

TEST_F(CApiCompile, AnImageThatDoesNotFitIsNotWritten) {
  std::string cubin(16, 'u');
  size_t needed = 0;
  const std::string refused = refusal(compile(cubin.data(), cubin.size(), &needed));
  EXPECT_THAT(refused, HasSubstr("VNJIT_ERROR_INVALID_ARGUMENT: capacity is 16; the result needs " +
                                 std::to_string(needed) + ','));
  EXPECT_GT(needed, 16u);
  EXPECT_EQ(cubin, std::string(16, 'u'));
}

}  // namespace
}  // namespace vnjit
