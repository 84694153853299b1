#include "vnjit/runtime/tune/trial_inputs.hpp"

#include <algorithm>
#include <set>

#include "vnjit/runtime/cpu/floats.hpp"

namespace vnjit {
namespace {

constexpr std::int64_t kPeriod = 1'048'573;  // the largest prime below 2^20
constexpr std::size_t kChunkBytes = std::size_t{16} << 20;

}  // namespace

TrialValues::TrialValues(const std::shared_ptr<Device>& device, std::int64_t count, float deviation,
                         DataType type, std::mt19937_64& engine)
    : device_(device), count_(count), type_(type) {
  std::normal_distribution<float> normal(0, deviation);
  values_.resize(static_cast<std::size_t>(std::min(count, kPeriod)));
  for (float& value : values_) value = normal(engine);
  const auto size = static_cast<std::int64_t>(values_.size());
  encoded_.resize(values_.size() * static_cast<std::size_t>(size_bytes(type)));
  cpu::store_floats(type, values_.data(), size, encoded_.data(), 0);
  std::vector<float> rounded(values_.size());
  const float* exact = cpu::as_floats(type, encoded_.data(), 0, size, rounded.data());
  std::copy_n(exact, values_.size(), values_.data());
  buffer_ = Buffer<std::byte>(
      device, static_cast<std::size_t>(count) * static_cast<std::size_t>(size_bytes(type)));
  restore();
}

float TrialValues::operator[](std::int64_t n) const {
  return values_[static_cast<std::size_t>(n % kPeriod)];
}

void TrialValues::restore() {
  for (std::size_t done = 0; done < buffer_.size(); done += encoded_.size()) {
    device_->copy_in(buffer_.data() + done, encoded_.data(),
                     std::min(encoded_.size(), buffer_.size() - done));
  }
}

void fill_bytes(Device& device, void* data, std::size_t bytes, std::byte value) {
  const std::vector<std::byte> chunk(std::min(bytes, kChunkBytes), value);
  for (std::size_t done = 0; done < bytes; done += chunk.size()) {
    device.copy_in(static_cast<std::byte*>(data) + done, chunk.data(),
                   std::min(chunk.size(), bytes - done));
  }
}

std::vector<std::int64_t> draw_seeds(std::int64_t count, std::mt19937_64& engine) {
  std::vector<std::int64_t> seeds(static_cast<std::size_t>(count));
  for (std::int64_t& seed : seeds) seed = static_cast<std::int64_t>(engine());
  return seeds;
}

std::vector<std::int64_t> draw_samples(std::int64_t count, std::int64_t most,
                                       std::mt19937_64& engine) {
  if (count <= 0) return {};
  std::set<std::int64_t> chosen = {0, count - 1};
  std::uniform_int_distribution<std::int64_t> any(0, count - 1);
  const auto wanted = static_cast<std::size_t>(std::min(count, std::max<std::int64_t>(most, 2)));
  while (chosen.size() < wanted) chosen.insert(any(engine));
  return {chosen.begin(), chosen.end()};
}

}  // namespace vnjit
