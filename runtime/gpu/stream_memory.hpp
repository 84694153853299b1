#pragma once

#include <cstddef>

#include "vnjit/runtime/arguments.hpp"
#include "vnjit/runtime/gpu/device.hpp"

namespace vnjit {

/// The workspace of one run: what the caller gave, or memory allocated and freed in the order of
/// the stream.
class StreamMemory {
 public:
  /// Throws InvalidArgument when `given` is too small or misaligned, or when none is given and the
  /// driver cannot allocate in a stream; CudaError when it has no such memory.
  StreamMemory(const GpuDevice& device, const Workspace& given, std::size_t bytes,
               StreamHandle stream);
  ~StreamMemory();
  StreamMemory(const StreamMemory&) = delete;
  StreamMemory& operator=(const StreamMemory&) = delete;

  /// Null where no bytes are needed.
  std::byte* data() const { return static_cast<std::byte*>(data_); }

 private:
  void allocate(std::size_t bytes);

  const GpuDevice& device_;
  StreamHandle stream_;
  void* data_ = nullptr;
  bool owned_ = false;
};

}  // namespace vnjit
