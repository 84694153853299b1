#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "golden_file.hpp"
#include "vnjit/codegen/noise_spec.hpp"
#include "vnjit/runtime/runtime.hpp"

namespace vnjit::cli {

/// Noise of a device against golden rows, to the bit.
struct NoiseCheck {
  std::int64_t values = 0;  ///< compared
  std::int64_t values_differing = 0;
  std::int64_t bits_differing = 0;
  std::string first;  ///< the first difference, in words

  bool holds() const { return bits_differing == 0; }
};

/// The noise that the device's perturbed linear operation applies: with W = 0, sigma = 1 and the
/// identity as X its result is the noise itself.
NoiseCheck check_applied_noise(const std::vector<GoldenNoise>& rows, Generator generator,
                               Runtime& runtime, const std::shared_ptr<Device>& device);

/// The noise that fill_noise writes, on the CPU.
NoiseCheck check_filled_noise(const std::vector<GoldenNoise>& rows, Generator generator);

/// The largest relative error ‖y − ref‖ / ‖ref‖ of one operation, each case's output taken whole.
struct ErrorCheck {
  double limit = 0;
  std::int64_t cases = 0;
  std::int64_t cases_beyond = 0;  ///< errors above the limit, or not a number
  double largest = 0;
  std::string where;  ///< the case it is from

  bool holds() const { return cases_beyond == 0; }
};

struct OperationChecks {
  ErrorCheck forward, weight_gradient, bias_gradient, reduce_metric;
};

/// Which of a case's two results to compare with, and so the noise.
enum class GoldenPath {
  cpu,  ///< splitmix64, at most 1e-5
  gpu,  ///< triton, at most 2e-3 for the forward, whose products were TF32, and 1e-5 for the rest
};

OperationChecks check_operations(const std::vector<GoldenOperations>& cases, GoldenPath path,
                                 Runtime& runtime, const std::shared_ptr<Device>& device);

/// Number of cases whose offsets differ; `first` says of the first how.
std::int64_t check_compute_offsets(const std::vector<GoldenOffsets>& cases, std::string& first);

}  // namespace vnjit::cli
