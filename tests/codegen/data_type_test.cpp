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

}  // namespace
}  // namespace vnjit
