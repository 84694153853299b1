#pragma once

#include <cstdint>

#include "vnjit/codegen/data_type.hpp"

namespace vnjit::cpu {

/// `count` elements of `data`, from element `first` on, as fp32: exact for every type. Points into
/// `data` itself where that is fp32, else to `scratch`, which has room for `count`.
const float* as_floats(DataType type, const void* data, std::int64_t first, std::int64_t count,
                       float* scratch);

/// Writes `count` floats to `data`, from element `first` on, each rounded to the nearest value of
/// the type, ties to even; what is beyond the largest becomes infinite, NaN stays NaN.
void store_floats(DataType type, const float* from, std::int64_t count, void* data,
                  std::int64_t first);

}  // namespace vnjit::cpu
