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

}  // namespace vnjit
