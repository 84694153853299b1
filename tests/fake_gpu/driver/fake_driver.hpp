#pragma once

#include <cuda.h>

#include <algorithm>
#include <cstdint>
#include <functional>
#include <mutex>
#include <set>
#include <string>
#include <vector>

// A CUDA driver that computes nothing: it keeps account of what it is asked for, and fails where it
// is told to. Tests are linked to it under the driver's name, so the library opens it as its own.

namespace vnjit::tests {

struct FakeLaunch {
  std::uint64_t blocks = 0;
  unsigned threads = 0;
  CUstream stream = nullptr;
};

struct FakeDriver {
  std::mutex mutex;  // of all that follows

  // What was asked for.
  std::vector<std::string> calls;  ///< names, in order
  std::vector<FakeLaunch> launches;
  std::set<CUmodule> modules;  ///< loaded
  std::set<CUdeviceptr> memory;
  std::set<CUcontext> retained;
  int loads = 0;

  // What is answered.
  std::string failing;                          ///< the function that fails, if any
  CUresult failure = CUDA_ERROR_OUT_OF_MEMORY;  ///< with what
  std::set<CUstream> captured;                  ///< streams that are being captured
  bool gone = false;                            ///< as at process exit
  int gpus = 1;
  int max_grid_x = 2147483647;
  std::function<void(void** parameters)> on_launch;

  std::int64_t count(const std::string& name) const {
    return std::count(calls.begin(), calls.end(), name);
  }
};

FakeDriver& fake_driver();

/// A context that is not a primary one.
CUcontext make_fake_context();

}  // namespace vnjit::tests
