#pragma once

#include "tensor/instruction.cuh"
#include "tensor/rows.cuh"
#include "tensor/shared_memory.cuh"

namespace vnjit {

/// Products of a warp's 16 outputs with kBlockBatch rows of X by mma.sync.
class Product {
 public:
  using Sums =
      Operand::Sum[kBlockBatch / 2];  // of 16 x kBlockBatch, fragments of m16n8 one after another

  /// sums += fragments · x^T.
  __device__ __forceinline__ static void multiply(Sums& sums, unsigned (&fragments)[16],
                                                  const unsigned char* x) {
#pragma unroll
    for (int half = 0; half < 2; ++half) {
#pragma unroll
      for (int n = 0; n < kBlockBatch / 8; ++n) {
        unsigned inputs[4];
        load_inputs(inputs, x, n, half);
        mma(&sums[4 * n], &fragments[8 * half], inputs);
        mma(&sums[4 * n], &fragments[8 * half + 4], inputs + 2);
      }
    }
  }

  /// sums += weight · x^T for the warp's rows of a weight tile.
  __device__ __forceinline__ static void multiply_weight(Sums& sums, const unsigned char* weight,
                                                         const unsigned char* x) {
    unsigned fragments[16];
    load_weights(fragments, weight);
    multiply(sums, fragments, x);
  }

  template <typename... Values>
  __device__ __forceinline__ static void finish(Values&...) {}  // over as they are begun

 private:
  /// Two 8-row fragments of X, of steps 2 * half and 2 * half + 1: lane l gives the address of row
  /// l % 8 of 16-byte piece 4 * half + l / 8.
  __device__ __forceinline__ static void load_inputs(unsigned (&inputs)[4], const unsigned char* x,
                                                     int n, int half) {
    const int lane = static_cast<int>(threadIdx.x) & 31;
    const int row = lane & 7;
    const int piece = 4 * half + (lane >> 3);
    load_matrices(inputs, x + (8 * n + row) * kRowBytes + ((piece ^ row) << 4));
  }

  /// Fragments of the warp's 16 rows: rows 0-7 and 8-15 of pieces 2q and 2q + 1.
  __device__ __forceinline__ static void load_weights(unsigned (&fragments)[16],
                                                      const unsigned char* weight) {
    const int lane = static_cast<int>(threadIdx.x) & 31;
    const int row = group_first_row() + fragment_row(lane & 15);
#pragma unroll
    for (int q = 0; q < 4; ++q) {
      unsigned matrices[4];
      const int piece = 2 * q + (lane >> 4);
      load_matrices(matrices, weight + row * kRowBytes + ((piece ^ (row & 7)) << 4));
#pragma unroll
      for (int n = 0; n < 4; ++n) fragments[4 * q + n] = matrices[n];
    }
  }

  __device__ __forceinline__ static void load_matrices(unsigned (&matrices)[4],
                                                       const unsigned char* row) {
    asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];"
                 : "=r"(matrices[0]), "=r"(matrices[1]), "=r"(matrices[2]), "=r"(matrices[3])
                 : "r"(static_cast<unsigned>(__cvta_generic_to_shared(row)))
                 : "memory");
  }
};

}  // namespace vnjit
