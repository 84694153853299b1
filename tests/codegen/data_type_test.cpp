#include "vnjit/codegen/data_type.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "vnjit/codegen/error.hpp"

namespace vnjit {
namespace {

using testing::ThrowsMessage;

TEST(DataType, KnowsItsSizeAndName) {
  EXPECT_EQ(size_bytes(DataType::f32), 4);
  EXPECT_EQ(size_bytes(DataType::f16), 2);
  EXPECT_EQ(size_bytes(DataType::bf16), 2);
  EXPECT_EQ(to_string(DataType::f32), "f32");
  EXPECT_EQ(to_string(DataType::f16), "f16");
  EXPECT_EQ(to_string(DataType::bf16), "bf16");
}

TEST(DataType, ParsesTheNamesItPrints) {
  for (const DataType type : {DataType::f32, DataType::f16, DataType::bf16}) {
    EXPECT_EQ(parse_data_type(to_string(type)), type);
  }
}

TEST(DataType, RefusesOtherNamesSayingWhichThereAre) {
  EXPECT_THAT([] { parse_data_type("f64"); },
              ThrowsMessage<InvalidArgument>("data type 'f64' is unknown; use f32, f16 or "
                                             "bf16"));
  for (const char* text : {"", "F32", "f32 ", "fp16", "bf"}) {
    EXPECT_THROW(parse_data_type(text), InvalidArgument) << text;
  }
}

TEST(Precision, ParsesTheNamesItPrints) {
  const struct {
    Precision precision;
    const char* name;
  } cases[] = {{Precision::input, "input"}, {Precision::f32, "f32"},   {Precision::tf32, "tf32"},
               {Precision::f16, "f16"},     {Precision::bf16, "bf16"}, {Precision::int8, "int8"}};
  for (const auto& known : cases) {
    EXPECT_EQ(to_string(known.precision), known.name);
    EXPECT_EQ(parse_precision(known.name), known.precision);
  }
}

TEST(Precision, RefusesOtherNamesSayingWhichThereAre) {
  EXPECT_THAT([] { parse_precision("fp8"); },
              ThrowsMessage<InvalidArgument>(
                  "precision 'fp8' is unknown; use input, f32, tf32, f16, bf16 or int8"));
  for (const char* text : {"", "F32", "tf32 ", "int", "?"}) {
    EXPECT_THROW(parse_precision(text), InvalidArgument) << text;
  }
}

}  // namespace
}  // namespace vnjit
