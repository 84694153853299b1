#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <random>
#include <vector>

#include "vnjit/codegen/data_type.hpp"
#include "vnjit/codegen/noise_spec.hpp"
#include "vnjit/runtime/device.hpp"

// Where a Trial's numbers come from.

namespace vnjit {

/// Normal numbers of mean 0, rounded to a type, on the device and known to the host. They repeat
/// after a prime number of elements, so that no stride of a problem leads from one to its like.
class TrialValues {
 public:
  TrialValues(const std::shared_ptr<Device>& device, std::int64_t count, float deviation,
              DataType type, std::mt19937_64& engine);

  void* data() const { return buffer_.data(); }
  std::int64_t count() const { return count_; }

  /// Element n, 0 to count() - 1.
  float operator[](std::int64_t n) const;

  /// Writes all of it again.
  void restore();

 private:
  std::shared_ptr<Device> device_;
  std::int64_t count_;
  DataType type_;
  std::vector<float> values_;       // one period
  std::vector<std::byte> encoded_;  // the same, as it lies in memory
  Buffer<std::byte> buffer_;
};

/// Memory that is filled with one byte.
void fill_bytes(Device& device, void* data, std::size_t bytes, std::byte value);

std::vector<std::int64_t> draw_seeds(std::int64_t count, std::mt19937_64& engine);

/// At most `most` of 0 to count - 1, each once, ascending: the first, the last and random others.
std::vector<std::int64_t> draw_samples(std::int64_t count, std::int64_t most,
                                       std::mt19937_64& engine);

/// What individual `pop_index` multiplies seed_of's noise with: -1 for the second of a pair.
inline double noise_sign(const NoiseSpec& noise, std::int64_t individual) {
  return noise.antithetic && individual % 2 != 0 ? -1.0 : 1.0;
}

inline std::int64_t noise_seed(const NoiseSpec& noise, const std::vector<std::int64_t>& seeds,
                               std::int64_t individual) {
  return seeds[static_cast<std::size_t>(noise.antithetic ? individual / 2 : individual)];
}

}  // namespace vnjit
