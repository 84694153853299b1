#pragma once

#include <cstdint>

namespace vnjit::cpu {

// The inner loops of the perturbed linear operation. A panel holds the perturbed weights of
// kPanelOut outputs and up to kPanelIn inputs, input by input: panel[k * kPanelOut + j].

constexpr int kPanelOut = 32;
constexpr int kPanelIn = 256;

/// rows[n] = weight[n] + sigma * noise[n], for n < count; rows may be the noise itself.
void perturb(const float* weight, float sigma, const float* noise, std::int64_t count, float* rows);

/// Transposes `outs` <= kPanelOut contiguous rows of `depth` floats; missing rows become zeros.
void make_panel(const float* rows, int outs, std::int64_t depth, float* panel);

/// Rows of X that multiply_panel takes at a time.
constexpr int kPanelBatch = 6;

/// y[b][j] += sum_k x[b][k] * panel[k][j] for b < batch <= kPanelBatch and j < outs <= kPanelOut,
/// k after k: each sum is the same in whatever panel and row it is made.
void multiply_panel(const float* x, std::int64_t x_row_stride, int batch, const float* panel,
                    std::int64_t depth, float* y, std::int64_t y_row_stride, int outs);

}  // namespace vnjit::cpu
