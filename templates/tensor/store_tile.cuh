#pragma once

#include "specialization.cuh"
#include "tensor/rows.cuh"
#include "tensor/shared_memory.cuh"

namespace vnjit {

__device__ __forceinline__ void sync_group() {
  asm volatile("bar.sync %0, 128;" ::"r"(1 + group_of_thread()) : "memory");
}

/// Where a group's tile of Y goes: batch rows of outputs.
struct TileTarget {
  Output* y;          ///< of the group's first output and the first batch row
  const float* base;  ///< likewise, of what is added
  Index y_row_stride;
  Index base_row_stride;
  Index rows;     ///< batch rows inside Y, from the first
  Index columns;  ///< outputs inside Y, from the first
  bool vector;    ///< rows of y are aligned for four outputs at a time
};

constexpr int kStoreItems = kStagingRows * (kGroupOut / 4) / 128;  ///< float4 a thread and part

/// Item `item` of a thread in part `part`: a batch row and four outputs.
struct StoreItem {
  __device__ __forceinline__ StoreItem(int part, int item) {
    const int index = item * 128 + static_cast<int>(threadIdx.x) % 128;
    row = index / (kGroupOut / 4);
    batch = part * kStagingRows + row;
    column = index % (kGroupOut / 4) * 4;
  }

  int row;    ///< of the part
  int batch;  ///< of the tile
  int column;
};

/// What is added to the items of a part; loaded ahead, for it comes from device memory.
__device__ __forceinline__ void load_base(float4 (&base)[kStoreItems], const TileTarget& target,
                                          int part) {
#pragma unroll
  for (int n = 0; n < kStoreItems; ++n) {
    const StoreItem item(part, n);
    base[n] = make_float4(0.0f, 0.0f, 0.0f, 0.0f);
    if (item.batch >= target.rows || item.column >= target.columns) continue;
    const float* from = target.base + item.batch * target.base_row_stride + item.column;
    base[n] = *reinterpret_cast<const float4*>(from);  // rows of base are whole pieces of four
  }
}

/// Writes a part of the tile four outputs at a time.
__device__ __forceinline__ void store_vectors(const float* staging,
                                              const float4 (&base)[kStoreItems], const float* shift,
                                              const TileTarget& target, int part) {
#pragma unroll
  for (int n = 0; n < kStoreItems; ++n) {
    const StoreItem item(part, n);
    if (item.batch >= target.rows || item.column >= target.columns) continue;
    float4 value =
        *reinterpret_cast<const float4*>(&staging[item.row * kStagingStride + item.column]);
    //@if has_base
    value = make_float4(value.x + base[n].x, value.y + base[n].y, value.z + base[n].z,
                        value.w + base[n].w);
    //@endif
    //@if has_bias
    const float4 added = *reinterpret_cast<const float4*>(&shift[item.column]);
    value = make_float4(value.x + added.x, value.y + added.y, value.z + added.z, value.w + added.w);
    //@endif
    Output* y = target.y + item.batch * target.y_row_stride + item.column;
    if (item.column + 4 <= target.columns) {
      store4(y, value);
    } else {
      const float values[4] = {value.x, value.y, value.z, value.w};
#pragma unroll
      for (int v = 0; v < 3; ++v) {
        if (item.column + v < target.columns) store1(y + v, values[v]);
      }
    }
  }
}

/// Writes a part of the tile where rows of Y start anywhere: an output a thread, 64 in a row.
__device__ __forceinline__ void store_elements(const float* staging, const float* shift,
                                               const TileTarget& target, int part) {
#pragma unroll 4
  for (int index = static_cast<int>(threadIdx.x) % 128; index < kStagingRows * kGroupOut;
       index += 128) {
    const int row = index / kGroupOut;
    const int column = index % kGroupOut;
    const Index batch = part * kStagingRows + row;
    if (batch >= target.rows || column >= target.columns) continue;
    float value = staging[row * kStagingStride + column];
    //@if has_base
    value += target.base[batch * target.base_row_stride + column];
    //@endif
    //@if has_bias
    value += shift[column];
    //@endif
    store1(target.y + batch * target.y_row_stride + column, value);
  }
}

/// scale * sum of a batch row, as fp32.
template <typename Sum>
__device__ __forceinline__ float scaled(Sum sum, float scale, const RowScale* row) {
  float result = scale * static_cast<float>(sum);
  //@if quantized
  result = scale * row->scale * static_cast<float>(2 * sum - row->sum_255);
  //@endif
  return result;
}

/// y[b][j] = base[b][j] + shift[j] + scale * sums. Fragments pass through shared memory, so that
/// whole rows are written: straight from the fragments they would be pieces of 32 bytes.
template <typename Sum>
__device__ __forceinline__ void store_tile(const Sum (&sums)[kBlockBatch / 2], float scale,
                                           const RowScale* row_scales, float* staging,
                                           const float* shift, const TileTarget& target) {
  const int lane = static_cast<int>(threadIdx.x) & 31;
  const int first_row = fragment_row(lane >> 2);
  const int second_row = fragment_row((lane >> 2) + 8);
  constexpr int kParts = kBlockBatch / kStagingRows;
  float4 base[kStoreItems] = {};
  //@if has_base
  load_base(base, target, 0);
  //@endif
#pragma unroll
  for (int part = 0; part < kParts; ++part) {
    sync_group();
#pragma unroll
    for (int n = 0; n < kStagingRows / 8; ++n) {
      const Sum* fragment = &sums[4 * (part * kStagingRows / 8 + n)];
      const int batch = 8 * n + 2 * (lane & 3);
      const RowScale* scales = row_scales + part * kStagingRows + batch;
      float* row = staging + batch * kStagingStride;
      row[first_row] = scaled(fragment[0], scale, scales);
      row[first_row + kStagingStride] = scaled(fragment[1], scale, scales + 1);
      row[second_row] = scaled(fragment[2], scale, scales);
      row[second_row + kStagingStride] = scaled(fragment[3], scale, scales + 1);
    }
    sync_group();
    if (target.vector) {
      store_vectors(staging, base, shift, target, part);
    } else {
      store_elements(staging, shift, target, part);
    }
    //@if has_base
    if (part + 1 < kParts) load_base(base, target, part + 1);
    //@endif
  }
}

}  // namespace vnjit
