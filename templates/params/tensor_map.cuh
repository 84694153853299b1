#pragma once

namespace vnjit {

/// What the driver's CUtensorMap is to a kernel: 128 bytes that describe a matrix to the copy
/// engine.
struct alignas(64) TensorMap {
  unsigned char bytes[128];
};

}  // namespace vnjit
