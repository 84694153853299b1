#pragma once

#include <string>
#include <utility>

#include "vnjit/codegen/error.hpp"

namespace vnjit {

/// NVRTC refused a source. Carries its log and the source, so that nothing has to be reproduced.
class CompileError : public Error {
 public:
  CompileError(const std::string& what, std::string log, std::string source)
      : Error(what), log_(std::move(log)), source_(std::move(source)) {}
  const std::string& log() const { return log_; }
  const std::string& source() const { return source_; }

 private:
  std::string log_;
  std::string source_;
};

/// A CUDA driver call failed; `what()` holds the call and the name of its CUresult.
class CudaError : public Error {
 public:
  CudaError(const std::string& what, int result) : Error(what), result_(result) {}
  int result() const { return result_; }

 private:
  int result_;
};

/// Something the machine lacks: no driver, no NVRTC, no such GPU. `what()` says what was tried.
class Unavailable : public Error {
 public:
  using Error::Error;
};

}  // namespace vnjit
