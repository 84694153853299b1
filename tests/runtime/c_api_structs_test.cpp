#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <cstring>

#include "vnjit/runtime/c_api/error.hpp"
#include "vnjit/runtime/c_api/problem.hpp"
#include "vnjit/runtime/c_api/structs.hpp"
#include "vnjit/runtime/c_api/values.hpp"

namespace vnjit::c_api {
namespace {

// A struct in three versions. The library under test knows the second.

struct First {
  std::size_t struct_size;
  std::int64_t width;
};

struct Second {
  std::size_t struct_size;
  std::int64_t width;
  std::int64_t height;
};

struct Third {
  std::size_t struct_size;
  std::int64_t width;
  std::int64_t height;
  std::int64_t depth;
};

constexpr StructInfo kSecond{"sizes", sizeof(First), sizeof(Second)};

Second adopted_second(const void* given) {
  Second known{.struct_size = 0, .width = 7, .height = 9};
  adopt(kSecond, given, &known);
  return known;
}

std::string refusal_of(const void* given) {
  try {
    adopted_second(given);
  } catch (const InvalidArgument& refusal) {
    return refusal.what();
  }
  return {};
}

TEST(SizePrefixedStruct, OfTheSameVersionIsTakenWhole) {
  const Second given{sizeof(Second), 1, 2};
  const Second known = adopted_second(&given);
  EXPECT_EQ(known.width, 1);
  EXPECT_EQ(known.height, 2);
}

TEST(SizePrefixedStruct, OfAnOlderCallerLeavesNewFieldsAtTheirDefaults) {
  const First given{sizeof(First), 1};
  const Second known = adopted_second(&given);
  EXPECT_EQ(known.width, 1);
  EXPECT_EQ(known.height, 9);
}

TEST(SizePrefixedStruct, OfANewerCallerIsTakenWhereTheRestIsZero) {
  const Third given{sizeof(Third), 1, 2, 0};
  const Second known = adopted_second(&given);
  EXPECT_EQ(known.width, 1);
  EXPECT_EQ(known.height, 2);
}

TEST(SizePrefixedStruct, OfANewerCallerThatAsksForMoreIsRefused) {
  const Third given{sizeof(Third), 1, 2, std::int64_t{1} << 56};
  EXPECT_EQ(refusal_of(&given),
            "sizes has 32 bytes, of which this library knows 24, and the rest is not zero; it asks "
            "for what a later version of vnjit does");
}

TEST(SizePrefixedStruct, WithASizeThatNoVersionHasIsRefused) {
  const std::string allowed =
      "; it must be from 16 to 8192, a multiple of 8, and is set by sizes_init";
  for (const std::size_t size : {std::size_t{0}, std::size_t{8}, std::size_t{15}, std::size_t{20},
                                 std::size_t{8200}, ~std::size_t{0}}) {
    const Third given{size, 1, 2, 0};
    EXPECT_EQ(refusal_of(&given), "sizes.struct_size is " + std::to_string(size) + allowed);
  }
}

TEST(SizePrefixedStruct, ThatIsNullIsRefused) {
  EXPECT_EQ(refusal_of(nullptr), "sizes is null; it must be given");
}

/// `last` is the last field of the struct as it is now.
#define VNJIT_EXPECT_STRUCT(type, bytes_of_first, last)                        \
  EXPECT_EQ(kInfo<type>.first_size, bytes_of_first##u) << #type;               \
  EXPECT_EQ(offsetof(type, last) + sizeof(type::last), sizeof(type)) << #type; \
  EXPECT_EQ(start_of_size<type>(), 0u) << #type

template <typename T>
std::size_t start_of_size() {
  if constexpr (requires(T known) { known.base; }) {
    return offsetof(T, base) + offsetof(decltype(T::base), struct_size);
  } else {
    return offsetof(T, struct_size);
  }
}

// Callers were compiled with the first version: its bytes never change. A struct ends with its last
// field, for a field that is appended must not lie where callers of before have padding.
TEST(CApiStruct, BeginsWithItsSizeAndEndsWithItsLastField) {
  VNJIT_EXPECT_STRUCT(vnjit_error, 4112, message);
  VNJIT_EXPECT_STRUCT(vnjit_options, 56, cache_bytes);
  VNJIT_EXPECT_STRUCT(vnjit_perturbed_linear, 88, reserved);
  VNJIT_EXPECT_STRUCT(vnjit_gradient, 64, reserved);
  VNJIT_EXPECT_STRUCT(vnjit_reduce_metric, 56, params);
  VNJIT_EXPECT_STRUCT(vnjit_perturbed_linear_arguments, 152, noise_row_stride);
  VNJIT_EXPECT_STRUCT(vnjit_gradient_block, 56, weight_row_stride);
  VNJIT_EXPECT_STRUCT(vnjit_gradient_arguments, 72, step);
  VNJIT_EXPECT_STRUCT(vnjit_reduce_metric_arguments, 72, params);
}

constexpr int kKinds = 9;

TEST(CApiInit, WritesNoByteBeyondTheSizeItIsGiven) {
  for (vnjit_struct kind = 0; kind < kKinds; ++kind) {
    for (const std::size_t size : {std::size_t{0}, std::size_t{16}, std::size_t{8000}}) {
      std::array<unsigned char, 8192> bytes;
      bytes.fill(0xAB);
      vnjit_init(kind, bytes.data(), size);
      for (std::size_t n = size; n < bytes.size(); ++n)
        ASSERT_EQ(bytes[n], 0xAB) << kind << " " << n;
    }
  }
}

TEST(CApiInit, ZeroesFieldsOfALaterCaller) {
  for (vnjit_struct kind = 0; kind < kKinds; ++kind) {
    std::array<unsigned char, 8192> bytes;
    bytes.fill(0xAB);
    vnjit_init(kind, bytes.data(), bytes.size());
    std::size_t size = 0;
    std::memcpy(&size, bytes.data(), sizeof(size));
    EXPECT_EQ(size, bytes.size()) << kind;
    for (std::size_t n = sizeof(vnjit_error); n < bytes.size(); ++n) ASSERT_EQ(bytes[n], 0) << kind;
  }
}

TEST(CApiInit, LeavesWhatItDoesNotKnowAlone) {
  std::array<unsigned char, 16> bytes{1, 2, 3};
  const auto before = bytes;
  vnjit_init(kKinds, bytes.data(), bytes.size());
  vnjit_init(-1, bytes.data(), bytes.size());
  vnjit_init(VNJIT_STRUCT_OPTIONS, nullptr, 16);
  EXPECT_EQ(bytes, before);
}

template <typename C>
Problem default_problem(void (*init)(C*)) {
  C problem;
  std::memset(&problem, 0xAB, sizeof(problem));
  init(&problem);
  return problem_of(&problem.base);
}

TEST(CApiInit, GivesProblemsTheDefaultsOfTheCppApi) {
  EXPECT_EQ(default_problem(vnjit_perturbed_linear_init), Problem(PerturbedLinear{}));
  EXPECT_EQ(default_problem(vnjit_gradient_init), Problem(Gradient{}));
  EXPECT_EQ(default_problem(vnjit_reduce_metric_init), Problem(ReduceMetric{}));
}

TEST(CApiInit, GivesTheDefaultsThatTheHeaderStates) {
  vnjit_perturbed_linear linear;
  vnjit_perturbed_linear_init(&linear);
  EXPECT_EQ(linear.base.struct_size, sizeof(linear));
  EXPECT_EQ(linear.base.noise.generator, VNJIT_GENERATOR_PHILOX);
  EXPECT_EQ(linear.base.noise.distribution, VNJIT_DISTRIBUTION_UNIFORM8);
  EXPECT_EQ(linear.base.noise.rounds, 7);
  EXPECT_EQ(linear.base.noise.antithetic, 0);
  EXPECT_EQ(linear.base.pop, 256);
  EXPECT_EQ(linear.input, VNJIT_TYPE_F32);
  EXPECT_EQ(linear.output, VNJIT_TYPE_F32);
  EXPECT_EQ(linear.precision, VNJIT_PRECISION_INPUT);
  EXPECT_EQ(linear.reserved, 0);
  EXPECT_EQ(linear.bias, 1);
  EXPECT_EQ(linear.layout, VNJIT_LAYOUT_SHARED);
  EXPECT_EQ(linear.out, 1024);
  vnjit_gradient gradient;
  vnjit_gradient_init(&gradient);
  EXPECT_EQ(gradient.update, VNJIT_UPDATE_NONE);
  EXPECT_EQ(gradient.reserved, 0);
  vnjit_gradient_arguments step;
  vnjit_gradient_arguments_init(&step);
  EXPECT_EQ(step.learning_rate, 0.0f);
  EXPECT_EQ(step.beta1, 0.9f);
  EXPECT_EQ(step.beta2, 0.999f);
  EXPECT_EQ(step.epsilon, 1e-8f);
  EXPECT_EQ(step.step, 1);
  vnjit_options options;
  vnjit_options_init(&options);
  EXPECT_EQ(options.read_environment, 1);
  EXPECT_EQ(options.cached_plans, 1024u);
  EXPECT_EQ(options.cache_dir, nullptr);
  EXPECT_EQ(options.report, nullptr);
  EXPECT_EQ(options.cpu_threads, 0);
}

TEST(CApiProblem, CarriesEveryFieldOver) {
  vnjit_perturbed_linear linear;
  vnjit_perturbed_linear_init(&linear);
  linear.base.noise = {VNJIT_GENERATOR_TRITON, VNJIT_DISTRIBUTION_UNIFORM, 10, 1};
  linear.base.pop = 6;
  linear.input = VNJIT_TYPE_BF16;
  linear.output = VNJIT_TYPE_F16;
  linear.precision = VNJIT_PRECISION_TF32;
  linear.bias = 0;
  linear.layout = VNJIT_LAYOUT_INDIVIDUAL;
  linear.bake_shape = 1;
  linear.batch = 3;
  linear.in = 5;
  linear.out = 7;
  const NoiseSpec triton{Generator::triton, Distribution::uniform, 10, true};
  EXPECT_EQ(problem_of(&linear.base), Problem(PerturbedLinear{.noise = triton,
                                                              .input = DataType::bf16,
                                                              .output = DataType::f16,
                                                              .precision = Precision::tf32,
                                                              .bias = false,
                                                              .layout = InputLayout::individual,
                                                              .pop = 6,
                                                              .batch = 3,
                                                              .in = 5,
                                                              .out = 7,
                                                              .bake_shape = true}));

  vnjit_gradient gradient;
  vnjit_gradient_init(&gradient);
  gradient.base.noise = {VNJIT_GENERATOR_SPLITMIX64, VNJIT_DISTRIBUTION_UNIFORM, 0, 0};
  gradient.base.pop = 4;
  gradient.normalize = VNJIT_NORMALIZE_UNBIASED;
  gradient.vector = 1;
  gradient.rows = 1;
  gradient.columns = 9;
  gradient.update = VNJIT_UPDATE_ADAM;
  const NoiseSpec splitmix64{Generator::splitmix64, Distribution::uniform, 0, false};
  EXPECT_EQ(problem_of(&gradient.base), Problem(Gradient{.noise = splitmix64,
                                                         .normalize = Normalize::unbiased,
                                                         .update = Update::adam,
                                                         .vector = true,
                                                         .pop = 4,
                                                         .rows = 1,
                                                         .columns = 9}));

  vnjit_reduce_metric metric;
  vnjit_reduce_metric_init(&metric);
  metric.base.noise = {VNJIT_GENERATOR_PHILOX, VNJIT_DISTRIBUTION_RADEMACHER, 10, 0};
  metric.base.pop = 2;
  metric.input = VNJIT_TYPE_F16;
  metric.params = 11;
  const NoiseSpec philox{Generator::philox, Distribution::rademacher, 10, false};
  EXPECT_EQ(problem_of(&metric.base),
            Problem(ReduceMetric{.noise = philox, .input = DataType::f16, .pop = 2, .params = 11}));
}

// Compiled before there was a precision: what lies behind the struct is not its own.
TEST(CApiProblem, OfTheFirstVersionHasThePrecisionOfItsInput) {
  vnjit_perturbed_linear linear;
  std::memset(&linear, 0xAB, sizeof(linear));
  vnjit_init(VNJIT_STRUCT_PERTURBED_LINEAR, &linear, 88);
  EXPECT_EQ(linear.base.struct_size, 88u);
  EXPECT_NE(linear.precision, VNJIT_PRECISION_INPUT);
  linear.out = 7;
  EXPECT_EQ(problem_of(&linear.base), Problem(PerturbedLinear{.out = 7}));
}

// Compiled before there was an update.
TEST(CApiProblem, OfTheFirstVersionHasNoUpdate) {
  vnjit_gradient gradient;
  std::memset(&gradient, 0xAB, sizeof(gradient));
  vnjit_init(VNJIT_STRUCT_GRADIENT, &gradient, 64);
  EXPECT_EQ(gradient.base.struct_size, 64u);
  EXPECT_NE(gradient.update, VNJIT_UPDATE_NONE);
  gradient.columns = 7;
  EXPECT_EQ(problem_of(&gradient.base), Problem(Gradient{.columns = 7}));
}

TEST(CApiProblem, RefusesUpdatesThatThereAreNone) {
  vnjit_gradient gradient;
  vnjit_gradient_init(&gradient);
  gradient.update = 3;
  EXPECT_THAT([&] { problem_of(&gradient.base); },
              testing::ThrowsMessage<InvalidArgument>(
                  "update is 3; use VNJIT_UPDATE_NONE (0), VNJIT_UPDATE_SGD (1), VNJIT_UPDATE_ADAM "
                  "(2)"));
  gradient.update = VNJIT_UPDATE_SGD;
  gradient.reserved = 1;
  EXPECT_THAT([&] { problem_of(&gradient.base); },
              testing::ThrowsMessage<InvalidArgument>("reserved is 1; use zero (0)"));
}

TEST(CApiProblem, RefusesValuesThatFieldsDoNotHave) {
  const auto refused = [](const auto& change) -> std::string {
    vnjit_perturbed_linear linear;
    vnjit_perturbed_linear_init(&linear);
    change(linear);
    try {
      problem_of(&linear.base);
    } catch (const InvalidArgument& refusal) {
      return refusal.what();
    }
    return {};
  };
  EXPECT_EQ(refused([](auto& linear) { linear.precision = 6; }),
            "precision is 6; use VNJIT_PRECISION_INPUT (0), VNJIT_PRECISION_F32 (1), "
            "VNJIT_PRECISION_TF32 (2), VNJIT_PRECISION_F16 (3), VNJIT_PRECISION_BF16 (4), "
            "VNJIT_PRECISION_INT8 (5)");
  EXPECT_EQ(refused([](auto& linear) { linear.output = 3; }),
            "output is 3; use VNJIT_TYPE_F32 (0), VNJIT_TYPE_F16 (1), VNJIT_TYPE_BF16 (2)");
  EXPECT_EQ(refused([](auto& linear) { linear.reserved = 1; }), "reserved is 1; use zero (0)");
}

TEST(CApiValue, OfAPrecisionIsTheOneOfItsName) {
  const struct {
    vnjit_precision c;
    Precision cpp;
  } cases[] = {
      {VNJIT_PRECISION_INPUT, Precision::input}, {VNJIT_PRECISION_F32, Precision::f32},
      {VNJIT_PRECISION_TF32, Precision::tf32},   {VNJIT_PRECISION_F16, Precision::f16},
      {VNJIT_PRECISION_BF16, Precision::bf16},   {VNJIT_PRECISION_INT8, Precision::int8},
  };
  for (const auto& value : cases) {
    EXPECT_EQ(cpp_value<Precision>("precision", value.c), value.cpp);
    EXPECT_EQ(c_value(value.cpp), value.c);
  }
}

TEST(CApiValue, OfAnUpdateIsTheOneOfItsName) {
  EXPECT_EQ(c_value(Update::none), VNJIT_UPDATE_NONE);
  EXPECT_EQ(c_value(Update::sgd), VNJIT_UPDATE_SGD);
  EXPECT_EQ(c_value(Update::adam), VNJIT_UPDATE_ADAM);
}

TEST(CApiValue, WithoutAConstantAreRefused) {
  EXPECT_THROW(c_value(static_cast<DataType>(77)), Error);
}

}  // namespace
}  // namespace vnjit::c_api
