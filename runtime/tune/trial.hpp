#pragma once

#include <cstdint>
#include <memory>
#include <optional>

#include "vnjit/codegen/config.hpp"
#include "vnjit/runtime/plan.hpp"

namespace vnjit {

class TrialCase;

/// A problem of its sizes on a device, with random inputs and outputs of its own: what tells
/// whether a plan of that problem is right, and how fast it is. Of a gradient: one block of
/// rows x columns. Not thread-safe.
class Trial {
 public:
  /// Inputs are drawn from `seed`: the same on every device. Throws InvalidArgument for a problem
  /// without elements to look at; CudaError or std::bad_alloc where there is no room.
  Trial(const Problem& problem, std::shared_ptr<Device> device, std::uint64_t seed = 1);
  ~Trial();

  /// Runs the plan over outputs full of NaN and returns the relative error (Frobenius) of sampled
  /// elements, the first and the last among them, against sums in float64. Throws Error for an
  /// element left unwritten or NaN, an error beyond `tolerance`, and a sum of integers (gradients
  /// with philox:uniform8 or rademacher) in other bits than the plan checked first; and what
  /// Plan::run throws.
  double check(const Plan& plan, double tolerance);

  /// Seconds of a run, the median of samples that take `seconds` together: device time between
  /// events, or the host's clock on the CPU. Workspace is allocated before; what an update changes
  /// goes on changing. Throws what Plan::run does.
  double time(const Plan& plan, double seconds);

 private:
  std::shared_ptr<Device> device_;
  std::unique_ptr<TrialCase> case_;
  std::optional<std::uint64_t> bits_;  // hash of the first exact output
};

/// The largest error that check() allows by default for a kernel of this problem: what its sums
/// and the types of its operands and output round away. `fused`: of Config.
double trial_tolerance(const Problem& problem, bool fused);

}  // namespace vnjit
