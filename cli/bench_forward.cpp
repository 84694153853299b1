#include "bench_forward.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <vector>

#include "bench_timer.hpp"
#include "vnjit/codegen/error.hpp"
#include "vnjit/runtime/cpu/floats.hpp"

namespace vnjit::cli {
namespace {

constexpr float kSigma = 0.05f;
constexpr int kSampledElements = 1000;
constexpr std::size_t kPoisonBytes = std::size_t{64} << 20;  // copied at once

}  // namespace

ForwardBench::ForwardBench(int ordinal, double seconds, std::uint64_t seed)
    : device_(runtime_.gpu(ordinal)), seconds_(seconds), engine_(seed) {}

Buffer<std::byte> ForwardBench::normal(std::int64_t count, float deviation, DataType type) {
  std::normal_distribution<float> normal(0, deviation);
  std::vector<float> values(static_cast<std::size_t>(count));
  for (float& value : values) value = normal(engine_);
  std::vector<std::byte> elements(values.size() * static_cast<std::size_t>(size_bytes(type)));
  cpu::store_floats(type, values.data(), count, elements.data(), 0);
  return {device_, elements.data(), elements.size()};
}

Buffer<std::int64_t> ForwardBench::seeds(std::int64_t count) {
  std::vector<std::int64_t> values(static_cast<std::size_t>(count));
  for (std::int64_t& value : values) value = static_cast<std::int64_t>(engine_());
  return {device_, values.data(), values.size()};
}

Buffer<float> ForwardBench::poisoned(std::int64_t count) {
  Buffer<float> buffer(device_, static_cast<std::size_t>(count));
  const std::size_t bytes = buffer.size() * sizeof(float);
  const std::vector<unsigned char> poison(std::min(bytes, kPoisonBytes), 0xff);
  auto* data = reinterpret_cast<std::byte*>(buffer.data());
  for (std::size_t done = 0; done < bytes; done += poison.size()) {
    device_->copy_in(data + done, poison.data(), std::min(poison.size(), bytes - done));
  }
  return buffer;
}

int ForwardBench::count_nan(const Buffer<float>& y) {
  std::uniform_int_distribution<std::size_t> element(0, y.size() - 1);
  int count = 0;
  for (int n = 0; n < kSampledElements; ++n) {
    float value = 0;
    device_->copy_out(&value, y.data() + element(engine_), sizeof(value));
    if (std::isnan(value)) ++count;
  }
  return count;
}

bool ForwardBench::measure(BenchRow& row) {
  std::shared_ptr<const Plan> plan;
  try {
    plan = runtime_.plan(row.subject.problem, device_, row.config);
  } catch (const ConfigError& error) {
    row.note = fmt::format("ConfigError: {}", error.what());
    return true;
  }
  return measure(row, *plan);
}

bool ForwardBench::measure(BenchRow& row, const Plan& plan) {
  const PerturbedLinear& problem = row.subject.problem;
  const bool individual = problem.layout == InputLayout::individual;
  const float deviation = 1 / std::sqrt(static_cast<float>(problem.in));
  const auto x =
      normal((individual ? problem.pop : 1) * problem.batch * problem.in, 1, problem.input);
  const auto weight = normal(problem.out * problem.in, deviation, problem.input);
  const auto bias = normal(problem.out, deviation, problem.input);
  const auto individual_seeds = seeds(problem.pop);
  const auto y = poisoned(problem.pop * problem.batch * problem.out);
  const PerturbedLinearArguments arguments{.x = x.data(),
                                           .weight = weight.data(),
                                           .bias = bias.data(),
                                           .seeds = individual_seeds.data(),
                                           .y = y.data(),
                                           .sigma = kSigma,
                                           .pop = problem.pop,
                                           .batch = problem.batch,
                                           .in = problem.in,
                                           .out = problem.out};
  const Buffer<std::byte> scratch(device_, plan.workspace_bytes(arguments));
  const Workspace workspace{scratch.data(), scratch.size()};
  row.timing = time_on_device(
      driver_, [&] { plan.run(arguments, nullptr, workspace); }, seconds_);
  const int unwritten = count_nan(y);
  if (unwritten == 0) return true;
  row.note = fmt::format("{} of {} sampled elements of Y are NaN", unwritten, kSampledElements);
  return false;
}

}  // namespace vnjit::cli
