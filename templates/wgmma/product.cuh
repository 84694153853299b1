#pragma once

#include "tensor/instruction.cuh"
#include "tensor/shared_memory.cuh"

namespace vnjit {

/// Products of a group's 64 outputs with kBlockBatch rows of X by wgmma: one step of four
/// instructions, begun by multiply() and over after finish().
class Product {
 public:
  using Sums =
      Operand::Sum[kBlockBatch / 2];  // of 64 x kBlockBatch, fragments of m64n8 one after another

  /// sums += fragments · x^T.
  __device__ __forceinline__ static void multiply(Sums& sums, unsigned (&fragments)[16],
                                                  const unsigned char* x) {
    pin(sums);
    pin(fragments);
    begin();
    const unsigned long long x_tile = descriptor(x);
#pragma unroll
    for (int q = 0; q < 4; ++q) wgmma_registers(sums, &fragments[4 * q], x_tile + 2 * q);
  }

  /// sums += weight · x^T for the group's rows of a weight tile.
  __device__ __forceinline__ static void multiply_weight(Sums& sums, const unsigned char* weight,
                                                         const unsigned char* x) {
    pin(sums);
    begin();
    const unsigned long long weight_tile =
        descriptor(weight + static_cast<int>(threadIdx.x) / 128 * kGroupOut * kRowBytes);
    const unsigned long long x_tile = descriptor(x);
#pragma unroll
    for (int q = 0; q < 4; ++q) wgmma_shared(sums, weight_tile + 2 * q, x_tile + 2 * q);
  }

  /// Waits for the products begun, which read or write `values`.
  template <typename... Values>
  __device__ __forceinline__ static void finish(Values&... values) {
    asm volatile("wgmma.commit_group.sync.aligned;" ::: "memory");
    asm volatile("wgmma.wait_group.sync.aligned 0;" ::: "memory");
    (pin(values), ...);
  }

 private:
  /// Keeps the compiler from moving values across a product in flight.
  template <typename T, int kCount>
  __device__ __forceinline__ static void pin(T (&values)[kCount]) {
#pragma unroll
    for (int n = 0; n < kCount; ++n) pin(values[n]);
  }

  __device__ __forceinline__ static void pin(float& value) {
    asm volatile("" : "+f"(value)::"memory");
  }
  __device__ __forceinline__ static void pin(int& value) {
    asm volatile("" : "+r"(value)::"memory");
  }
  __device__ __forceinline__ static void pin(unsigned& value) {
    asm volatile("" : "+r"(value)::"memory");
  }

  __device__ __forceinline__ static void begin() {
    asm volatile("wgmma.fence.sync.aligned;" ::: "memory");
  }

  /// Of a tile of 128-byte rows with 128-byte swizzle, groups of eight rows 1024 bytes apart.
  __device__ __forceinline__ static unsigned long long descriptor(const unsigned char* tile) {
    const auto address = static_cast<unsigned>(__cvta_generic_to_shared(tile));
    return (1ull << 62) | (64ull << 32) | (1ull << 16) | ((address & 0x3FFFF) >> 4);
  }
};

}  // namespace vnjit
