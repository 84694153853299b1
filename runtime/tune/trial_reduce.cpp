#include <algorithm>
#include <cmath>

#include "vnjit/runtime/cpu/noise.hpp"
#include "vnjit/runtime/tune/trial_case.hpp"
#include "vnjit/runtime/tune/trial_inputs.hpp"

namespace vnjit {
namespace {

constexpr float kSigma = 0.05f;
constexpr std::int64_t kSampledParams = std::int64_t{1} << 25;  // in all: a fraction of a second
constexpr std::int64_t kSamples = 256;
constexpr std::int64_t kChunk = 4096;

class ReduceTrial final : public TrialCase {
 public:
  ReduceTrial(const ReduceMetric& problem, const std::shared_ptr<Device>& device,
              std::uint64_t seed)
      : problem_(problem),
        device_(device),
        engine_(seed),
        center_(device, problem.params, 0.05f, problem.input, engine_),
        seeds_(draw_seeds(problem.noise.seed_count(problem.pop), engine_)),
        device_seeds_(device, seeds_.data(), seeds_.size()),
        metric_(device, static_cast<std::size_t>(problem.pop)) {
    const std::int64_t individuals = std::clamp<std::int64_t>(
        kSampledParams / std::max<std::int64_t>(problem.params, 1), 2, kSamples);
    output_ = {.data = metric_.data(),
               .type = DataType::f32,
               .count = problem.pop,
               .samples = draw_samples(problem.pop, individuals, engine_)};
    for (const std::int64_t sample : output_.samples) {
      output_.expected.push_back(expected(sample));
    }
  }

  void reset() override {
    fill_bytes(*device_, metric_.data(), metric_.size() * sizeof(float), std::byte{0xFF});
  }
  std::size_t workspace_bytes(const Plan& plan) const override {
    return plan.workspace_bytes(arguments());
  }
  void run(const Plan& plan, Workspace workspace) const override {
    plan.run(arguments(), nullptr, workspace);
  }
  const TrialOutput& output() const override { return output_; }

 private:
  ReduceMetricArguments arguments() const {
    return {.center = center_.data(),
            .seeds = device_seeds_.data(),
            .metric = metric_.data(),
            .sigma = kSigma,
            .pop = problem_.pop,
            .params = problem_.params};
  }

  double expected(std::int64_t individual) const {
    const double scale = noise_sign(problem_.noise, individual) * static_cast<double>(kSigma);
    const std::int64_t seed = noise_seed(problem_.noise, seeds_, individual);
    std::vector<float> noise(static_cast<std::size_t>(kChunk));
    double sum = 0;
    for (std::int64_t first = 0; first < problem_.params; first += kChunk) {
      const std::int64_t count = std::min(kChunk, problem_.params - first);
      fill_noise(problem_.noise, seed, static_cast<std::uint64_t>(first), count, noise.data());
      for (std::int64_t k = 0; k < count; ++k) {
        sum += std::abs(static_cast<double>(center_[first + k]) +
                        scale * static_cast<double>(noise[static_cast<std::size_t>(k)]));
      }
    }
    return sum / static_cast<double>(problem_.params);
  }

  ReduceMetric problem_;
  std::shared_ptr<Device> device_;
  std::mt19937_64 engine_;
  TrialValues center_;
  std::vector<std::int64_t> seeds_;
  Buffer<std::int64_t> device_seeds_;
  Buffer<float> metric_;
  TrialOutput output_;
};

}  // namespace

std::unique_ptr<TrialCase> make_trial_case(const ReduceMetric& problem,
                                           const std::shared_ptr<Device>& device,
                                           std::uint64_t seed) {
  return std::make_unique<ReduceTrial>(problem, device, seed);
}

}  // namespace vnjit
