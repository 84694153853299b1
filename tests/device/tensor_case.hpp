#pragma once

#include "linear_case.hpp"
#include "vnjit/codegen/tensor_config.hpp"

// What tests of the tensor core families share.

namespace vnjit::tests {

/// What rounding an operand or Y may cost, relative to the whole.
inline double rounding(Precision precision) {
  switch (precision) {
    case Precision::f16:
      return 5e-4;
    case Precision::bf16:
      return 4e-3;
    case Precision::tf32:
      return 1e-3;
    default:
      return 2e-6;
  }
}

/// Bound of a forward pass. 16-bit inputs are drawn exact, as are bytes and signs: then only sums
/// are rounded.
inline double bound_of(const PerturbedLinear& problem, bool fused = false) {
  const bool exact_noise = problem.noise.generator == Generator::philox &&
                           problem.noise.distribution != Distribution::uniform &&
                           problem.noise.distribution != Distribution::normal;
  const bool exact = !fused && problem.input != DataType::f32 && exact_noise;
  const double operands = exact ? 1e-5 : rounding(operand_precision(problem));
  if (problem.output == DataType::f32) return operands;
  return std::max(operands,
                  rounding(problem.output == DataType::f16 ? Precision::f16 : Precision::bf16));
}

/// For each tensor family; skips where the device lacks it.
class TensorOnGpu : public LinearOnGpu, public testing::WithParamInterface<Family> {
 protected:
  void SetUp() override {
    LinearOnGpu::SetUp();
    if (!device) return;
    const DeviceLimits& limits = device->limits();
    if (GetParam() == Family::wgmma ? !limits.has_wgmma() : !limits.has_async_copy()) {
      GTEST_SKIP() << limits.arch() << " has no " << to_string(GetParam());
    }
  }

  /// The config that is chosen of the family.
  Config chosen(const PerturbedLinear& problem) const {
    return choose_config(problem, device->limits(), GetParam());
  }

  /// One of the family that fits every problem here.
  Config tile(const PerturbedLinear& problem, int block_out, int block_batch,
              int stages = 2) const {
    return {.family = GetParam(),
            .block_out = block_out,
            .block_batch = block_batch,
            .block_in = step_in(problem),
            .stages = stages,
            .warps = block_out / 16};
  }
  Config fused_tile(const PerturbedLinear& problem) const {
    Config config = tile(problem, 64, 32);
    config.fused = true;
    return config;
  }

  void expect_near(const LinearCase& c) {
    expect_right(c, bound_of(c.problem, c.config && c.config->fused));
  }
};

/// Noise that is as large in the sums as inputs of draw(): an error in either shows.
inline float large_sigma(DataType input) { return input == DataType::f32 ? 2.0f : 8.0f; }

inline std::string family_name(const testing::TestParamInfo<Family>& info) {
  return std::string(to_string(info.param));
}

inline auto every_tensor_family() { return testing::Values(Family::mma_sync, Family::wgmma); }

}  // namespace vnjit::tests
