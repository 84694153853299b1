#include <algorithm>
#include <vector>

#include "vnjit/runtime/cpu/floats.hpp"
#include "vnjit/runtime/cpu/noise.hpp"
#include "vnjit/runtime/cpu/operations.hpp"
#include "vnjit/runtime/cpu/weight_panel.hpp"

namespace vnjit::cpu {
namespace {

/// Rows of Y whose fp32 sums are held until they are rounded to 16 bits. Noise is made anew for
/// each such part of the batch, which beside the products of so many rows takes no time.
constexpr std::int64_t kRoundedBatch = 1024;

/// What one thread computes at a time: kPanelOut outputs of the individuals of one seed, for the
/// whole batch. Two individuals share their noise, with + and -.
class PanelTask {
 public:
  PanelTask(const PerturbedLinear& problem, const PerturbedLinearArguments& arguments,
            std::int64_t seed_index, std::int64_t first_out)
      : problem_(problem),
        arguments_(arguments),
        seed_(arguments.seeds[seed_index]),
        signs_(problem.noise.antithetic ? 2 : 1),
        outs_(static_cast<int>(
            std::min(static_cast<std::int64_t>(kPanelOut), arguments.out - first_out))),
        x_first_(seed_index * signs_ * arguments.x_individual_stride),
        y_first_(seed_index * signs_ * arguments.y_individual_stride + first_out),
        first_out_(first_out),
        noise_(signs_ == 1 ? rows_ : pair_noise_) {}

  PanelTask(const PanelTask&) = delete;
  PanelTask& operator=(const PanelTask&) = delete;

  void run() {
    if (problem_.output == DataType::f32) {
      sum({0, arguments_.batch, static_cast<float*>(arguments_.y) + y_first_,
           arguments_.y_row_stride, arguments_.y_individual_stride});
      return;
    }
    const std::int64_t stride = std::min(kRoundedBatch, arguments_.batch) * kPanelOut;
    std::vector<float> sums(static_cast<std::size_t>(signs_ * stride));
    for (std::int64_t b = 0; b < arguments_.batch; b += kRoundedBatch) {
      const Sums part{b, std::min(kRoundedBatch, arguments_.batch - b), sums.data(), kPanelOut,
                      stride};
      sum(part);
      round(part);
    }
  }

 private:
  /// Outputs of `batch` rows from `first_batch` on of each individual, in fp32.
  struct Sums {
    std::int64_t first_batch;
    std::int64_t batch;
    float* data;
    std::int64_t row_stride;
    std::int64_t individual_stride;

    float* row(int sign, std::int64_t b) const {
      return data + sign * individual_stride + b * row_stride;
    }
  };

  float sigma(int sign) const {
    return sign == 0 ? arguments_.sigma.value : -arguments_.sigma.value;
  }

  void sum(const Sums& sums) {
    start_with_bias(sums);
    for (std::int64_t k = 0; k < arguments_.in; k += kPanelIn) {
      const std::int64_t depth = std::min(static_cast<std::int64_t>(kPanelIn), arguments_.in - k);
      make_noise(k, depth);
      for (int sign = 0; sign < signs_; ++sign) {
        perturb_rows(sign, k, depth);
        make_panel(rows_, outs_, depth, panel_);
        multiply(sign, k, depth, sums);
      }
    }
  }

  void round(const Sums& sums) const {
    for (int sign = 0; sign < signs_; ++sign) {
      const std::int64_t first = y_first_ + sign * arguments_.y_individual_stride;
      for (std::int64_t b = 0; b < sums.batch; ++b) {
        store_floats(problem_.output, sums.row(sign, b), outs_, arguments_.y,
                     first + (sums.first_batch + b) * arguments_.y_row_stride);
      }
    }
  }

  std::uint64_t noise_element(std::int64_t row, std::int64_t column) const {
    return static_cast<std::uint64_t>(arguments_.offset + row * arguments_.noise_row_stride +
                                      column);
  }

  void start_with_bias(const Sums& sums) const {
    float noise[kPanelOut] = {};
    float values[kPanelOut] = {};
    if (problem_.bias) {
      fill_noise(problem_.noise, seed_, noise_element(arguments_.out, first_out_), outs_, noise);
    }
    for (int sign = 0; sign < signs_; ++sign) {
      if (problem_.bias) {
        float scratch[kPanelOut];
        perturb(as_floats(problem_.input, arguments_.bias, first_out_, outs_, scratch), sigma(sign),
                noise, outs_, values);
      }
      for (std::int64_t b = 0; b < sums.batch; ++b) std::copy_n(values, outs_, sums.row(sign, b));
    }
  }

  /// noise_[j][k] = noise of output first_out + j and input first_in + k.
  void make_noise(std::int64_t first_in, std::int64_t depth) {
    if (depth == arguments_.noise_row_stride) {
      fill_noise(problem_.noise, seed_, noise_element(first_out_, first_in), outs_ * depth, noise_);
      return;
    }
    for (int j = 0; j < outs_; ++j) {
      fill_noise(problem_.noise, seed_, noise_element(first_out_ + j, first_in), depth,
                 noise_ + j * depth);
    }
  }

  void perturb_rows(int sign, std::int64_t first_in, std::int64_t depth) {
    for (int j = 0; j < outs_; ++j) {
      const std::int64_t first = (first_out_ + j) * arguments_.weight_row_stride + first_in;
      perturb(as_floats(problem_.input, arguments_.weight, first, depth, converted_), sigma(sign),
              noise_ + j * depth, depth, rows_ + j * depth);
    }
  }

  struct Rows {
    const float* data;
    std::int64_t stride;
  };

  /// `depth` inputs of `batch` rows of X, from element `first` on, as fp32.
  Rows input_rows(std::int64_t first, int batch, std::int64_t depth) {
    if (problem_.input == DataType::f32) {
      return {static_cast<const float*>(arguments_.x) + first, arguments_.x_row_stride};
    }
    for (int row = 0; row < batch; ++row) {
      as_floats(problem_.input, arguments_.x, first + row * arguments_.x_row_stride, depth,
                converted_ + row * depth);
    }
    return {converted_, depth};
  }

  void multiply(int sign, std::int64_t first_in, std::int64_t depth, const Sums& sums) {
    const std::int64_t first = x_first_ + sign * arguments_.x_individual_stride + first_in;
    for (std::int64_t b = 0; b < sums.batch; b += kPanelBatch) {
      const int batch =
          static_cast<int>(std::min(static_cast<std::int64_t>(kPanelBatch), sums.batch - b));
      const Rows x =
          input_rows(first + (sums.first_batch + b) * arguments_.x_row_stride, batch, depth);
      multiply_panel(x.data, x.stride, batch, panel_, depth, sums.row(sign, b), sums.row_stride,
                     outs_);
    }
  }

  const PerturbedLinear& problem_;
  const PerturbedLinearArguments& arguments_;
  const std::int64_t seed_;
  const int signs_;
  const int outs_;
  const std::int64_t x_first_;  // elements of X and Y of the first individual
  const std::int64_t y_first_;
  const std::int64_t first_out_;
  float* const noise_;  // rows_, perturbed in place, where no second individual needs it
  alignas(64) float pair_noise_[kPanelOut * kPanelIn];
  alignas(64) float rows_[kPanelOut * kPanelIn];
  alignas(64) float panel_[kPanelIn * kPanelOut];
  alignas(64) float converted_[kPanelBatch * kPanelIn];
};

}  // namespace

void perturbed_linear(const PerturbedLinear& problem, const PerturbedLinearArguments& arguments,
                      ThreadPool& pool) {
  if (arguments.batch == 0 || arguments.out == 0) return;
  const std::int64_t panels = (arguments.out + kPanelOut - 1) / kPanelOut;
  const std::int64_t seeds = problem.noise.seed_count(arguments.pop);
  pool.parallel_for(seeds * panels, [&](std::int64_t index) {
    PanelTask(problem, arguments, index / panels, index % panels * kPanelOut).run();
  });
}

}  // namespace vnjit::cpu
