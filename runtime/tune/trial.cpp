#include "vnjit/runtime/tune/trial.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <vector>

#include "vnjit/codegen/error.hpp"
#include "vnjit/runtime/cpu/floats.hpp"
#include "vnjit/runtime/gpu/device.hpp"
#include "vnjit/runtime/hash.hpp"
#include "vnjit/runtime/tune/device_timer.hpp"
#include "vnjit/runtime/tune/trial_case.hpp"

namespace vnjit {
namespace {

constexpr std::int64_t kChunk = std::int64_t{1} << 22;  // elements on the host at once

/// What of an output is looked at.
struct Found {
  std::vector<float> samples;
  std::int64_t not_numbers = 0;
  std::uint64_t bits = 0;  // hash of all
};

Found read(Device& device, const TrialOutput& output) {
  Found found;
  const auto size = static_cast<std::int64_t>(size_bytes(output.type));
  std::vector<std::byte> bytes(static_cast<std::size_t>(std::min(kChunk, output.count) * size));
  std::vector<float> scratch(static_cast<std::size_t>(std::min(kChunk, output.count)));
  auto next = output.samples.begin();
  for (std::int64_t first = 0; first < output.count; first += kChunk) {
    const std::int64_t count = std::min(kChunk, output.count - first);
    const auto used = static_cast<std::size_t>(count * size);
    device.copy_out(bytes.data(), static_cast<const std::byte*>(output.data) + first * size, used);
    found.bits = found.bits * 31 + hash64({reinterpret_cast<const char*>(bytes.data()), used});
    const float* values = cpu::as_floats(output.type, bytes.data(), 0, count, scratch.data());
    found.not_numbers += std::count_if(values, values + count, [](float v) { return v != v; });
    for (; next != output.samples.end() && *next < first + count; ++next) {
      found.samples.push_back(values[*next - first]);
    }
  }
  return found;
}

/// ‖found - expected‖ / ‖expected‖.
double relative_error(const std::vector<float>& found, const std::vector<double>& expected) {
  double difference = 0;
  double norm = 0;
  for (std::size_t n = 0; n < found.size(); ++n) {
    const double off = static_cast<double>(found[n]) - expected[n];
    difference += off * off;
    norm += expected[n] * expected[n];
  }
  return norm > 0 ? std::sqrt(difference / norm) : std::sqrt(difference);
}

double time_on_host(const std::function<void()>& run, double seconds) {
  using Clock = std::chrono::steady_clock;
  std::vector<double> samples;
  double total = 0;
  do {
    const auto begin = Clock::now();
    run();
    samples.push_back(std::chrono::duration<double>(Clock::now() - begin).count());
    total += samples.back();
  } while (total < seconds);
  const auto middle = samples.begin() + static_cast<std::ptrdiff_t>(samples.size() / 2);
  std::nth_element(samples.begin(), middle, samples.end());
  return *middle;
}

/// What rounding an operand or Y may cost, relative to the whole.
double rounding(Precision precision) {
  switch (precision) {
    case Precision::f16:
      return 5e-4;
    case Precision::bf16:
      return 4e-3;
    case Precision::tf32:
      return 1e-3;
    case Precision::int8:
      return 1e-2;
    default:
      return 2e-6;
  }
}

double tolerance(const PerturbedLinear& problem, bool fused) {
  const bool exact_noise = problem.noise.generator == Generator::philox &&
                           (problem.noise.distribution == Distribution::uniform8 ||
                            problem.noise.distribution == Distribution::rademacher);
  const Precision operands = operand_precision(problem);
  const bool exact =
      !fused && exact_noise && problem.input != DataType::f32 && operands != Precision::int8;
  const double products = exact ? 1e-5 : rounding(operands);
  if (problem.output == DataType::f32) return products;
  return std::max(products,
                  rounding(problem.output == DataType::f16 ? Precision::f16 : Precision::bf16));
}

}  // namespace

double trial_tolerance(const Problem& problem, bool fused) {
  if (const auto* linear = std::get_if<PerturbedLinear>(&problem)) return tolerance(*linear, fused);
  return 1e-6;
}

Trial::Trial(const Problem& problem, std::shared_ptr<Device> device, std::uint64_t seed)
    : device_(std::move(device)) {
  validate(problem);
  const std::vector<std::int64_t> shape = output_shape(problem);
  if (std::ranges::find(shape, 0) != shape.end()) {
    throw InvalidArgument(
        fmt::format("the result of this problem has shape ({}): there is nothing "
                    "to compute; give sizes of at least 1",
                    fmt::join(shape, ", ")));
  }
  const auto* reduce = std::get_if<ReduceMetric>(&problem);
  if (reduce && reduce->params == 0) {
    throw InvalidArgument("params is 0: the metric of nothing is NaN; give at least 1");
  }
  case_ = std::visit(
      [&](const auto& operation) { return make_trial_case(operation, device_, seed); }, problem);
}

Trial::~Trial() = default;

double Trial::check(const Plan& plan, double tolerance) {
  case_->reset();
  const Buffer<std::byte> scratch(device_, case_->workspace_bytes(plan));
  case_->run(plan, {scratch.data(), scratch.size()});
  device_->synchronize();
  const TrialOutput& output = case_->output();
  const Found found = read(*device_, output);
  if (found.not_numbers > 0) {
    throw Error(fmt::format("{} of {} elements of the result are NaN or were not written",
                            found.not_numbers, output.count));
  }
  const double error = relative_error(found.samples, output.expected);
  if (!(error <= tolerance)) {
    throw Error(
        fmt::format("the relative error of the result is {:.3g}, beyond {:.3g}", error, tolerance));
  }
  if (case_->is_exact()) {
    if (!bits_) bits_ = found.bits;
    if (*bits_ != found.bits) {
      throw Error("the result has other bits than the plan that was checked first, and must not");
    }
  }
  case_->check_more(found.samples);
  return error;
}

double Trial::time(const Plan& plan, double seconds) {
  const Buffer<std::byte> scratch(device_, case_->workspace_bytes(plan));
  const Workspace workspace{scratch.data(), scratch.size()};
  const auto run = [&] { case_->run_timed(plan, workspace); };
  const auto gpu = std::dynamic_pointer_cast<GpuDevice>(device_);
  if (!gpu) return time_on_host(run, seconds);
  const double median = time_on_device(*gpu->driver(), run, seconds).seconds;
  device_->synchronize();
  return median;
}

}  // namespace vnjit
