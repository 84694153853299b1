#pragma once

#include "vnjit/runtime/driver.hpp"

namespace vnjit {

/// While it lives, calls of this thread that a stream capture forbids, such as loading a module or
/// allocating memory, are allowed, and leave the capture as it is: they take no part in it.
class OutsideCapture {
 public:
  explicit OutsideCapture(const Driver& driver) : driver_(driver) { exchange(); }
  ~OutsideCapture() { exchange(); }
  OutsideCapture(const OutsideCapture&) = delete;
  OutsideCapture& operator=(const OutsideCapture&) = delete;

 private:
  // Swaps the thread's mode with mode_; where that fails there is no capture to protect.
  void exchange() { driver_.cuThreadExchangeStreamCaptureMode(&mode_); }

  const Driver& driver_;
  CUstreamCaptureMode mode_ = CU_STREAM_CAPTURE_MODE_RELAXED;
};

}  // namespace vnjit
