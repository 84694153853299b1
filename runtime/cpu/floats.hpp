#pragma once

#include <cstdint>

#include "vnjit/codegen/data_type.hpp"

namespace vnjit::cpu {

/// `count` elements of `data`, from element `first` on, as fp32: exact for every type. Points into
/// `data` itself where that is fp32, else to `scratch`, which has room for `count`.
const float* as_floats(DataType type, const void* data, std::int64_t first, std::int64_t count,
                       float* scratch);

}  // namespace vnjit::cpu
