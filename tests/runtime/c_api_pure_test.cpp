#include <gmock/gmock.h>

#include <array>
#include <vector>

#include "c_api_fixture.hpp"
#include "cpu_reference.hpp"
#include "vnjit/codegen/candidates.hpp"
#include "vnjit/codegen/emit.hpp"
#include "vnjit/runtime/cpu/noise.hpp"

// What needs no device: noise, shapes, offsets, emission; and the rules all functions share for
// buffers and null.

namespace vnjit {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::StartsWith;

class CApiPure : public tests::CApiTest {
 protected:
  CApiPure() { vnjit_perturbed_linear_init(&problem); }

  vnjit_noise parsed(const char* text) {
    vnjit_noise noise{-1, -1, -1, -1};
    EXPECT_EQ(vnjit_parse_noise(text, &noise, &error), VNJIT_OK) << error.message;
    return noise;
  }

  std::string emitted(const char* arch, const char* config, const char* access) {
    size_t needed = 0;
    EXPECT_EQ(vnjit_emit(&problem.base, arch, config, access, nullptr, 0, &needed, &error),
              VNJIT_OK)
        << error.message;
    std::string text(needed, '?');
    EXPECT_EQ(vnjit_emit(&problem.base, arch, config, access, text.data(), needed, nullptr, &error),
              VNJIT_OK)
        << error.message;
    EXPECT_EQ(text.find('\0'), needed - 1);
    text.resize(needed - 1);
    return text;
  }

  vnjit_perturbed_linear problem;
};

TEST_F(CApiPure, NoiseIsParsed) {
  const vnjit_noise noise = parsed("philox:rademacher:10");
  EXPECT_EQ(noise.generator, VNJIT_GENERATOR_PHILOX);
  EXPECT_EQ(noise.distribution, VNJIT_DISTRIBUTION_RADEMACHER);
  EXPECT_EQ(noise.rounds, 10);
  EXPECT_EQ(noise.antithetic, 0);
  EXPECT_EQ(parsed("philox:normal").distribution, VNJIT_DISTRIBUTION_NORMAL);
  vnjit_noise unchanged = noise;
  EXPECT_EQ(refusal(vnjit_parse_noise("mersenne", &unchanged, &error)),
            "VNJIT_ERROR_INVALID_ARGUMENT: noise generator 'mersenne' is unknown; use triton, "
            "splitmix64 or philox");
  EXPECT_EQ(unchanged.generator, VNJIT_GENERATOR_PHILOX);
}

TEST_F(CApiPure, EveryNoiseIsThatOfTheCppApi) {
  for (const NoiseSpec& spec : tests::every_noise()) {
    std::vector<float> values(100, tests::kNaN);
    std::vector<float> expected = values;
    const vnjit_noise noise = parsed(to_string(spec).c_str());
    EXPECT_EQ(vnjit_fill_noise(&noise, -5, 1001, 100, values.data(), &error), VNJIT_OK)
        << error.message;
    fill_noise(spec, -5, 1001, 100, expected.data());
    EXPECT_EQ(tests::bits_of(values), tests::bits_of(expected)) << to_string(spec);
  }
}

TEST_F(CApiPure, NoiseOutsideItsRangeIsRefused) {
  const vnjit_noise noise = parsed("philox");
  const auto refused = [&](std::int64_t offset, std::int64_t count) {
    float value = 0;
    return refusal(vnjit_fill_noise(&noise, 1, offset, count, &value, &error));
  };
  EXPECT_EQ(refused(0, -1), "VNJIT_ERROR_INVALID_ARGUMENT: count is -1; it must be at least 0");
  EXPECT_EQ(refused(-1, 1), "VNJIT_ERROR_INVALID_ARGUMENT: offset is -1; it must be at least 0");
  EXPECT_EQ(refused(INT64_MAX, 2),
            "VNJIT_ERROR_INVALID_ARGUMENT: offset is 9223372036854775807; with count = 2 the last "
            "noise element would be beyond 2^63 - 1");
  float last = 0;
  EXPECT_EQ(vnjit_fill_noise(&noise, 1, INT64_MAX, 1, &last, &error), VNJIT_OK);
  EXPECT_NE(last, 0.0f);
  EXPECT_EQ(vnjit_fill_noise(&noise, 1, INT64_MAX, 0, nullptr, &error), VNJIT_OK);
}

TEST_F(CApiPure, NoiseThatIsNotDefinedIsRefused) {
  const auto refused = [&](const vnjit_noise& noise) {
    float value = 0;
    return refusal(vnjit_fill_noise(&noise, 1, 0, 1, &value, &error));
  };
  EXPECT_EQ(refused({9, 1, 7, 0}),
            "VNJIT_ERROR_INVALID_ARGUMENT: noise.generator is 9; use VNJIT_GENERATOR_TRITON (0), "
            "VNJIT_GENERATOR_SPLITMIX64 (1), VNJIT_GENERATOR_PHILOX (2)");
  EXPECT_EQ(refused({VNJIT_GENERATOR_PHILOX, 4, 7, 0}),
            "VNJIT_ERROR_INVALID_ARGUMENT: noise.distribution is 4; use "
            "VNJIT_DISTRIBUTION_UNIFORM (0), VNJIT_DISTRIBUTION_UNIFORM8 (1), "
            "VNJIT_DISTRIBUTION_RADEMACHER (2), VNJIT_DISTRIBUTION_NORMAL (3)");
  EXPECT_EQ(refused({VNJIT_GENERATOR_PHILOX, 1, 8, 0}),
            "VNJIT_ERROR_INVALID_ARGUMENT: noise rounds 8 are not offered for philox; use 7 or 10");
  EXPECT_EQ(refused({VNJIT_GENERATOR_PHILOX, 1, 7, 2}),
            "VNJIT_ERROR_INVALID_ARGUMENT: noise.antithetic is 2; use no (0), yes (1)");
}

TEST_F(CApiPure, OutputShapesNeedNoRun) {
  const auto shape_of = [&](const vnjit_problem& given) {
    std::array<std::int64_t, 3> shape{};
    size_t rank = 0;
    EXPECT_EQ(vnjit_output_shape(&given, shape.data(), shape.size(), &rank, &error), VNJIT_OK)
        << error.message;
    return std::vector<std::int64_t>(shape.begin(), shape.begin() + static_cast<int>(rank));
  };
  problem.base.pop = 2;
  problem.batch = 3;
  problem.out = 5;
  EXPECT_THAT(shape_of(problem.base), ElementsAre(2, 3, 5));
  vnjit_gradient gradient;
  vnjit_gradient_init(&gradient);
  EXPECT_THAT(shape_of(gradient.base), ElementsAre(1024, 1024));
  vnjit_reduce_metric metric;
  vnjit_reduce_metric_init(&metric);
  EXPECT_THAT(shape_of(metric.base), ElementsAre(256));
}

TEST_F(CApiPure, AProblemThatDoesNotValidateIsRefused) {
  problem.batch = -1;
  size_t rank = 0;
  EXPECT_EQ(refusal(vnjit_output_shape(&problem.base, nullptr, 0, &rank, &error)),
            "VNJIT_ERROR_INVALID_ARGUMENT: batch is -1; sizes are 0 or more");
  problem.base.operation = 0;
  EXPECT_EQ(refusal(vnjit_output_shape(&problem.base, nullptr, 0, &rank, &error)),
            "VNJIT_ERROR_INVALID_ARGUMENT: problem.operation is 0, which is none; it is set by the "
            "init function of its struct");
}

TEST_F(CApiPure, OffsetsFollowTheSizes) {
  const std::array<std::int64_t, 6> sizes{256, 784, 256, 10, 256, 10};
  const std::array<size_t, 4> ranks{2, 1, 2, 1};
  std::array<std::int64_t, 4> offsets{};
  EXPECT_EQ(vnjit_compute_offsets(sizes.data(), ranks.data(), 4, 1, offsets.data(), &error),
            VNJIT_OK);
  EXPECT_THAT(offsets, ElementsAre(0, 200704, 200960, 203520));
  EXPECT_EQ(vnjit_compute_offsets(sizes.data(), ranks.data(), 4, 512, offsets.data(), &error),
            VNJIT_OK);
  EXPECT_THAT(offsets, ElementsAre(0, 200704, 201216, 203776));
  EXPECT_EQ(vnjit_compute_offsets(nullptr, nullptr, 0, 1, nullptr, &error), VNJIT_OK);

  const std::array<size_t, 2> scalars{0, 0};
  EXPECT_EQ(vnjit_compute_offsets(nullptr, scalars.data(), 2, 1, offsets.data(), &error), VNJIT_OK);
  EXPECT_THAT(offsets, ElementsAre(0, 1, 201216, 203776));
  EXPECT_EQ(refusal(vnjit_compute_offsets(nullptr, ranks.data(), 1, 1, offsets.data(), &error)),
            "VNJIT_ERROR_INVALID_ARGUMENT: sizes is null; it must be given");
}

TEST_F(CApiPure, StagesFollowTheSeedsRule) {
  EXPECT_EQ(vnjit_choose_num_stages(100, 30, 4), 3);
  EXPECT_EQ(vnjit_choose_num_stages(10, 30, 4), 1);
  EXPECT_EQ(vnjit_choose_num_stages(10, 0, 5), 5);
}

TEST_F(CApiPure, EmitsWhatTheCppApiEmits) {
  const PerturbedLinear same;
  const DeviceLimits limits = DeviceLimits::preset("sm_86");
  const Config chosen = choose_config(same, limits);
  EXPECT_EQ(emitted("sm_86", nullptr, nullptr), emit(same, chosen, limits).text);
  EXPECT_EQ(emitted("sm_86", nullptr, "any"), emit(same, chosen, limits, Access{}).text);
  Config other = chosen;
  other.stages = 1;
  EXPECT_EQ(emitted("sm_86", to_string(other).c_str(), nullptr), emit(same, other, limits).text);
}

TEST_F(CApiPure, EmissionSaysWhatItCannotDo) {
  const auto refused = [&](const char* arch, const char* config, const char* access) {
    size_t needed = 0;
    return refusal(vnjit_emit(&problem.base, arch, config, access, nullptr, 0, &needed, &error));
  };
  EXPECT_EQ(refused(nullptr, nullptr, nullptr),
            "VNJIT_ERROR_INVALID_ARGUMENT: arch is null; it must be given");
  EXPECT_THAT(refused("sm_20", nullptr, nullptr),
              StartsWith("VNJIT_ERROR_INVALID_ARGUMENT: architecture 'sm_20' has no preset"));
  EXPECT_THAT(refused("sm_90", "simt", nullptr), StartsWith("VNJIT_ERROR_CONFIG: "));
  EXPECT_THAT(refused("sm_75", "simt_o64b64k64_s4_w8_r1", nullptr),
              AllOf(StartsWith("VNJIT_ERROR_CONFIG: "), HasSubstr("stages")));
  EXPECT_THAT(refused("sm_90", nullptr, "rows32"),
              StartsWith("VNJIT_ERROR_INVALID_ARGUMENT: access 'rows32' is unknown"));
}

class CApiBuffer : public CApiPure {
 protected:
  vnjit_status emit_to(char* text, size_t capacity, size_t* needed) {
    return vnjit_emit(&problem.base, "sm_90", nullptr, nullptr, text, capacity, needed, &error);
  }

  const std::string source = emitted("sm_90", nullptr, nullptr);
};

TEST_F(CApiBuffer, ThatIsNullOrEmptyAsksForTheLength) {
  size_t needed = 0;
  EXPECT_EQ(emit_to(nullptr, 1000, &needed), VNJIT_OK);
  EXPECT_EQ(needed, source.size() + 1);
  char untouched = 'u';
  needed = 0;
  EXPECT_EQ(emit_to(&untouched, 0, &needed), VNJIT_OK);
  EXPECT_EQ(needed, source.size() + 1);
  EXPECT_EQ(untouched, 'u');
}

TEST_F(CApiBuffer, ThatIsLongEnoughIsWrittenNoFurtherThanNeeded) {
  std::string text(source.size() + 3, 'u');
  EXPECT_EQ(emit_to(text.data(), text.size(), nullptr), VNJIT_OK);
  EXPECT_EQ(text, source + '\0' + "uu");
}

TEST_F(CApiBuffer, ThatIsTooSmallIsRefusedAndNotWritten) {
  std::string text(source.size(), 'u');
  size_t needed = 0;
  EXPECT_EQ(refusal(emit_to(text.data(), text.size(), &needed)),
            "VNJIT_ERROR_INVALID_ARGUMENT: capacity is " + std::to_string(source.size()) +
                "; the result needs " + std::to_string(source.size() + 1) +
                ", or give a null buffer to ask for that alone");
  EXPECT_EQ(needed, source.size() + 1);
  EXPECT_EQ(text, std::string(source.size(), 'u'));
}

TEST_F(CApiPure, ExplainIsATextOfThePlan) {
  const tests::CPlan plan = plan_of(problem);
  std::array<char, 4096> text{};
  size_t needed = 0;
  ASSERT_EQ(vnjit_plan_explain(plan.get(), text.data(), text.size(), &needed, &error), VNJIT_OK);
  EXPECT_THAT(text.data(), StartsWith("device: cpu, 2 threads\nproblem: perturbed-linear"));
  EXPECT_EQ(needed, std::string(text.data()).size() + 1);
}

TEST_F(CApiPure, NullIsRefusedByName) {
  vnjit_perturbed_linear_arguments arguments;
  vnjit_perturbed_linear_arguments_init(&arguments);
  const tests::CPlan plan = plan_of(problem);
  vnjit_plan* made = nullptr;
  size_t size = 0;
  vnjit_noise noise{};
  float value = 0;
  std::int32_t count = 0;
  void* data = nullptr;
  vnjit_device* device = nullptr;
  const vnjit_problem* base = &problem.base;
  const struct {
    const char* name;
    vnjit_status status;
    std::string message;
  } calls[] = {
#define VNJIT_CALL(name, ...) {name, __VA_ARGS__, error.message}
      VNJIT_CALL("runtime", vnjit_runtime_create(nullptr, nullptr, &error)),
      VNJIT_CALL("runtime", vnjit_runtime_describe(nullptr, nullptr, 0, &size, &error)),
      VNJIT_CALL("runtime", vnjit_gpu_count(nullptr, &count, &error)),
      VNJIT_CALL("count", vnjit_gpu_count(runtime.get(), nullptr, &error)),
      VNJIT_CALL("runtime", vnjit_device_cpu(nullptr, &device, &error)),
      VNJIT_CALL("device", vnjit_device_cpu(runtime.get(), nullptr, &error)),
      VNJIT_CALL("runtime", vnjit_device_gpu(nullptr, 0, &device, &error)),
      VNJIT_CALL("runtime", vnjit_device_best(nullptr, &device, &error)),
      VNJIT_CALL("device", vnjit_device_allocate(nullptr, 1, &data, &error)),
      VNJIT_CALL("data", vnjit_device_allocate(cpu.get(), 1, nullptr, &error)),
      VNJIT_CALL("device", vnjit_device_copy_in(nullptr, &value, &value, 4, nullptr, &error)),
      VNJIT_CALL("from_host", vnjit_device_copy_in(cpu.get(), &value, nullptr, 4, nullptr, &error)),
      VNJIT_CALL("device", vnjit_device_copy_out(nullptr, &value, &value, 4, nullptr, &error)),
      VNJIT_CALL("to_host", vnjit_device_copy_out(cpu.get(), nullptr, &value, 4, nullptr, &error)),
      VNJIT_CALL("from_device",
                 vnjit_device_copy_out(cpu.get(), &value, nullptr, 4, nullptr, &error)),
      VNJIT_CALL("device", vnjit_device_create_stream(nullptr, &data, &error)),
      VNJIT_CALL("stream", vnjit_device_create_stream(cpu.get(), nullptr, &error)),
      VNJIT_CALL("device", vnjit_device_synchronize(nullptr, nullptr, &error)),
      VNJIT_CALL("text", vnjit_parse_noise(nullptr, &noise, &error)),
      VNJIT_CALL("noise", vnjit_parse_noise("philox", nullptr, &error)),
      VNJIT_CALL("noise", vnjit_fill_noise(nullptr, 0, 0, 1, &value, &error)),
      VNJIT_CALL("problem", vnjit_output_shape(nullptr, nullptr, 0, &size, &error)),
      VNJIT_CALL("ranks", vnjit_compute_offsets(nullptr, nullptr, 1, 1, nullptr, &error)),
      VNJIT_CALL("offsets", vnjit_compute_offsets(nullptr, &size, 1, 1, nullptr, &error)),
      VNJIT_CALL("runtime", vnjit_plan_create(nullptr, cpu.get(), base, nullptr, &made, &error)),
      VNJIT_CALL("device", vnjit_plan_create(runtime.get(), nullptr, base, nullptr, &made, &error)),
      VNJIT_CALL("problem",
                 vnjit_plan_create(runtime.get(), cpu.get(), nullptr, nullptr, &made, &error)),
      VNJIT_CALL("plan",
                 vnjit_plan_create(runtime.get(), cpu.get(), base, nullptr, nullptr, &error)),
      VNJIT_CALL("plan", vnjit_plan_workspace_bytes(nullptr, &arguments.base, &size, &error)),
      VNJIT_CALL("arguments", vnjit_plan_workspace_bytes(plan.get(), nullptr, &size, &error)),
      VNJIT_CALL("bytes", vnjit_plan_workspace_bytes(plan.get(), &arguments.base, nullptr, &error)),
      VNJIT_CALL("plan", vnjit_plan_run(nullptr, &arguments.base, nullptr, nullptr, 0, &error)),
      VNJIT_CALL("arguments", vnjit_plan_run(plan.get(), nullptr, nullptr, nullptr, 0, &error)),
      VNJIT_CALL("plan", vnjit_plan_explain(nullptr, nullptr, 0, &size, &error)),
      VNJIT_CALL("problem",
                 vnjit_emit(nullptr, "sm_90", nullptr, nullptr, nullptr, 0, &size, &error)),
      VNJIT_CALL("runtime", vnjit_compile(nullptr, base, "sm_90", nullptr, nullptr, nullptr, 0,
                                          &size, &error)),
#undef VNJIT_CALL
  };
  for (const auto& call : calls) {
    EXPECT_EQ(call.status, VNJIT_ERROR_INVALID_ARGUMENT) << call.name;
    EXPECT_EQ(call.message, std::string(call.name) + " is null; it must be given");
  }
  EXPECT_EQ(made, nullptr);
  EXPECT_EQ(device, nullptr);
}

TEST_F(CApiPure, FunctionsWithoutAStatusDoNothingWithNull) {
  vnjit_runtime_destroy(nullptr);
  vnjit_device_destroy(nullptr);
  vnjit_plan_destroy(nullptr);
  vnjit_device_release(nullptr, &problem);
  vnjit_device_release(cpu.get(), nullptr);
  vnjit_device_destroy_stream(nullptr, nullptr);
  EXPECT_EQ(vnjit_device_name(nullptr), nullptr);
  EXPECT_EQ(vnjit_device_is_gpu(nullptr), 0);
}

}  // namespace
}  // namespace vnjit
