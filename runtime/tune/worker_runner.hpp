#pragma once

#include <chrono>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "vnjit/runtime/options.hpp"
#include "vnjit/runtime/tune/sweep.hpp"
#include "vnjit/runtime/tune/worker_process.hpp"

namespace vnjit {

/// Compiles in several worker processes and runs in another, which alone has the GPU: what crashes
/// or hangs costs one candidate and one process. A line each way:
///
///   {"do":"begin","problem":{…},"limits":{…},"device":0,"cache_dir":"…","nvrtc":"…"}  first
///   {"do":"build","config":"…"}  {"registers":…,…,"shared_bytes":…} or {"failure":"…"}
///   {"do":"check","config":"…"}  {"error":…} or {"failure":"…"}
///   {"do":"time","config":"…"}   {"seconds":…} or {"failure":"…"}
///
/// Binaries go from one to the other through the cache on disk; without one the process that runs
/// compiles again.
class WorkerRunner final : public CandidateRunner {
 public:
  struct Setup {
    std::vector<std::string> command;  ///< starts a worker
    int workers = 1;                   ///< that compile
    std::chrono::milliseconds patience{20'000};
    int device = -1;                   ///< number of the GPU; -1: nothing is run
    const Options* options = nullptr;  ///< whose cache_dir and nvrtc the workers take
  };

  WorkerRunner(const Problem& problem, const DeviceLimits& limits, Setup setup);

  void build(std::span<const Config> configs,
             const std::function<void(std::size_t index, const Build&)>& done,
             const std::function<bool()>& stop) override;
  double check(const Config& config) override;
  double time(const Config& config) override;

 private:
  std::unique_ptr<WorkerProcess> start(int device) const;
  Build build_one(std::unique_ptr<WorkerProcess>& worker, const Config& config) const;
  double measure(const char* what, const char* answer, const Config& config);

  std::string begin_;  // but for the device
  Setup setup_;
  std::unique_ptr<WorkerProcess> measuring_;
};

}  // namespace vnjit
