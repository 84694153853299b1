#include <gmock/gmock.h>

#include <array>
#include <cstring>
#include <vector>

#include "c_api_fixture.hpp"
#include "temp_dir.hpp"
#include "vnjit/runtime/runtime.hpp"

namespace vnjit {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::StartsWith;
using tests::CApiTest;

TEST(CApiVersion, IsThatOfTheProject) {
  const std::string text = tests::read_file(std::string(VNJIT_SOURCE_DIR) + "/CMakeLists.txt");
  EXPECT_THAT(text, HasSubstr("project(vnjit VERSION " + std::to_string(VNJIT_VERSION_MAJOR) + '.' +
                              std::to_string(VNJIT_VERSION_MINOR) + '.' +
                              std::to_string(VNJIT_VERSION_PATCH) + ' '));
  EXPECT_EQ(vnjit_version(), VNJIT_VERSION);
  EXPECT_EQ(vnjit_noise_contract_version(), noise_contract_version());
}

TEST_F(CApiTest, ReportsWhatAPlanWouldNotTake) {
  vnjit_reduce_metric problem;
  vnjit_reduce_metric_init(&problem);
  const tests::CPlan plan = plan_of(problem);
  const auto refused = [&](const vnjit_arguments& arguments) {
    return refusal(vnjit_plan_run(plan.get(), &arguments, nullptr, nullptr, 0, &error));
  };
  vnjit_reduce_metric_arguments arguments;
  vnjit_reduce_metric_arguments_init(&arguments);
  arguments.base.pop = -2;
  EXPECT_EQ(refused(arguments.base),
            "VNJIT_ERROR_INVALID_ARGUMENT: pop is -2; it must be at least 0");
  arguments.base.operation = 0;
  EXPECT_EQ(refused(arguments.base),
            "VNJIT_ERROR_INVALID_ARGUMENT: arguments.operation is 0, which is none; it is set by "
            "the init function of its struct");
  vnjit_gradient_arguments others;
  vnjit_gradient_arguments_init(&others);
  EXPECT_EQ(refused(others.base),
            "VNJIT_ERROR_INVALID_ARGUMENT: this plan is for reduce-metric, not for gradient "
            "arguments");
}

TEST_F(CApiTest, PassesStreamAndWorkspaceOn) {
  vnjit_reduce_metric problem;
  vnjit_reduce_metric_init(&problem);
  const tests::CPlan plan = plan_of(problem);
  vnjit_reduce_metric_arguments arguments;
  vnjit_reduce_metric_arguments_init(&arguments);
  size_t bytes = 99;
  EXPECT_EQ(vnjit_plan_workspace_bytes(plan.get(), &arguments.base, &bytes, &error), VNJIT_OK);
  EXPECT_EQ(bytes, 0u);
  EXPECT_THAT(refusal(vnjit_plan_run(plan.get(), &arguments.base, &bytes, nullptr, 0, &error)),
              StartsWith("VNJIT_ERROR_INVALID_ARGUMENT: stream is not null"));
}

TEST_F(CApiTest, HandlesMayBeDestroyedInAnyOrder) {
  vnjit_reduce_metric problem;
  vnjit_reduce_metric_init(&problem);
  const tests::CPlan plan = plan_of(problem);
  runtime.reset();
  cpu.reset();
  const std::int64_t seed = 1;
  const std::array<float, 2> center{1, 2};
  float metric = 0;
  vnjit_reduce_metric_arguments arguments;
  vnjit_reduce_metric_arguments_init(&arguments);
  arguments.base.seeds = &seed;
  arguments.base.pop = 1;
  arguments.center = center.data();
  arguments.params = 2;
  arguments.metric = &metric;
  EXPECT_EQ(vnjit_plan_run(plan.get(), &arguments.base, nullptr, nullptr, 0, &error), VNJIT_OK);
  EXPECT_EQ(metric, 1.5f);
}

TEST_F(CApiTest, CpuMemoryIsAllocatedCopiedAndReleased) {
  EXPECT_STREQ(vnjit_device_name(cpu.get()), "cpu");
  EXPECT_EQ(vnjit_device_is_gpu(cpu.get()), 0);
  const std::array<float, 3> host{1, 2, 3};
  std::array<float, 3> back{};
  void* data = nullptr;
  void* stream = nullptr;
  ASSERT_EQ(vnjit_device_allocate(cpu.get(), sizeof(host), &data, &error), VNJIT_OK);
  EXPECT_EQ(reinterpret_cast<std::uintptr_t>(data) % 256, 0u);
  ASSERT_EQ(vnjit_device_create_stream(cpu.get(), &stream, &error), VNJIT_OK);
  EXPECT_EQ(vnjit_device_copy_in(cpu.get(), data, host.data(), sizeof(host), stream, &error),
            VNJIT_OK);
  EXPECT_EQ(vnjit_device_copy_out(cpu.get(), back.data(), data, sizeof(host), stream, &error),
            VNJIT_OK);
  EXPECT_EQ(vnjit_device_synchronize(cpu.get(), stream, &error), VNJIT_OK);
  EXPECT_EQ(back, host);
  EXPECT_EQ(refusal(vnjit_device_copy_in(cpu.get(), nullptr, host.data(), 4, stream, &error)),
            "VNJIT_ERROR_INVALID_ARGUMENT: to_device is null; it must be given");
  EXPECT_EQ(vnjit_device_copy_in(cpu.get(), nullptr, nullptr, 0, stream, &error), VNJIT_OK);
  vnjit_device_destroy_stream(cpu.get(), stream);
  vnjit_device_release(cpu.get(), data);
}

TEST_F(CApiTest, MemoryThatIsNotThereIsOutOfMemory) {
#ifdef __SANITIZE_ADDRESS__
  GTEST_SKIP() << "the address sanitizer ends the program instead";
#endif
  void* data = &error;
  EXPECT_EQ(refusal(vnjit_device_allocate(cpu.get(), SIZE_MAX / 2, &data, &error)),
            "VNJIT_ERROR_OUT_OF_MEMORY: out of memory");
  EXPECT_EQ(data, &error);
}

TEST_F(CApiTest, TheBestDeviceIsAGpuWhereThereIsOne) {
  std::int32_t count = -1;
  ASSERT_EQ(vnjit_gpu_count(runtime.get(), &count, &error), VNJIT_OK);
  EXPECT_EQ(count == 0, std::strlen(error.message) > 0) << error.message;
  vnjit_device* best = nullptr;
  ASSERT_EQ(vnjit_device_best(runtime.get(), &best, &error), VNJIT_OK) << error.message;
  EXPECT_EQ(vnjit_device_is_gpu(best), count > 0);
  vnjit_device_destroy(best);
}

TEST_F(CApiTest, AGpuThatIsNotThereIsUnavailable) {
  auto* device = reinterpret_cast<vnjit_device*>(&error);
  EXPECT_THAT(refusal(vnjit_device_gpu(runtime.get(), 4711, &device, &error)),
              StartsWith("VNJIT_ERROR_UNAVAILABLE: "));
  EXPECT_EQ(device, nullptr);
}

TEST_F(CApiTest, AConfigThatDoesNotParseIsAConfigError) {
  vnjit_gradient problem;
  vnjit_gradient_init(&problem);
  auto* plan = reinterpret_cast<vnjit_plan*>(&error);
  EXPECT_THAT(
      refusal(vnjit_plan_create(runtime.get(), cpu.get(), &problem.base, "fastest", &plan, &error)),
      AllOf(StartsWith("VNJIT_ERROR_CONFIG: "), HasSubstr("fastest")));
  EXPECT_EQ(plan, nullptr);
}

TEST_F(CApiTest, AnOptionsStructThatMakesNoSenseIsRefused) {
  vnjit_runtime* made = nullptr;
  options.read_environment = 7;
  EXPECT_EQ(refusal(vnjit_runtime_create(&options, &made, &error)),
            "VNJIT_ERROR_INVALID_ARGUMENT: read_environment is 7; use no (0), yes (1)");
  options.struct_size = 0;
  EXPECT_EQ(refusal(vnjit_runtime_create(&options, &made, &error)),
            "VNJIT_ERROR_INVALID_ARGUMENT: vnjit_options.struct_size is 0; it must be from 56 to "
            "8192, a multiple of 8, and is set by vnjit_options_init");
}

struct Reports {
  std::vector<std::string> messages;

  static void add(void* user, vnjit_severity severity, const char* message) {
    auto& messages = static_cast<Reports*>(user)->messages;
    messages.push_back((severity == VNJIT_SEVERITY_WARNING ? "warning: " : "info: ") +
                       std::string(message));
  }
};

// The library is found and its cached kernels are looked for before it is opened.
TEST_F(CApiTest, WarningsGoToTheCallback) {
  const tests::TempDir folder;
  const std::string cache = (folder / "cache").string();
  const std::string nvrtc = (folder / "libnvrtc.so.12").string();
  tests::write_file(cache, "a file");
  tests::write_file(nvrtc, "no library");
  Reports reports;
  options.cache_dir = cache.c_str();
  options.nvrtc = nvrtc.c_str();
  options.report = Reports::add;
  options.report_user = &reports;
  const tests::CRuntime noisy = make_runtime();

  vnjit_gradient problem;
  vnjit_gradient_init(&problem);
  EXPECT_THAT(refusal(vnjit_compile(noisy.get(), &problem.base, "sm_90", nullptr, nullptr, nullptr,
                                    0, nullptr, &error)),
              AllOf(StartsWith("VNJIT_ERROR_UNAVAILABLE: "), HasSubstr(nvrtc)));
  EXPECT_THAT(reports.messages, ElementsAre(AllOf(StartsWith("warning: the kernel cache " + cache),
                                                  HasSubstr("it is not a directory"))));
}

TEST_F(CApiTest, TheEnvironmentGivesWhatOptionsDoNot) {
  const std::string before = Options::from_environment().cache_dir.string();
  ASSERT_NE(before, "") << "tests run with VNJIT_CACHE_DIR";
  const auto cache_of = [&](const vnjit_options* given) {
    vnjit_runtime* made = nullptr;
    EXPECT_EQ(vnjit_runtime_create(given, &made, &error), VNJIT_OK) << error.message;
    const tests::CRuntime owned(made);
    std::array<char, 16384> text{};
    EXPECT_EQ(vnjit_runtime_describe(made, text.data(), text.size(), nullptr, &error), VNJIT_OK)
        << error.message;
    const std::string described = text.data();
    const std::size_t start = described.find("\ncache ");
    return described.substr(start + 10, described.find('\n', start + 1) - start - 10);
  };
  EXPECT_EQ(cache_of(nullptr), before);
  EXPECT_EQ(cache_of(&options), "in memory only");
  options.read_environment = 1;
  EXPECT_EQ(cache_of(&options), before);
  options.cache_dir = "/elsewhere";
  EXPECT_EQ(cache_of(&options), "/elsewhere");
  options.cache_dir = "";
  EXPECT_EQ(cache_of(&options), "in memory only");
}

}  // namespace
}  // namespace vnjit
