#pragma once

#include <cuda.h>

#include "vnjit/runtime/device.hpp"
#include "vnjit/runtime/driver.hpp"

namespace vnjit::tests {

/// What `launch` does in a stream, captured in a CUDA graph without being run.
class CapturedGraph {
 public:
  template <typename Launch>
  CapturedGraph(StreamHandle stream, const Launch& launch) {
    const auto begin = function<decltype(&::cuStreamBeginCapture)>("cuStreamBeginCapture_v2");
    const auto end = function<decltype(&::cuStreamEndCapture)>("cuStreamEndCapture");
    const auto instantiate =
        function<decltype(&::cuGraphInstantiateWithFlags)>("cuGraphInstantiateWithFlags");
    driver_.check(begin(stream, CU_STREAM_CAPTURE_MODE_GLOBAL), "cuStreamBeginCapture");
    launch();
    driver_.check(end(stream, &graph_), "cuStreamEndCapture");
    driver_.check(instantiate(&executable_, graph_, 0), "cuGraphInstantiateWithFlags");
  }
  ~CapturedGraph() {
    function<decltype(&::cuGraphExecDestroy)>("cuGraphExecDestroy")(executable_);
    function<decltype(&::cuGraphDestroy)>("cuGraphDestroy")(graph_);
  }
  CapturedGraph(const CapturedGraph&) = delete;
  CapturedGraph& operator=(const CapturedGraph&) = delete;

  void replay(StreamHandle stream) const {
    const auto launch = function<decltype(&::cuGraphLaunch)>("cuGraphLaunch");
    driver_.check(launch(executable_, stream), "cuGraphLaunch");
    driver_.check(driver_.cuStreamSynchronize(stream), "cuStreamSynchronize");
  }

 private:
  template <typename F>
  F function(const char* name) const {
    return library_.function<F>(name);
  }

  Driver driver_;
  SharedLibrary library_{driver_.path()};
  CUgraph graph_ = nullptr;
  CUgraphExec executable_ = nullptr;
};

}  // namespace vnjit::tests
