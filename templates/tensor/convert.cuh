#pragma once

#include "params/convert.cuh"
#include "specialization.cuh"

namespace vnjit {

constexpr int kSharedBytes = 0;

/// Four elements of a row from `column`; 0 beyond its end.
__device__ __forceinline__ float4 load_columns(const float* row, long long column,
                                               long long columns, bool vector) {
  if (vector && column + 4 <= columns) return *reinterpret_cast<const float4*>(row + column);
  float4 values = make_float4(0.0f, 0.0f, 0.0f, 0.0f);
  if (column < columns) values.x = row[column];
  if (column + 1 < columns) values.y = row[column + 1];
  if (column + 2 < columns) values.z = row[column + 2];
  if (column + 3 < columns) values.w = row[column + 3];
  return values;
}

/// Rounds rows of fp32 to Output. The threads of the grid take pieces of eight elements in turn.
__device__ __forceinline__ void convert(const ConvertParams& params) {
  constexpr int kPiece = 8;
  const auto rows = static_cast<unsigned long long>(params.rows);
  const auto row_pieces = static_cast<unsigned long long>(params.target_row_stride) / kPiece;
  const auto pieces = static_cast<unsigned long long>(params.slices) * rows * row_pieces;
  const unsigned long long threads = static_cast<unsigned long long>(gridDim.x) * blockDim.x;
  for (unsigned long long piece =
           static_cast<unsigned long long>(blockIdx.x) * blockDim.x + threadIdx.x;
       piece < pieces; piece += threads) {
    const unsigned long long row = piece / row_pieces;
    const auto column = static_cast<long long>(piece % row_pieces * kPiece);
    const float* source = params.source +
                          static_cast<long long>(row / rows) * params.source_slice_stride +
                          static_cast<long long>(row % rows) * params.source_row_stride;
    Output* target = static_cast<Output*>(params.target) + piece * kPiece;
    const bool vector = params.vector_source;
    store4(target, load_columns(source, column, params.columns, vector));
    store4(target + kPiece / 2, load_columns(source, column + kPiece / 2, params.columns, vector));
  }
}

}  // namespace vnjit
