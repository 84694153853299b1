#pragma once

namespace vnjit {

/// Run-time arguments of a convert kernel, host and device alike. Strides in elements.
struct ConvertParams {
  const float* source;
  void* target;  ///< 16-byte aligned; all rows of all slices one after another
  long long slices;
  long long rows;  ///< of a slice
  long long columns;
  long long source_slice_stride;
  long long source_row_stride;
  long long target_row_stride;  ///< columns rounded up to a multiple of 8
  int vector_source;            ///< rows of the source can be read four elements at a time
};

}  // namespace vnjit
