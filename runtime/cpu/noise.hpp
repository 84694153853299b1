#pragma once

#include <cstdint>

#include "vnjit/codegen/noise_spec.hpp"

namespace vnjit {

/// values[n] = noise of element offset + n, for n < count, on the calling thread: the bits of
/// templates/noise. Any offset; elements are numbered modulo 2^64. The antithetic sign is the
/// caller's. Throws InvalidArgument for a negative count, null values, or an undefined noise.
void fill_noise(const NoiseSpec& noise, std::int64_t seed, std::uint64_t offset, std::int64_t count,
                float* values);

}  // namespace vnjit
