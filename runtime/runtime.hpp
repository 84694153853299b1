#pragma once

#include <memory>
#include <optional>
#include <string>

#include "vnjit/codegen/emit.hpp"
#include "vnjit/runtime/binary.hpp"
#include "vnjit/runtime/device.hpp"
#include "vnjit/runtime/options.hpp"
#include "vnjit/runtime/plan.hpp"
#include "vnjit/runtime/plan_request.hpp"
#include "vnjit/runtime/tune/record_store.hpp"

namespace vnjit {

/// The entry to the library: owns the libraries opened at run time, the compiler and the caches.
/// Thread-safe. Nothing is opened, read or written before it is needed. Devices and plans keep
/// alive what they use, so they may outlive the Runtime.
class Runtime {
 public:
  explicit Runtime(Options options = Options::from_environment());
  ~Runtime();
  Runtime(const Runtime&) = delete;
  Runtime& operator=(const Runtime&) = delete;

  const Options& options() const;

  /// The CPU backend. Always there.
  std::shared_ptr<Device> cpu();

  /// GPU `ordinal`, in the context that is current on this thread if it is of that GPU, else in
  /// the GPU's primary context, which becomes current. Throws Unavailable saying what was tried.
  std::shared_ptr<Device> gpu(int ordinal = 0);

  /// gpu(0) where there is one, else cpu().
  std::shared_ptr<Device> best_device();

  /// Number of GPUs; 0 where the driver is missing or fails, and `why` (if given) says so.
  int gpu_count(std::string* why = nullptr);

  /// The plan for a problem, with the given config, else that of a tuning record of this kind of
  /// device for these sizes or near ones, else the one the library chooses. The same
  /// problem, device and config give the same plan while it is cached. Throws InvalidArgument,
  /// ConfigError, CompileError, CudaError, Unavailable.
  std::shared_ptr<const Plan> plan(const Problem& problem, const std::shared_ptr<Device>& device,
                                   const std::optional<Config>& config = std::nullopt);

  /// Returns at once: the plan is made on a thread of the Runtime's, and can be asked for or waited
  /// for. Throws InvalidArgument for a problem that is none; whatever else plan() throws, get() of
  /// the request does. plan() of the same then waits for it too, or makes it sooner.
  PlanRequest plan_async(const Problem& problem, const std::shared_ptr<Device>& device,
                         const std::optional<Config>& config = std::nullopt);

  /// The tuning records that plans are made by; Tuner adds to them.
  RecordStore& records();

  /// Source to binary, through the disk cache. Needs no GPU.
  Compiled compile(const KernelSource& source);

  /// Identity of the NVRTC that compile() uses, which is part of every cache key. Reads it from the
  /// library's file without loading it. Throws Unavailable.
  std::string nvrtc_identity();

  /// Source to PTX text, not cached. Needs no GPU.
  std::string compile_to_ptx(const KernelSource& source);

  /// One line each: the driver, NVRTC and the devices found or why not, from which files, and the
  /// limits used.
  std::string describe();

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace vnjit
