#pragma once

#include "params/quantize.cuh"
#include "specialization.cuh"

namespace vnjit {

constexpr int kSharedBytes = 0;

/// Where byte `byte` of a block of 64 quantized elements comes from: the blocks lie in the order in
/// which a call of the generator has its bytes, so that its words are matrix operands as they are.
/// In bytes 32h + 16j + 4c + n lie the elements of word 2h + j of lane c's call, n = 0 to 3.
__device__ __forceinline__ int quantized_element(int byte) {
  const int word = byte / 16;
  const int lane = byte / 4 % 4;
  return 16 * word + 2 * lane + byte % 2 + byte / 2 % 2 * 8;
}

/// Rounds each row of X to q times a scale of its own, -127 to 127, a warp a row.
__device__ __forceinline__ void quantize(const QuantizeParams& params) {
  const int lane = static_cast<int>(threadIdx.x) & 31;
  const long long warps = static_cast<long long>(gridDim.x) * (blockDim.x / 32);
  for (long long row = blockIdx.x * (blockDim.x / 32) + threadIdx.x / 32; row < params.rows;
       row += warps) {
    const Input* x = static_cast<const Input*>(params.x) + row * params.x_row_stride;
    float largest = 0.0f;
    for (long long k = lane; k < params.in; k += 32) {
      largest = fmaxf(largest, fabsf(to_float(x[k])));
    }
#pragma unroll
    for (int distance = 16; distance > 0; distance /= 2) {
      largest = fmaxf(largest, __shfl_xor_sync(~0u, largest, distance));
    }
    const float scale = largest / 127.0f;
    const float inverse = largest > 0.0f ? 127.0f / largest : 0.0f;
    unsigned* q = reinterpret_cast<unsigned*>(params.q + row * params.q_row_stride);
    int sum = 0;
    for (long long word = lane; word < params.q_row_stride / 4; word += 32) {
      unsigned packed = 0;
#pragma unroll
      for (int n = 0; n < 4; ++n) {
        const long long byte = word * 4 + n;
        const long long k = byte / 64 * 64 + quantized_element(static_cast<int>(byte % 64));
        int value = 0;
        if (k < params.in) value = __float2int_rn(to_float(x[k]) * inverse);
        sum += value;
        packed |= (static_cast<unsigned>(value) & 255u) << (8 * n);
      }
      q[word] = packed;
    }
#pragma unroll
    for (int distance = 16; distance > 0; distance /= 2) {
      sum += __shfl_xor_sync(~0u, sum, distance);
    }
    if (lane == 0) params.row_scales[row] = {scale, 255 * sum};
  }
}

}  // namespace vnjit
