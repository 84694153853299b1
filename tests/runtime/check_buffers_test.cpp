#include <gtest/gtest.h>

#include <limits>
#include <new>

#include "cpu_reference.hpp"
#include "vnjit/runtime/check_arguments.hpp"
#include "vnjit/runtime/cpu/backend.hpp"
#include "vnjit/runtime/cpu/noise.hpp"

namespace vnjit {
namespace {

using tests::refusal_of;

constexpr std::int64_t kLast = std::numeric_limits<std::int64_t>::max();

// Never read: where they point is all that is checked.
template <typename T>
T* at(std::uintptr_t address) {
  return reinterpret_cast<T*>(address);
}

PerturbedLinearArguments linear() {
  return {.x = at<float>(1 << 20),
          .weight = at<float>(1 << 21),
          .bias = at<float>(1 << 22),
          .seeds = at<std::int64_t>(1 << 23),
          .y = at<float>(1 << 24),
          .sigma = 0.5f,
          .pop = 2,
          .batch = 3,
          .in = 8,
          .out = 4};
}

template <typename Change>
std::string linear_refusal(const Change& change, const PerturbedLinear& problem = {}) {
  PerturbedLinearArguments arguments = linear();
  change(arguments);
  return refusal_of([&] { checked(problem, arguments); });
}

TEST(CheckBuffers, RefusesWhatCannotBeAddressed) {
  EXPECT_EQ(linear_refusal([](auto& a) { a.x_row_stride = kLast; }),
            "x reaches 18446744073709551622 elements with these sizes and strides; "
            "2305843009213693951 of 4 bytes can be addressed");
  EXPECT_EQ(linear_refusal([](auto& a) { a.weight_row_stride = kLast / 4; }),
            "weight reaches 6917529027641081861 elements with these sizes and strides; "
            "2305843009213693951 of 4 bytes can be addressed");
  EXPECT_EQ(linear_refusal([](auto& a) { a.pop = std::int64_t{1} << 60; }),
            "y reaches 13835058055282163712 elements with these sizes and strides; "
            "2305843009213693951 of 4 bytes can be addressed");
  EXPECT_EQ(refusal_of([] {
              checked(ReduceMetric{}, ReduceMetricArguments{.center = at<float>(256),
                                                            .seeds = at<std::int64_t>(512),
                                                            .metric = at<float>(256),
                                                            .pop = 1,
                                                            .params = kLast});
            }),
            "center reaches 9223372036854775807 elements with these sizes and strides; "
            "2305843009213693951 of 4 bytes can be addressed");
}

TEST(CheckBuffers, RefusesPointersOffTheirElementSize) {
  EXPECT_EQ(linear_refusal([](auto& a) { a.x = at<float>(258); }),
            "x is 0x102; it must be a multiple of its element size, 4");
  EXPECT_EQ(linear_refusal([](auto& a) { a.x = at<float>(258); }, {.input = DataType::bf16}), "");
  EXPECT_EQ(linear_refusal([](auto& a) { a.seeds = at<std::int64_t>(516); }),
            "seeds is 0x204; it must be a multiple of its element size, 8");
  EXPECT_EQ(linear_refusal([](auto& a) { a.y = at<float>(257); }),
            "y is 0x101; it must be a multiple of its element size, 4");
}

TEST(CheckBuffers, CountsTheBytesOfTheOutputsType) {
  const PerturbedLinear halves{.input = DataType::f16, .output = DataType::f16};
  EXPECT_EQ(linear_refusal([](auto& a) { a.y = at<float>(258); }, halves), "");
  EXPECT_EQ(linear_refusal([](auto& a) { a.y = at<float>(257); }, halves),
            "y is 0x101; it must be a multiple of its element size, 2");
  EXPECT_EQ(linear_refusal([](auto& a) { a.y = at<float>(258); }, {.input = DataType::f16}),
            "y is 0x102; it must be a multiple of its element size, 4");
  const auto shared = [](std::int64_t pop) { return [pop](auto& a) { a.pop = pop; }; };
  EXPECT_EQ(linear_refusal(
                [](auto& a) {
                  a.pop = kLast / 2 / 12;
                  a.seeds = at<std::int64_t>(0xA000000000000000);  // beyond all of y
                },
                halves),
            "");
  EXPECT_EQ(linear_refusal(shared(kLast / 2 / 12 + 1), halves),
            "y reaches 4611686018427387912 elements with these sizes and strides; "
            "4611686018427387903 of 2 bytes can be addressed");
}

TEST(CheckBuffers, RefusesABlockListWithoutBlocks) {
  EXPECT_EQ(refusal_of([] {
              checked(Gradient{}, GradientArguments{.fitness = at<float>(256),
                                                    .seeds = at<std::int64_t>(512),
                                                    .sigma = 1.0f,
                                                    .pop = 1,
                                                    .blocks = {at<GradientBlock>(0), 1}});
            }),
            "blocks is null; it must be given");
}

TEST(CheckBuffers, ABufferWhoseBytesDoNotFitIsNotMade) {
  const auto device = make_cpu_device(1);
  EXPECT_THROW(Buffer<float>(device, (std::size_t{1} << 62) + 1), std::bad_alloc);
}

TEST(CheckBuffers, NoiseNeedsSomewhereToGo) {
  EXPECT_EQ(refusal_of([] { fill_noise({}, 1, 0, 4, nullptr); }), "values is null; count is not 0");
  EXPECT_EQ(refusal_of([] { fill_noise({}, 1, 0, -1, nullptr); }),
            "count is -1; it must be at least 0");
}

TEST(CheckBuffers, ThreadsAreLimited) {
  EXPECT_EQ(refusal_of([] { make_cpu_device(1025); }),
            "the number of CPU threads is 1025; use 1 to 1024, or 0 for one a core");
}

}  // namespace
}  // namespace vnjit
