#include <fmt/format.h>

#include <cmath>

#include "vnjit/codegen/error.hpp"
#include "vnjit/runtime/cpu/noise.hpp"
#include "vnjit/runtime/tune/trial_case.hpp"
#include "vnjit/runtime/tune/trial_inputs.hpp"

namespace vnjit {
namespace {

constexpr float kSigma = 0.05f;
constexpr std::int64_t kSamples = 256;
constexpr UpdateStep kStep{.learning_rate = 0.01f};
constexpr double kUpdateTolerance = 1e-6;

class GradientTrial final : public TrialCase {
 public:
  GradientTrial(const Gradient& problem, const std::shared_ptr<Device>& device, std::uint64_t seed)
      : problem_(problem),
        device_(device),
        engine_(seed),
        count_(problem.rows * problem.columns),
        fitness_(device, problem.pop, 1, DataType::f32, engine_),
        seeds_(draw_seeds(problem.noise.seed_count(problem.pop), engine_)),
        device_seeds_(device, seeds_.data(), seeds_.size()),
        gradient_(device, static_cast<std::size_t>(count_)),
        weight_(device, problem.update == Update::none ? 0 : count_, 1, DataType::f32, engine_),
        first_moment_(device, moments()),
        second_moment_(device, moments()) {
    output_ = {.data = gradient_.data(),
               .type = DataType::f32,
               .count = count_,
               .samples = draw_samples(count_, kSamples, engine_)};
    for (const std::int64_t sample : output_.samples) {
      output_.expected.push_back(expected(sample));
    }
  }

  void reset() override {
    fill_bytes(*device_, gradient_.data(), gradient_.size() * sizeof(float), std::byte{0xFF});
    weight_.restore();
    for (const Buffer<float>* moment : {&first_moment_, &second_moment_}) {
      fill_bytes(*device_, moment->data(), moment->size() * sizeof(float), std::byte{0});
    }
  }
  std::size_t workspace_bytes(const Plan& plan) const override {
    const GradientBlock block = this->block();
    return plan.workspace_bytes(arguments(block));
  }
  void run(const Plan& plan, Workspace workspace) const override {
    const GradientBlock block = this->block();
    plan.run(arguments(block), nullptr, workspace);
  }
  void run_timed(const Plan& plan, Workspace workspace) const override {
    GradientBlock block = this->block();
    if (problem_.update != Update::none) block.output = nullptr;
    plan.run(arguments(block), nullptr, workspace);
  }
  const TrialOutput& output() const override { return output_; }

  bool is_exact() const override {
    return problem_.noise.generator == Generator::philox &&
           (problem_.noise.distribution == Distribution::uniform8 ||
            problem_.noise.distribution == Distribution::rademacher);
  }

  void check_more(std::span<const float> gradient) const override {
    if (problem_.update == Update::none) return;
    for (std::size_t n = 0; n < gradient.size(); ++n) {
      const std::int64_t element = output_.samples[n];
      float updated = 0;
      device_->copy_out(&updated, static_cast<const float*>(weight_.data()) + element,
                        sizeof(updated));
      const double before = static_cast<double>(weight_[element]);
      const double after = before + step_of(static_cast<double>(gradient[n]));
      const double allowed = kUpdateTolerance * (std::abs(before) + std::abs(after));
      if (!(std::abs(static_cast<double>(updated) - after) <= allowed)) {
        throw Error(
            fmt::format("weight {} is {} after the update, not {}", element, updated, after));
      }
    }
  }

 private:
  std::size_t moments() const {
    return problem_.update == Update::adam ? static_cast<std::size_t>(count_) : 0;
  }

  GradientBlock block() const {
    return {.rows = problem_.rows,
            .columns = problem_.columns,
            .output = gradient_.data(),
            .weight = static_cast<float*>(weight_.data()),
            .first_moment = first_moment_.data(),
            .second_moment = second_moment_.data()};
  }

  GradientArguments arguments(const GradientBlock& block) const {
    return {.fitness = static_cast<const float*>(fitness_.data()),
            .seeds = device_seeds_.data(),
            .sigma = kSigma,
            .pop = problem_.pop,
            .update = kStep,
            .blocks = {&block, 1}};
  }

  double expected(std::int64_t element) const {
    double sum = 0;
    for (std::int64_t i = 0; i < problem_.pop; ++i) {
      float noise = 0;
      fill_noise(problem_.noise, noise_seed(problem_.noise, seeds_, i),
                 static_cast<std::uint64_t>(element), 1, &noise);
      sum += noise_sign(problem_.noise, i) * static_cast<double>(fitness_[i]) *
             static_cast<double>(noise);
    }
    const double variance =
        problem_.normalize == Normalize::unbiased ? problem_.noise.variance() : 1.0;
    return sum / (static_cast<double>(problem_.pop) * static_cast<double>(kSigma) * variance);
  }

  /// What the first step adds to a weight. Adam's moments are 0 before, so their corrections cancel
  /// the decays.
  double step_of(double gradient) const {
    const double rate = static_cast<double>(kStep.learning_rate);
    if (problem_.update == Update::sgd) return rate * gradient;
    return rate * gradient / (std::abs(gradient) + static_cast<double>(kStep.epsilon));
  }

  Gradient problem_;
  std::shared_ptr<Device> device_;
  std::mt19937_64 engine_;
  std::int64_t count_;
  TrialValues fitness_;
  std::vector<std::int64_t> seeds_;
  Buffer<std::int64_t> device_seeds_;
  Buffer<float> gradient_;
  TrialValues weight_;
  Buffer<float> first_moment_;
  Buffer<float> second_moment_;
  TrialOutput output_;
};

}  // namespace

std::unique_ptr<TrialCase> make_trial_case(const Gradient& problem,
                                           const std::shared_ptr<Device>& device,
                                           std::uint64_t seed) {
  return std::make_unique<GradientTrial>(problem, device, seed);
}

}  // namespace vnjit
