#include "vnjit/runtime/gpu/partial_sums.hpp"

#include <bit>

#include "vnjit/runtime/gpu/call_driver.hpp"
#include "vnjit/runtime/gpu/linear_access.hpp"

namespace vnjit {
namespace {

constexpr std::int64_t kAlignment = 256;
constexpr std::int64_t kCounterBytes = 4;

}  // namespace

PartialSums::PartialSums(std::int64_t groups, std::int64_t sums, std::int64_t sum_bytes)
    : counters(static_cast<std::size_t>(round_up(groups * kCounterBytes, kAlignment))) {
  constexpr std::int64_t kMost = std::int64_t{1} << 62;
  bytes = sums > kMost / sum_bytes ? static_cast<std::size_t>(kMost)
                                   : counters + static_cast<std::size_t>(sums * sum_bytes);
}

void PartialSums::clear(const GpuDevice& device, void* workspace, StreamHandle stream) const {
  if (bytes == 0) return;
  call_driver(device, "cuMemsetD32Async", [&](const Driver& driver) {
    return driver.cuMemsetD32Async(std::bit_cast<CUdeviceptr>(workspace), 0,
                                   counters / kCounterBytes, stream);
  });
}

}  // namespace vnjit
