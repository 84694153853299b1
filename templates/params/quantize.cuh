#pragma once

#include "params/row_scale.cuh"

namespace vnjit {

/// Run-time arguments of the kernel that quantizes X. Strides in elements.
struct QuantizeParams {
  const void* x;         ///< (rows, in)
  signed char* q;        ///< (rows, in rounded up to 128), rows of q_row_stride
  RowScale* row_scales;  ///< (rows)
  long long rows;
  long long in;
  long long x_row_stride;
  long long q_row_stride;
};

}  // namespace vnjit
