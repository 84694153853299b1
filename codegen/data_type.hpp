#pragma once

#include <string_view>

namespace vnjit {

/// Element types of inputs and outputs: IEEE binary32, IEEE binary16, bfloat16.
enum class DataType { f32, f16, bf16 };

int size_bytes(DataType type);

std::string_view to_string(DataType type);

/// Inverse of to_string; throws InvalidArgument naming the types there are.
DataType parse_data_type(std::string_view text);

/// What the operands of products may be rounded to. A kernel may always be more exact.
enum class Precision {
  input,  ///< the input's own type; f32 inputs are exact
  f32,
  tf32,
  f16,
  bf16,
  int8,
};

std::string_view to_string(Precision precision);

/// Inverse of to_string; throws InvalidArgument naming the precisions there are.
Precision parse_precision(std::string_view text);

}  // namespace vnjit
