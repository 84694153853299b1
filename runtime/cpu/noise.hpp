#pragma once

#include <cstdint>

#include "vnjit/codegen/noise_spec.hpp"

namespace vnjit {

/// values[n] = noise of element offset + n, for n < count, on the calling thread: the bits of
/// templates/noise. Any offset and count. The antithetic sign is the caller's.
void fill_noise(const NoiseSpec& noise, std::int64_t seed, std::uint64_t offset, std::int64_t count,
                float* values);

}  // namespace vnjit
