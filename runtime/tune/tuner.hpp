#pragma once

#include <filesystem>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "vnjit/runtime/runtime.hpp"
#include "vnjit/runtime/tune/sweep.hpp"
#include "vnjit/runtime/tune/tuning_record.hpp"

namespace vnjit {

struct TuneOptions {
  SweepLimits limits{};
  /// Starts a worker process, such as {"/usr/bin/vnjit", "tune-worker"}: they compile in parallel,
  /// and what crashes or hangs costs one of them. Empty: all is done in this process.
  std::vector<std::string> worker{};
  int workers = 0;           ///< compiling at once; 0: one a core, at most 16
  double hang_seconds = 20;  ///< a worker that says nothing for so long is killed
  std::function<void(const SweepProgress&)> progress{};
  std::function<bool()> stop{};  ///< asked often; true ends the sweep and keeps what was found
};

/// Sweeps the problem's candidates on a GPU; the inputs and outputs are the sweep's own. Keeps
/// nothing: records().put(record_of(result)) does. Throws InvalidArgument for a problem that does
/// not validate and for a device that is no GPU.
SweepResult tune(Runtime& runtime, const std::shared_ptr<Device>& device, const Problem& problem,
                 const TuneOptions& options = {});

/// Compiles the candidates for a device that need not be there, and runs none.
SweepResult tune_dry(Runtime& runtime, const DeviceLimits& limits, const Problem& problem,
                     const TuneOptions& options = {});

/// The record of a sweep; throws InvalidArgument when it found nothing.
TuningRecord record_of(const SweepResult& result);

}  // namespace vnjit
