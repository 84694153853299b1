#pragma once

#include "tensor/rows.cuh"

namespace vnjit {

/// fragments = weight + scale * fragments, rounded to the operand's type, for this warp's rows of a
/// weight tile.
__device__ __forceinline__ void fuse(unsigned (&fragments)[16], const unsigned char* weight,
                                     float scale) {
  const int lane = static_cast<int>(threadIdx.x) & 31;
#pragma unroll
  for (int n = 0; n < 16; ++n) {
    const int row = group_first_row() + fragment_row((lane >> 2) + 8 * (n & 1));
    const int piece = n / 4 * 2 + (n >> 1 & 1);
    const unsigned* word = reinterpret_cast<const unsigned*>(
        weight + row * kRowBytes + ((piece ^ (row & 7)) << 4) + 4 * (lane & 3));
    fragments[n] = Operand::perturbed(*word, fragments[n], scale);
  }
}

}  // namespace vnjit
