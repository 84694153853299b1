#include "vnjit/runtime/check_arguments.hpp"

#include <gtest/gtest.h>

#include <functional>
#include <limits>

#include "cpu_reference.hpp"

namespace vnjit {
namespace {

using tests::refusal_of;

constexpr std::int64_t kLast = std::numeric_limits<std::int64_t>::max();

// Not null, never read, and far from each other.
float* memory(std::uintptr_t number) { return reinterpret_cast<float*>(number << 40); }
float* const kMemory = memory(1);
const std::int64_t* const kSeeds = reinterpret_cast<const std::int64_t*>(memory(2));

/// Legal arguments of pop = 2, batch = 3, in = 8, out = 4.
PerturbedLinearArguments linear() {
  PerturbedLinearArguments arguments;
  arguments.x = kMemory;
  arguments.weight = memory(3);
  arguments.bias = memory(4);
  arguments.y = memory(5);
  arguments.seeds = kSeeds;
  arguments.sigma = 0.5f;
  arguments.pop = 2;
  arguments.batch = 3;
  arguments.in = 8;
  arguments.out = 4;
  return arguments;
}

std::string linear_refusal(const std::function<void(PerturbedLinearArguments&)>& change,
                           PerturbedLinear problem = {}) {
  PerturbedLinearArguments arguments = linear();
  change(arguments);
  return refusal_of([&] { checked(problem, arguments); });
}

TEST(CheckPerturbedLinear, FillsInContiguousStrides) {
  const PerturbedLinearArguments shared = checked(PerturbedLinear{}, linear());
  EXPECT_EQ(shared.x_row_stride, 8);
  EXPECT_EQ(shared.x_individual_stride, 0);
  EXPECT_EQ(shared.weight_row_stride, 8);
  EXPECT_EQ(shared.noise_row_stride, 8);
  EXPECT_EQ(shared.y_row_stride, 4);
  EXPECT_EQ(shared.y_individual_stride, 12);
  const PerturbedLinear individual{.layout = InputLayout::individual};
  EXPECT_EQ(checked(individual, linear()).x_individual_stride, 24);
}

TEST(CheckPerturbedLinear, CountsIndividualStridesInGivenRows) {
  PerturbedLinearArguments arguments = linear();
  arguments.x_row_stride = 10;
  arguments.y_row_stride = 5;
  arguments = checked(PerturbedLinear{.layout = InputLayout::individual}, arguments);
  EXPECT_EQ(arguments.x_row_stride, 10);
  EXPECT_EQ(arguments.x_individual_stride, 30);
  EXPECT_EQ(arguments.y_individual_stride, 15);
}

TEST(CheckPerturbedLinear, RefusesSizes) {
  EXPECT_EQ(linear_refusal([](auto& a) { a.pop = -2; }), "pop is -2; it must be at least 0");
  EXPECT_EQ(linear_refusal([](auto& a) { a.batch = -1; }), "batch is -1; it must be at least 0");
  EXPECT_EQ(linear_refusal([](auto& a) { a.in = -8; }), "in is -8; it must be at least 0");
  EXPECT_EQ(linear_refusal([](auto& a) { a.out = -4; }), "out is -4; it must be at least 0");
  EXPECT_EQ(linear_refusal([](auto& a) { a.pop = 3; }, {.noise = {.antithetic = true}}),
            "pop is 3; it must be even with antithetic noise, which pairs individuals");
}

TEST(CheckPerturbedLinear, RefusesOtherSizesThanTheBakedOnes) {
  const PerturbedLinear baked{.in = 8, .out = 4, .bake_shape = true};
  EXPECT_EQ(linear_refusal([](auto&) {}, baked), "");
  EXPECT_EQ(linear_refusal([](auto& a) { a.pop = a.batch = 100; }, baked), "");
  EXPECT_EQ(linear_refusal([](auto& a) { a.in = 7; }, baked),
            "in is 7; this plan has in = 8 baked in: plan without bake_shape to run other sizes");
  EXPECT_EQ(linear_refusal([](auto& a) { a.out = 5; }, baked),
            "out is 5; this plan has out = 4 baked in: plan without bake_shape to run other sizes");
}

TEST(CheckPerturbedLinear, RefusesMissingPointers) {
  EXPECT_EQ(linear_refusal([](auto& a) { a.seeds = nullptr; }),
            "seeds is null; allowed only when pop is 0");
  EXPECT_EQ(linear_refusal([](auto& a) { a.x = nullptr; }),
            "x is null; allowed only when pop, batch, in or out is 0");
  EXPECT_EQ(linear_refusal([](auto& a) { a.weight = nullptr; }),
            "weight is null; allowed only when pop, batch, in or out is 0");
  EXPECT_EQ(linear_refusal([](auto& a) { a.y = nullptr; }),
            "y is null; allowed only when pop, batch or out is 0");
  EXPECT_EQ(linear_refusal([](auto& a) { a.bias = nullptr; }),
            "bias is null; allowed only when out is 0");
  EXPECT_EQ(linear_refusal([](auto&) {}, {.bias = false}),
            "bias is given; this plan's problem has no bias: pass null");
}

TEST(CheckPerturbedLinear, TakesNullPointersWhereNothingIsReadOrWritten) {
  EXPECT_EQ(linear_refusal([](auto& a) { a = {}; }), "");
  EXPECT_EQ(linear_refusal([](auto& a) {
              a.in = 0;
              a.x = a.weight = nullptr;
            }),
            "");
  EXPECT_EQ(linear_refusal([](auto& a) {
              a.batch = 0;
              a.x = a.weight = a.y = nullptr;
            }),
            "");
  EXPECT_EQ(linear_refusal([](auto& a) {
              a.out = 0;
              a.x = a.weight = a.bias = a.y = nullptr;
            }),
            "");
}

TEST(CheckPerturbedLinear, RefusesStridesBelowTheirRows) {
  const PerturbedLinear individual{.layout = InputLayout::individual};
  EXPECT_EQ(linear_refusal([](auto& a) { a.x_row_stride = 7; }),
            "x_row_stride is 7; it must be at least in = 8, or 0 for contiguous");
  EXPECT_EQ(linear_refusal([](auto& a) { a.weight_row_stride = -1; }),
            "weight_row_stride is -1; it must be at least in = 8, or 0 for contiguous");
  EXPECT_EQ(linear_refusal([](auto& a) { a.noise_row_stride = 1; }),
            "noise_row_stride is 1; it must be at least in = 8, or 0 for contiguous");
  EXPECT_EQ(linear_refusal([](auto& a) { a.y_row_stride = 3; }),
            "y_row_stride is 3; it must be at least out = 4, or 0 for contiguous");
  EXPECT_EQ(linear_refusal([](auto& a) { a.y_individual_stride = 11; }),
            "y_individual_stride is 11; it must be at least batch * y_row_stride = 12, or 0 for "
            "contiguous");
  EXPECT_EQ(linear_refusal([](auto& a) { a.x_individual_stride = 23; }, individual),
            "x_individual_stride is 23; it must be at least batch * x_row_stride = 24, or 0 for "
            "contiguous");
  EXPECT_EQ(linear_refusal([](auto& a) { a.x_individual_stride = 24; }),
            "x_individual_stride is 24; it must be 0, because individuals share x");
  EXPECT_EQ(linear_refusal([](auto& a) { a.y_row_stride = kLast / 2; }),
            "y_row_stride is 4611686018427387903; with batch = 3 an individual's rows would pass "
            "2^63 - 1 elements");
}

TEST(CheckPerturbedLinear, RefusesSigmaThatIsNotFiniteButNotAPointer) {
  EXPECT_EQ(linear_refusal([](auto& a) { a.sigma = tests::kNaN; }),
            "sigma is nan; it must be finite");
  EXPECT_EQ(linear_refusal([](auto& a) { a.sigma = -std::numeric_limits<float>::infinity(); }),
            "sigma is -inf; it must be finite");
  EXPECT_EQ(linear_refusal([](auto& a) { a.sigma = memory(6); }), "");
  EXPECT_EQ(linear_refusal([](auto& a) { a.sigma = -1.0f; }), "");
  EXPECT_EQ(linear_refusal([](auto& a) { a.sigma = 0.0f; }), "");
}

TEST(CheckPerturbedLinear, RefusesNoiseElementsBeyond63Bits) {
  EXPECT_EQ(linear_refusal([](auto& a) { a.offset = -1; }), "offset is -1; it must be at least 0");
  // 4 rows of 8 weights and 4 biases: the last element is offset + 35.
  EXPECT_EQ(linear_refusal([](auto& a) { a.offset = kLast - 35; }), "");
  EXPECT_EQ(linear_refusal([](auto& a) { a.offset = kLast - 34; }),
            "offset is 9223372036854775773; the last noise element would be 9223372036854775808, "
            "and must be at most 2^63 - 1");
  const auto without_bias = [](std::int64_t offset) {
    return [offset](PerturbedLinearArguments& a) {
      a.bias = nullptr;
      a.offset = offset;
    };
  };
  EXPECT_EQ(linear_refusal(without_bias(kLast - 31), {.bias = false}), "");
  EXPECT_EQ(linear_refusal(without_bias(kLast - 30), {.bias = false}),
            "offset is 9223372036854775777; the last noise element would be 9223372036854775808, "
            "and must be at most 2^63 - 1");
  EXPECT_EQ(linear_refusal([](auto& a) { a.noise_row_stride = kLast; }),
            "offset is 0; the last noise element would be 36893488147419103231, and must be at "
            "most 2^63 - 1");
  EXPECT_EQ(linear_refusal([](auto& a) {
              a.out = 0;
              a.offset = kLast;
            }),
            "");
}

/// Legal arguments of pop = 2.
GradientArguments gradient() {
  GradientArguments arguments;
  arguments.fitness = kMemory;
  arguments.seeds = kSeeds;
  arguments.sigma = 0.5f;
  arguments.pop = 2;
  return arguments;
}

std::string gradient_refusal(const std::function<void(GradientArguments&)>& change,
                             Gradient problem = {}) {
  GradientArguments arguments = gradient();
  change(arguments);
  return refusal_of([&] { checked(problem, arguments); });
}

TEST(CheckGradient, DividesByPopUnlessTold) {
  GradientArguments arguments = gradient();
  EXPECT_EQ(checked(Gradient{}, arguments).pop_size, 2);
  arguments.pop_size = 7;
  EXPECT_EQ(checked(Gradient{}, arguments).pop_size, 7);
}

TEST(CheckGradient, Refuses) {
  EXPECT_EQ(gradient_refusal([](auto& a) { a.pop = 0; }),
            "pop is 0; a gradient needs at least 1 individual");
  EXPECT_EQ(gradient_refusal([](auto& a) { a.pop = -1; }), "pop is -1; it must be at least 0");
  EXPECT_EQ(gradient_refusal([](auto& a) { a.pop = 5; }, {.noise = {.antithetic = true}}),
            "pop is 5; it must be even with antithetic noise, which pairs individuals");
  EXPECT_EQ(gradient_refusal([](auto& a) { a.pop_size = -4; }),
            "pop_size is -4; it must be at least 0");
  EXPECT_EQ(gradient_refusal([](auto& a) { a.fitness = nullptr; }),
            "fitness is null; it must be given");
  EXPECT_EQ(gradient_refusal([](auto& a) { a.seeds = nullptr; }),
            "seeds is null; it must be given");
  EXPECT_EQ(gradient_refusal([](auto& a) { a.sigma = 0.0f; }),
            "sigma is 0; a gradient divides by it");
  EXPECT_EQ(gradient_refusal([](auto& a) { a.sigma = std::numeric_limits<float>::infinity(); }),
            "sigma is inf; it must be finite");
  EXPECT_EQ(gradient_refusal([](auto& a) { a.sigma = memory(6); }), "");
}

TEST(CheckGradient, ChecksEveryBlock) {
  const GradientBlock blocks[] = {{.rows = 0, .columns = 9},
                                  {.rows = 2, .columns = 3, .output = nullptr}};
  EXPECT_EQ(gradient_refusal([&](auto& a) { a.blocks = blocks; }),
            "blocks[1].output is null; allowed only when rows or columns is 0");
}

std::string block_refusal(const GradientBlock& block) {
  return refusal_of([&] { checked(block, 3); });
}

TEST(CheckGradientBlock, FillsInContiguousStrides) {
  const GradientBlock block = checked({.rows = 2, .columns = 3, .output = kMemory}, 0);
  EXPECT_EQ(block.output_row_stride, 3);
  EXPECT_EQ(block.noise_row_stride, 3);
}

TEST(CheckGradientBlock, RefusesNamingTheBlock) {
  EXPECT_EQ(block_refusal({.rows = -1}), "blocks[3].rows is -1; it must be at least 0");
  EXPECT_EQ(block_refusal({.columns = -2}), "blocks[3].columns is -2; it must be at least 0");
  EXPECT_EQ(block_refusal({.rows = 2, .columns = 3, .output = kMemory, .output_row_stride = 2}),
            "blocks[3].output_row_stride is 2; it must be at least columns = 3, or 0 for "
            "contiguous");
  EXPECT_EQ(block_refusal({.rows = 2, .columns = 3, .output = kMemory, .noise_row_stride = 1}),
            "blocks[3].noise_row_stride is 1; it must be at least columns = 3, or 0 for "
            "contiguous");
  EXPECT_EQ(block_refusal({.offset = -5, .rows = 1, .columns = 1, .output = kMemory}),
            "blocks[3].offset is -5; it must be at least 0");
  EXPECT_EQ(block_refusal({.offset = kLast - 5, .rows = 2, .columns = 3, .output = kMemory}), "");
  EXPECT_EQ(block_refusal({.offset = kLast - 4, .rows = 2, .columns = 3, .output = kMemory}),
            "blocks[3].offset is 9223372036854775803; the last noise element would be "
            "9223372036854775808, and must be at most 2^63 - 1");
}

std::string metric_refusal(const std::function<void(ReduceMetricArguments&)>& change,
                           ReduceMetric problem = {}) {
  ReduceMetricArguments arguments;
  arguments.center = kMemory;
  arguments.seeds = kSeeds;
  arguments.metric = memory(3);
  arguments.pop = 2;
  arguments.params = 10;
  change(arguments);
  return refusal_of([&] { checked(problem, arguments); });
}

TEST(CheckReduceMetric, Refuses) {
  EXPECT_EQ(metric_refusal([](auto&) {}), "");
  EXPECT_EQ(metric_refusal([](auto& a) { a.pop = -1; }), "pop is -1; it must be at least 0");
  EXPECT_EQ(metric_refusal([](auto& a) { a.pop = 1; }, {.noise = {.antithetic = true}}),
            "pop is 1; it must be even with antithetic noise, which pairs individuals");
  EXPECT_EQ(metric_refusal([](auto& a) { a.params = -1; }), "params is -1; it must be at least 0");
  EXPECT_EQ(metric_refusal([](auto& a) { a.seeds = nullptr; }),
            "seeds is null; allowed only when pop is 0");
  EXPECT_EQ(metric_refusal([](auto& a) { a.center = nullptr; }),
            "center is null; allowed only when pop or params is 0");
  EXPECT_EQ(metric_refusal([](auto& a) { a.metric = nullptr; }),
            "metric is null; allowed only when pop is 0");
  EXPECT_EQ(metric_refusal([](auto& a) { a.sigma = tests::kNaN; }),
            "sigma is nan; it must be finite");
  EXPECT_EQ(metric_refusal([](auto& a) { a.offset = -1; }), "offset is -1; it must be at least 0");
  EXPECT_EQ(metric_refusal([](auto& a) { a.offset = kLast - 9; }), "");
  EXPECT_EQ(metric_refusal([](auto& a) { a.offset = kLast - 8; }),
            "offset is 9223372036854775799; the last noise element would be 9223372036854775808, "
            "and must be at most 2^63 - 1");
}

TEST(CheckReduceMetric, TakesNullPointersWhereNothingIsReadOrWritten) {
  EXPECT_EQ(metric_refusal([](auto& a) { a = {}; }), "");
  EXPECT_EQ(metric_refusal([](auto& a) {
              a.params = 0;
              a.center = nullptr;
            }),
            "");
}

}  // namespace
}  // namespace vnjit
