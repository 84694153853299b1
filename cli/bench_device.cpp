#include "bench_device.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <vector>

#include "vnjit/runtime/cpu/floats.hpp"
#include "vnjit/runtime/gpu/noise_rate.hpp"
#include "vnjit/runtime/tune/device_timer.hpp"

namespace vnjit::cli {
namespace {

constexpr std::int64_t kDistinctNumbers = std::int64_t{1} << 20;
constexpr std::size_t kFillElements = std::size_t{16} << 20;  // copied at once
constexpr std::int64_t kSampledElements = 1000;
constexpr std::int64_t kMinSampledElements = 16;  // of each output

// About half a millisecond of an H200, and 20 of them.
constexpr unsigned kCeilingSeeds = 256;
constexpr double kCeilingSeconds = 0.02;

}  // namespace

BenchDevice::BenchDevice(int ordinal, double seconds, std::uint64_t seed)
    : device_(runtime_.gpu(ordinal)),
      driver_(std::make_shared<const Driver>()),
      seconds_(seconds),
      engine_(seed) {}

std::shared_ptr<const Plan> BenchDevice::plan(const Problem& problem, const Config& config) {
  return runtime_.plan(problem, device_, config);
}

std::vector<float> BenchDevice::draw_normal(std::int64_t count, float deviation) {
  std::normal_distribution<float> normal(0, deviation);
  std::vector<float> values(static_cast<std::size_t>(std::min(count, kDistinctNumbers)));
  for (float& value : values) value = normal(engine_);
  values.resize(static_cast<std::size_t>(count));
  for (std::size_t n = kDistinctNumbers; n < values.size(); ++n) {
    values[n] = values[n - kDistinctNumbers];
  }
  return values;
}

Buffer<std::byte> BenchDevice::normal(std::int64_t count, float deviation, DataType type) {
  const std::vector<float> values = draw_normal(count, deviation);
  std::vector<std::byte> elements(values.size() * static_cast<std::size_t>(size_bytes(type)));
  cpu::store_floats(type, values.data(), count, elements.data(), 0);
  return {device_, elements.data(), elements.size()};
}

Buffer<float> BenchDevice::normal(std::int64_t count) {
  const std::vector<float> values = draw_normal(count, 1);
  return {device_, values.data(), values.size()};
}

Buffer<std::int64_t> BenchDevice::seeds(std::int64_t count) {
  std::vector<std::int64_t> values(static_cast<std::size_t>(count));
  for (std::int64_t& value : values) value = static_cast<std::int64_t>(engine_());
  return {device_, values.data(), values.size()};
}

Buffer<float> BenchDevice::filled(std::int64_t count, float value) {
  Buffer<float> buffer(device_, static_cast<std::size_t>(count));
  const std::vector<float> values(std::min(buffer.size(), kFillElements), value);
  for (std::size_t done = 0; done < buffer.size(); done += values.size()) {
    device_->copy_in(buffer.data() + done, values.data(),
                     std::min(values.size(), buffer.size() - done) * sizeof(float));
  }
  return buffer;
}

Timing BenchDevice::time_of(const std::function<void()>& run) const {
  return time_on_device(*driver_, run, seconds_);
}

bool BenchDevice::are_written(std::string_view name, std::span<const Output> outputs,
                              BenchRow& row) {
  const std::int64_t samples =
      std::max(kMinSampledElements, kSampledElements / static_cast<std::int64_t>(outputs.size()));
  std::int64_t looked_at = 0;
  std::int64_t unwritten = 0;
  for (const Output& output : outputs) {
    std::uniform_int_distribution<std::int64_t> element(0, output.count - 1);
    for (std::int64_t n = 0; n < samples; ++n, ++looked_at) {
      float value = 0;
      device_->copy_out(&value, output.data + element(engine_), sizeof(value));
      if (std::isnan(value) || value == output.before) ++unwritten;
    }
  }
  if (unwritten == 0) return true;
  row.note =
      fmt::format("{} of {} sampled elements of {} are {}", unwritten, looked_at, name,
                  std::isnan(outputs.front().before) ? "NaN" : "NaN or what they were before");
  return false;
}

double BenchDevice::noise_ceiling(const NoiseSpec& noise) {
  const std::string name = to_string(noise);
  if (!ceilings_.contains(name)) ceilings_[name] = measure_noise(noise);
  return ceilings_[name];
}

double BenchDevice::measure_noise(const NoiseSpec& noise) {
  const KernelSource source = emit_noise_rate(noise, limits());
  const NoiseRate rate(source, runtime_.compile(source).binary, driver_, device_);
  const auto first_seed = engine_();
  const Timing timing = time_on_device(
      *driver_, [&] { rate.run(first_seed, kCeilingSeeds); }, kCeilingSeconds);
  return static_cast<double>(rate.threads()) * kCeilingSeeds *
         static_cast<double>(noise_rate_values(noise)) / timing.seconds;
}

}  // namespace vnjit::cli
