#include "vnjit/runtime/c_api_structs.hpp"

#include <gtest/gtest.h>

#include <array>
#include <cstring>

#include "vnjit/runtime/c_api_error.hpp"
#include "vnjit/runtime/c_api_problem.hpp"
#include "vnjit/runtime/c_api_values.hpp"

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

TEST(SizePrefixedStruct, of_the_same_version_is_taken_whole) {
  const Second given{sizeof(Second), 1, 2};
  const Second known = adopted_second(&given);
  EXPECT_EQ(known.width, 1);
  EXPECT_EQ(known.height, 2);
}

TEST(SizePrefixedStruct, of_an_older_caller_leaves_new_fields_at_their_defaults) {
  const First given{sizeof(First), 1};
  const Second known = adopted_second(&given);
  EXPECT_EQ(known.width, 1);
  EXPECT_EQ(known.height, 9);
}

TEST(SizePrefixedStruct, of_a_newer_caller_is_taken_where_the_rest_is_zero) {
  const Third given{sizeof(Third), 1, 2, 0};
  const Second known = adopted_second(&given);
  EXPECT_EQ(known.width, 1);
  EXPECT_EQ(known.height, 2);
}

TEST(SizePrefixedStruct, of_a_newer_caller_that_asks_for_more_is_refused) {
  const Third given{sizeof(Third), 1, 2, std::int64_t{1} << 56};
  EXPECT_EQ(refusal_of(&given),
            "sizes has 32 bytes, of which this library knows 24, and the rest is not zero; it asks "
            "for what a later version of vnjit does");
}

TEST(SizePrefixedStruct, with_a_size_that_no_version_has_is_refused) {
  const std::string allowed =
      "; it must be from 16 to 8192, a multiple of 8, and is set by sizes_init";
  for (const std::size_t size : {std::size_t{0}, std::size_t{8}, std::size_t{15}, std::size_t{20},
                                 std::size_t{8200}, ~std::size_t{0}}) {
    const Third given{size, 1, 2, 0};
    EXPECT_EQ(refusal_of(&given), "sizes.struct_size is " + std::to_string(size) + allowed);
  }
}

TEST(SizePrefixedStruct, that_is_null_is_refused) {
  EXPECT_EQ(refusal_of(nullptr), "sizes is null; it must be given");
}

template <typename T>
class EveryStruct : public testing::Test {};

using Structs =
    testing::Types<vnjit_error, vnjit_options, vnjit_perturbed_linear, vnjit_gradient,
                   vnjit_reduce_metric, vnjit_perturbed_linear_arguments, vnjit_gradient_block,
                   vnjit_gradient_arguments, vnjit_reduce_metric_arguments>;

struct StructName {
  template <typename T>
  static std::string GetName(int) {
    return std::string(kInfo<T>.name);
  }
};
TYPED_TEST_SUITE(EveryStruct, Structs, StructName);

// A field appended later must not lie where older callers have padding of any value.
TYPED_TEST(EveryStruct, ends_with_its_last_field) {
  EXPECT_EQ(kInfo<TypeParam>.first_size, sizeof(TypeParam));
}

TYPED_TEST(EveryStruct, begins_with_its_size) {
  const TypeParam known{};
  const auto* start = reinterpret_cast<const std::byte*>(&known);
  if constexpr (requires { known.struct_size; }) {
    EXPECT_EQ(reinterpret_cast<const std::byte*>(&known.struct_size), start);
  } else {
    EXPECT_EQ(reinterpret_cast<const std::byte*>(&known.base.struct_size), start);
  }
}

constexpr int kKinds = 9;

TEST(Init, writes_no_byte_beyond_the_size_it_is_given) {
  for (vnjit_struct kind = 0; kind < kKinds; ++kind) {
    for (const std::size_t size : {std::size_t{0}, std::size_t{16}, std::size_t{8000}}) {
      std::array<unsigned char, 8192> bytes;
      bytes.fill(0xAB);
      vnjit_init(kind, bytes.data(), size);
      for (std::size_t n = size; n < bytes.size(); ++n) ASSERT_EQ(bytes[n], 0xAB) << kind << " " << n;
    }
  }
}

TEST(Init, fills_every_byte_up_to_the_size_it_is_given) {
  for (vnjit_struct kind = 0; kind < kKinds; ++kind) {
    std::array<unsigned char, 8192> once;
    std::array<unsigned char, 8192> again;
    once.fill(0xAB);
    again.fill(0x11);
    vnjit_init(kind, once.data(), once.size());
    vnjit_init(kind, again.data(), again.size());
    std::size_t size = 0;
    std::memcpy(&size, once.data(), sizeof(size));
    EXPECT_EQ(size, once.size());
    EXPECT_EQ(once, again) << kind;
  }
}

TEST(Init, leaves_what_it_does_not_know_alone) {
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

TEST(Init, gives_problems_the_defaults_of_the_cpp_api) {
  EXPECT_EQ(default_problem(vnjit_perturbed_linear_init), Problem(PerturbedLinear{}));
  EXPECT_EQ(default_problem(vnjit_gradient_init), Problem(Gradient{}));
  EXPECT_EQ(default_problem(vnjit_reduce_metric_init), Problem(ReduceMetric{}));
}

TEST(Init, gives_the_defaults_that_the_header_states) {
  vnjit_perturbed_linear linear;
  vnjit_perturbed_linear_init(&linear);
  EXPECT_EQ(linear.base.struct_size, sizeof(linear));
  EXPECT_EQ(linear.base.noise.generator, VNJIT_GENERATOR_PHILOX);
  EXPECT_EQ(linear.base.noise.distribution, VNJIT_DISTRIBUTION_UNIFORM8);
  EXPECT_EQ(linear.base.noise.rounds, 7);
  EXPECT_EQ(linear.base.noise.antithetic, 0);
  EXPECT_EQ(linear.base.pop, 256);
  EXPECT_EQ(linear.input, VNJIT_TYPE_F32);
  EXPECT_EQ(linear.bias, 1);
  EXPECT_EQ(linear.layout, VNJIT_LAYOUT_SHARED);
  EXPECT_EQ(linear.out, 1024);
  vnjit_options options;
  vnjit_options_init(&options);
  EXPECT_EQ(options.read_environment, 1);
  EXPECT_EQ(options.cached_plans, 1024u);
  EXPECT_EQ(options.cache_dir, nullptr);
  EXPECT_EQ(options.report, nullptr);
  EXPECT_EQ(options.cpu_threads, 0);
}

TEST(Problem, carries_every_field_over) {
  vnjit_perturbed_linear linear;
  vnjit_perturbed_linear_init(&linear);
  linear.base.noise = {VNJIT_GENERATOR_TRITON, VNJIT_DISTRIBUTION_UNIFORM, 10, 1};
  linear.base.pop = 6;
  linear.input = VNJIT_TYPE_BF16;
  linear.output = VNJIT_TYPE_F16;
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
  const NoiseSpec splitmix64{Generator::splitmix64, Distribution::uniform, 0, false};
  EXPECT_EQ(problem_of(&gradient.base), Problem(Gradient{.noise = splitmix64,
                                                         .normalize = Normalize::unbiased,
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

TEST(Values, without_a_constant_are_refused) {
  EXPECT_THROW(c_value(static_cast<DataType>(77)), Error);
}

}  // namespace
}  // namespace vnjit::c_api
