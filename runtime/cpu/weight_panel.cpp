#include "vnjit/runtime/cpu/weight_panel.hpp"

#include <algorithm>
#include <cstring>

#include "vnjit/runtime/cpu/vector_clones.hpp"

namespace vnjit::cpu {
namespace {

using Four = float __attribute__((vector_size(16)));

VNJIT_INLINE Four load(const float* from) {
  Four four;
  std::memcpy(&four, from, sizeof(four));
  return four;
}

VNJIT_INLINE void store(Four four, float* to) { std::memcpy(to, &four, sizeof(four)); }

VNJIT_INLINE void transpose_4x4(const float* rows, std::int64_t row_stride, float* panel) {
  const Four a = load(rows);
  const Four b = load(rows + row_stride);
  const Four c = load(rows + 2 * row_stride);
  const Four d = load(rows + 3 * row_stride);
  const Four ab01 = __builtin_shufflevector(a, b, 0, 4, 1, 5);
  const Four ab23 = __builtin_shufflevector(a, b, 2, 6, 3, 7);
  const Four cd01 = __builtin_shufflevector(c, d, 0, 4, 1, 5);
  const Four cd23 = __builtin_shufflevector(c, d, 2, 6, 3, 7);
  store(__builtin_shufflevector(ab01, cd01, 0, 1, 4, 5), panel);
  store(__builtin_shufflevector(ab01, cd01, 2, 3, 6, 7), panel + kPanelOut);
  store(__builtin_shufflevector(ab23, cd23, 0, 1, 4, 5), panel + 2 * kPanelOut);
  store(__builtin_shufflevector(ab23, cd23, 2, 3, 6, 7), panel + 3 * kPanelOut);
}

}  // namespace

VNJIT_VECTOR_CLONES
void perturb(const float* weight, float sigma, const float* noise, std::int64_t count,
             float* rows) {
  for (std::int64_t n = 0; n < count; ++n) rows[n] = weight[n] + sigma * noise[n];
}

void make_panel(const float* rows, int outs, std::int64_t depth, float* panel) {
  const int whole_outs = outs / 4 * 4;
  const std::int64_t whole_depth = depth / 4 * 4;
  if (outs < kPanelOut) std::fill_n(panel, depth * kPanelOut, 0.0f);
  for (std::int64_t k = 0; k < whole_depth; k += 4) {
    for (int j = 0; j < whole_outs; j += 4) {
      transpose_4x4(rows + j * depth + k, depth, panel + k * kPanelOut + j);
    }
  }
  for (int j = 0; j < outs; ++j) {
    for (std::int64_t k = j < whole_outs ? whole_depth : 0; k < depth; ++k) {
      panel[k * kPanelOut + j] = rows[j * depth + k];
    }
  }
}

// The accumulators stay in registers across the sum.
VNJIT_VECTOR_CLONES
void multiply_panel(const float* x, std::int64_t x_row_stride, int batch, const float* panel,
                    std::int64_t depth, float* y, std::int64_t y_row_stride, int outs) {
  // Rows past the batch repeat its last one, and are dropped.
  const float* rows[kPanelBatch];
  for (int b = 0; b < kPanelBatch; ++b) rows[b] = x + std::min(b, batch - 1) * x_row_stride;
  float sums[kPanelBatch][kPanelOut] = {};
  for (int b = 0; b < batch; ++b) std::copy_n(y + b * y_row_stride, outs, sums[b]);
  for (std::int64_t k = 0; k < depth; ++k) {
#pragma GCC unroll 6
    for (int b = 0; b < kPanelBatch; ++b) {
      const float input = rows[b][k];
      for (int j = 0; j < kPanelOut; ++j) sums[b][j] += input * panel[k * kPanelOut + j];
    }
  }
  for (int b = 0; b < batch; ++b) std::copy_n(sums[b], outs, y + b * y_row_stride);
}

}  // namespace vnjit::cpu
