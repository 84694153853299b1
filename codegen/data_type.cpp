#include "vnjit/codegen/data_type.hpp"

#include <fmt/format.h>

#include "vnjit/codegen/error.hpp"

namespace vnjit {

int size_bytes(DataType type) { return type == DataType::f32 ? 4 : 2; }

std::string_view to_string(DataType type) {
  switch (type) {
    case DataType::f32:
      return "f32";
    case DataType::f16:
      return "f16";
    case DataType::bf16:
      return "bf16";
  }
  return "?";
}

DataType parse_data_type(std::string_view text) {
  for (const DataType type : {DataType::f32, DataType::f16, DataType::bf16}) {
    if (text == to_string(type)) return type;
  }
  throw InvalidArgument(fmt::format("data type '{}' is unknown; use f32, f16 or bf16", text));
}

std::string_view to_string(Precision precision) {
  switch (precision) {
    case Precision::input:
      return "input";
    case Precision::f32:
      return "f32";
    case Precision::tf32:
      return "tf32";
    case Precision::f16:
      return "f16";
    case Precision::bf16:
      return "bf16";
    case Precision::int8:
      return "int8";
  }
  return "?";
}

Precision parse_precision(std::string_view text) {
  for (const Precision precision : {Precision::input, Precision::f32, Precision::tf32,
                                    Precision::f16, Precision::bf16, Precision::int8}) {
    if (text == to_string(precision)) return precision;
  }
  throw InvalidArgument(
      fmt::format("precision '{}' is unknown; use input, f32, tf32, f16, bf16 or int8", text));
}

}  // namespace vnjit
