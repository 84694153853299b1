#pragma once

namespace vnjit {

/// How a row of X was quantized: x = scale * q, q from -127 to 127.
struct alignas(8) RowScale {
  float scale;
  int sum_255;  ///< 255 * sum of q: what the bytes' mean takes away from a product
};

}  // namespace vnjit
