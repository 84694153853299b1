#pragma once

#include <string_view>

namespace vnjit {

/// Element types of inputs and outputs: IEEE binary32, IEEE binary16, bfloat16.
enum class DataType { f32, f16, bf16 };

int size_bytes(DataType type);

std::string_view to_string(DataType type);

/// Inverse of to_string; throws InvalidArgument naming the types there are.
DataType parse_data_type(std::string_view text);

}  // namespace vnjit
