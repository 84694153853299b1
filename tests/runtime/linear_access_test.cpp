#include "vnjit/runtime/gpu/linear_access.hpp"

#include <gtest/gtest.h>

#include <limits>

namespace vnjit {
namespace {

const void* at(std::uintptr_t address) { return reinterpret_cast<const void*>(address); }

/// Contiguous, aligned buffers of pop = 4, batch = 8, in = 64, out = 32.
PerturbedLinearArguments arguments() {
  PerturbedLinearArguments result;
  result.x = result.weight = at(256);
  result.y = const_cast<void*>(at(512));
  result.pop = 4;
  result.batch = 8;
  result.in = result.x_row_stride = result.weight_row_stride = result.noise_row_stride = 64;
  result.out = result.y_row_stride = 32;
  result.y_individual_stride = 8 * 32;
  return result;
}

const PerturbedLinear kShared{.input = DataType::f16, .pop = 4, .batch = 8, .in = 64, .out = 32};

PerturbedLinear individual() {
  PerturbedLinear problem = kShared;
  problem.layout = InputLayout::individual;
  return problem;
}

Access access_after(void (*change)(PerturbedLinearArguments&), PerturbedLinear problem = kShared,
                    std::int64_t operand_bytes = 2) {
  PerturbedLinearArguments given = arguments();
  change(given);
  return access_of(problem, given, operand_bytes, 1);
}

TEST(LinearAccess, ContiguousBuffersHaveContiguousAccess) {
  const auto unchanged = [](PerturbedLinearArguments&) {};
  EXPECT_EQ(access_after(unchanged), contiguous_access(kShared));
  EXPECT_EQ(to_string(access_after(unchanged)), "rows16+noise64+index32+counter32");
}

TEST(LinearAccess, RowsStartAndEndOn16Bytes) {
  EXPECT_FALSE(access_after([](auto& a) { a.x = at(264); }).vector_rows);
  EXPECT_FALSE(access_after([](auto& a) { a.weight = at(264); }).vector_rows);
  EXPECT_FALSE(access_after([](auto& a) { a.in = 60; }).vector_rows);
  EXPECT_FALSE(access_after([](auto& a) { a.x_row_stride = 68; }).vector_rows);
  EXPECT_FALSE(access_after([](auto& a) { a.weight_row_stride = 68; }).vector_rows);
  EXPECT_TRUE(access_after([](auto& a) { a.x_row_stride = a.weight_row_stride = 72; }).vector_rows);
  EXPECT_TRUE(access_after([](auto& a) { a.x = a.weight = nullptr; }).vector_rows);
}

TEST(LinearAccess, A16BytePieceHasFourElementsOf4Bytes) {
  const auto strides_of_68 = [](PerturbedLinearArguments& a) {
    a.x_row_stride = a.weight_row_stride = 68;
  };
  EXPECT_TRUE(access_after(strides_of_68, kShared, 4).vector_rows);
  EXPECT_FALSE(access_after(strides_of_68, kShared, 2).vector_rows);
}

TEST(LinearAccess, OnlyAnIndividualXHasAnIndividualStride) {
  const auto odd = [](PerturbedLinearArguments& a) { a.x_individual_stride = 8 * 64 + 4; };
  EXPECT_TRUE(access_after(odd).vector_rows);
  EXPECT_FALSE(access_after(odd, individual()).vector_rows);
}

TEST(LinearAccess, NoiseRowsAreAlignedAsOffsetAndStrideAre) {
  const auto alignment = [](std::int64_t offset, std::int64_t row_stride) {
    PerturbedLinearArguments given = arguments();
    given.offset = offset;
    given.noise_row_stride = row_stride;
    return access_of(kShared, given, 2, 1).noise_alignment;
  };
  EXPECT_EQ(alignment(128, 64), 64);
  EXPECT_EQ(alignment(128, 784), 16);
  EXPECT_EQ(alignment(48, 64), 16);
  EXPECT_EQ(alignment(8, 64), 1);
  EXPECT_EQ(alignment(0, 100), 1);
}

TEST(LinearAccess, AnyIndexBeyondTheNarrowOnesIsWide) {
  EXPECT_TRUE(access_after([](auto& a) { a.x_row_stride = kMaxNarrowIndex / 7; }).wide_index);
  EXPECT_FALSE(access_after([](auto& a) { a.x_row_stride = kMaxNarrowIndex / 7 - 64; }).wide_index);
  EXPECT_TRUE(access_after([](auto& a) { a.weight_row_stride = kMaxNarrowIndex / 31; }).wide_index);
  EXPECT_TRUE(
      access_after([](auto& a) { a.y_individual_stride = kMaxNarrowIndex / 3; }).wide_index);
  const auto far_inputs = [](PerturbedLinearArguments& a) {
    a.x_individual_stride = kMaxNarrowIndex / 3;
  };
  EXPECT_FALSE(access_after(far_inputs).wide_index);
  EXPECT_TRUE(access_after(far_inputs, individual()).wide_index);
  EXPECT_FALSE(access_of(kShared, arguments(), 2, kMaxNarrowIndex).wide_index);
  EXPECT_TRUE(access_of(kShared, arguments(), 2, kMaxNarrowIndex + 1).wide_index);
}

TEST(LinearAccess, RowsOfTheBaseProductArePadded) {
  const auto one_output = [](PerturbedLinearArguments& a) {
    a.pop = a.out = a.y_row_stride = 1;
    a.in = a.x_row_stride = a.weight_row_stride = 1;
    a.batch = a.y_individual_stride = kMaxNarrowIndex / 2;
  };
  EXPECT_TRUE(access_after(one_output).wide_index);
}

TEST(LinearAccess, WhatOverflowsIsWide) {
  const Access access = access_after([](auto& a) {
    a.noise_row_stride = a.y_individual_stride = std::numeric_limits<std::int64_t>::max() / 64;
  });
  EXPECT_TRUE(access.wide_index);
  EXPECT_TRUE(access.wide_counter);
}

TEST(LinearAccess, CountersAreNarrowUpToTheLastRowOfATile) {
  constexpr std::int64_t kTail = (32 + 255) * 64 + 64 + 64;
  const auto wide = [](const NoiseSpec& noise, std::int64_t offset) {
    PerturbedLinear problem = kShared;
    problem.noise = noise;
    PerturbedLinearArguments given = arguments();
    given.offset = offset;
    return access_of(problem, given, 2, 1).wide_counter;
  };
  const NoiseSpec triton{.generator = Generator::triton, .distribution = Distribution::uniform};
  EXPECT_FALSE(wide(triton, (std::int64_t{1} << 32) - kTail));
  EXPECT_TRUE(wide(triton, (std::int64_t{1} << 32) - kTail + 1));
  EXPECT_FALSE(wide(NoiseSpec{}, (std::int64_t{1} << 36) - kTail));
  EXPECT_TRUE(wide(NoiseSpec{}, (std::int64_t{1} << 36) - kTail + 1));
}

TEST(LinearAccess, SimtUsesWholeNoiseBlocksAndAnyCounter) {
  EXPECT_EQ(to_string(used_by_simt(parse_access("rows16+noise16+index32+counter32"))),
            "rows16+index32");
  EXPECT_EQ(to_string(used_by_simt(parse_access("noise64"))), "noise64");
}

TEST(LinearAccess, YIsAVectorOfFourOfItsOwnType) {
  const auto vector = [](std::uintptr_t y, std::int64_t row_stride, std::int64_t individual_stride,
                         DataType output) {
    PerturbedLinear problem = kShared;
    problem.output = output;
    PerturbedLinearArguments given = arguments();
    given.y = const_cast<void*>(at(y));
    given.y_row_stride = row_stride;
    given.y_individual_stride = individual_stride;
    return has_vector_y(problem, given);
  };
  EXPECT_TRUE(vector(512, 32, 256, DataType::f32));
  EXPECT_FALSE(vector(520, 32, 256, DataType::f32));
  EXPECT_TRUE(vector(520, 32, 256, DataType::f16));
  EXPECT_FALSE(vector(516, 32, 256, DataType::f16));
  EXPECT_FALSE(vector(512, 33, 264, DataType::f32));
  EXPECT_FALSE(vector(512, 32, 258, DataType::f32));
}

TEST(LinearAccess, TilesCoverTheEdges) {
  EXPECT_EQ(tiles_of({.block_out = 64, .block_batch = 8}, arguments()), 1);
  EXPECT_EQ(tiles_of({.block_out = 16, .block_batch = 16}, arguments()), 2);
  PerturbedLinearArguments odd = arguments();
  odd.batch = 9;
  odd.out = 65;
  EXPECT_EQ(tiles_of({.block_out = 64, .block_batch = 8}, odd), 4);
}

}  // namespace
}  // namespace vnjit
