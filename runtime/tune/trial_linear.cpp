#include <algorithm>
#include <cmath>

#include "vnjit/runtime/cpu/noise.hpp"
#include "vnjit/runtime/tune/trial_case.hpp"
#include "vnjit/runtime/tune/trial_inputs.hpp"

namespace vnjit {
namespace {

constexpr float kSigma = 0.05f;
constexpr std::int64_t kSamples = 512;

class LinearTrial final : public TrialCase {
 public:
  LinearTrial(const PerturbedLinear& problem, const std::shared_ptr<Device>& device,
              std::uint64_t seed)
      : problem_(problem),
        device_(device),
        engine_(seed),
        x_(device, inputs() * problem.batch * problem.in, 1, problem.input, engine_),
        weight_(device, problem.out * problem.in, deviation(), problem.input, engine_),
        bias_(device, problem.bias ? problem.out : 0, deviation(), problem.input, engine_),
        seeds_(draw_seeds(problem.noise.seed_count(problem.pop), engine_)),
        device_seeds_(device, seeds_.data(), seeds_.size()),
        y_(device, static_cast<std::size_t>(problem.pop * problem.batch * problem.out) *
                       static_cast<std::size_t>(size_bytes(problem.output))),
        arguments_{.x = x_.data(),
                   .weight = weight_.data(),
                   .bias = bias_.data(),
                   .seeds = device_seeds_.data(),
                   .y = y_.data(),
                   .sigma = kSigma,
                   .pop = problem.pop,
                   .batch = problem.batch,
                   .in = problem.in,
                   .out = problem.out} {
    output_ = {
        .data = y_.data(),
        .type = problem.output,
        .count = problem.pop * problem.batch * problem.out,
        .samples = draw_samples(problem.pop * problem.batch * problem.out, kSamples, engine_)};
    for (const std::int64_t sample : output_.samples) {
      output_.expected.push_back(expected(sample));
    }
  }

  void reset() override { fill_bytes(*device_, y_.data(), y_.size(), std::byte{0xFF}); }
  std::size_t workspace_bytes(const Plan& plan) const override {
    return plan.workspace_bytes(arguments_);
  }
  void run(const Plan& plan, Workspace workspace) const override {
    plan.run(arguments_, nullptr, workspace);
  }
  const TrialOutput& output() const override { return output_; }

 private:
  std::int64_t inputs() const {
    return problem_.layout == InputLayout::individual ? problem_.pop : 1;
  }
  float deviation() const {
    return 1 / std::sqrt(static_cast<float>(std::max<std::int64_t>(problem_.in, 1)));
  }

  double expected(std::int64_t element) const {
    const std::int64_t out = element % problem_.out;
    const std::int64_t batch = element / problem_.out % problem_.batch;
    const std::int64_t individual = element / problem_.out / problem_.batch;
    const double scale = noise_sign(problem_.noise, individual) * static_cast<double>(kSigma);
    const std::int64_t seed = noise_seed(problem_.noise, seeds_, individual);
    std::vector<float> noise(static_cast<std::size_t>(problem_.in));
    fill_noise(problem_.noise, seed, static_cast<std::uint64_t>(out * problem_.in), problem_.in,
               noise.data());
    const std::int64_t row =
        (problem_.layout == InputLayout::individual ? individual * problem_.batch + batch : batch) *
        problem_.in;
    double sum = 0;
    for (std::int64_t k = 0; k < problem_.in; ++k) {
      const double weight = static_cast<double>(weight_[out * problem_.in + k]) +
                            scale * static_cast<double>(noise[static_cast<std::size_t>(k)]);
      sum += static_cast<double>(x_[row + k]) * weight;
    }
    if (!problem_.bias) return sum;
    float bias_noise = 0;
    fill_noise(problem_.noise, seed, static_cast<std::uint64_t>(problem_.out * problem_.in + out),
               1, &bias_noise);
    return sum + static_cast<double>(bias_[out]) + scale * static_cast<double>(bias_noise);
  }

  PerturbedLinear problem_;
  std::shared_ptr<Device> device_;
  std::mt19937_64 engine_;
  TrialValues x_;
  TrialValues weight_;
  TrialValues bias_;
  std::vector<std::int64_t> seeds_;
  Buffer<std::int64_t> device_seeds_;
  Buffer<std::byte> y_;
  PerturbedLinearArguments arguments_;
  TrialOutput output_;
};

}  // namespace

std::unique_ptr<TrialCase> make_trial_case(const PerturbedLinear& problem,
                                           const std::shared_ptr<Device>& device,
                                           std::uint64_t seed) {
  return std::make_unique<LinearTrial>(problem, device, seed);
}

}  // namespace vnjit
