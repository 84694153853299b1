#pragma once

#include <span>
#include <string_view>

namespace es_digits {

enum class Activation { gelu, relu };

std::string_view to_string(Activation activation);

/// Replaces every value by its activation.
void activate(Activation activation, std::span<float> values);

}  // namespace es_digits
