#pragma once

#include <algorithm>
#include <optional>

#include "device_test.hpp"
#include "vnjit/runtime/cpu/floats.hpp"

// A forward pass on the GPU, and the float64 sum over the noise header that it should give.

namespace vnjit::tests {

/// What is run, and how its buffers lie.
struct LinearCase {
  PerturbedLinear problem{};  ///< with the sizes of the run
  std::int64_t offset = 0;
  float sigma = 0.05f;
  bool sigma_on_device = false;
  // Added to the contiguous strides, in elements.
  std::int64_t x_padding = 0;
  std::int64_t weight_padding = 0;
  std::int64_t y_padding = 0;
  std::int64_t noise_padding = 0;
  std::int64_t x_individual_padding = 0;
  std::int64_t y_individual_padding = 0;
  // Elements by which X and W, and Y, start off their allocation.
  std::int64_t misalignment = 0;
  std::int64_t y_misalignment = 0;
  std::optional<Config> config = std::nullopt;
  std::optional<PerturbedLinear> planned = std::nullopt;  ///< `problem` in the sizes of the plan

  std::int64_t inputs() const {
    return problem.layout == InputLayout::individual ? problem.pop : 1;
  }
  std::int64_t x_row_stride() const { return problem.in + x_padding; }
  std::int64_t x_individual_stride() const {
    return problem.batch * x_row_stride() + x_individual_padding;
  }
  std::int64_t weight_row_stride() const { return problem.in + weight_padding; }
  std::int64_t noise_row_stride() const { return problem.in + noise_padding; }
  std::int64_t y_row_stride() const { return problem.out + y_padding; }
  std::int64_t y_individual_stride() const {
    return problem.batch * y_row_stride() + y_individual_padding;
  }
  std::string describe() const {
    const PerturbedLinear& p = problem;
    std::string text = command_flags(p);
    for (const std::int64_t size : {p.pop, p.batch, p.in, p.out}) {
      text += ' ';
      text += std::to_string(size);
    }
    text += " offset ";
    text += std::to_string(offset);
    text += " sigma ";
    text += testing::PrintToString(sigma);
    if (config) {
      text += ' ';
      text += to_string(*config);
    }
    return text;
  }
};

struct LinearInputs {
  std::vector<float> x;  ///< contiguous (pop or 1, batch, in)
  std::vector<float> weight;
  std::vector<float> bias;
  std::vector<std::int64_t> seeds;
};

/// 16-bit inputs are drawn from values that both 16-bit types hold exactly.
inline LinearInputs draw(const PerturbedLinear& p, unsigned seed) {
  const auto values = p.input == DataType::f32 ? normal_values : random_values;
  const std::int64_t inputs = p.layout == InputLayout::individual ? p.pop : 1;
  return {values(inputs * p.batch * p.in, seed), values(p.out * p.in, seed + 1),
          values(p.out, seed + 2), random_seeds(p.noise.antithetic ? p.pop / 2 : p.pop, seed)};
}

/// Y of one individual, (batch, out).
inline std::vector<double> reference_of(const LinearCase& c, const LinearInputs& inputs,
                                        std::int64_t individual) {
  const PerturbedLinear& p = c.problem;
  const auto noise = [&](std::int64_t element) {
    return static_cast<double>(c.sigma) *
           individual_noise(p.noise, inputs.seeds, individual, c.offset + element);
  };
  const std::int64_t x_block = p.layout == InputLayout::individual ? individual : 0;
  std::vector<double> y(static_cast<std::size_t>(p.batch * p.out));
  std::vector<double> row(static_cast<std::size_t>(p.in));
  for (std::int64_t j = 0; j < p.out; ++j) {
    const float* weight = inputs.weight.data() + j * p.in;
    for (std::int64_t k = 0; k < p.in; ++k) {
      row[static_cast<std::size_t>(k)] = weight[k] + noise(j * c.noise_row_stride() + k);
    }
    const double bias =
        p.bias ? inputs.bias[static_cast<std::size_t>(j)] + noise(p.out * c.noise_row_stride() + j)
               : 0.0;
    for (std::int64_t b = 0; b < p.batch; ++b) {
      const float* x = inputs.x.data() + (x_block * p.batch + b) * p.in;
      double sum = bias;
      for (std::int64_t k = 0; k < p.in; ++k) sum += x[k] * row[static_cast<std::size_t>(k)];
      y[static_cast<std::size_t>(b * p.out + j)] = sum;
    }
  }
  return y;
}

/// Y, (pop, batch, out).
inline std::vector<double> reference(const LinearCase& c, const LinearInputs& inputs) {
  std::vector<double> y;
  for (std::int64_t i = 0; i < c.problem.pop; ++i) {
    const std::vector<double> one = reference_of(c, inputs, i);
    y.insert(y.end(), one.begin(), one.end());
  }
  return y;
}

/// Runs cases. What no row covers is filled with set bits, NaN in every type: inputs that are read
/// there, outputs that are not written, and outputs that are written there show.
class LinearOnGpu : public DeviceTest {
 protected:
  static constexpr std::byte kPoison{0xFF};

  /// A case in the memory of the device.
  struct Prepared {
    Buffer<std::byte> x, weight, bias, y;
    Buffer<std::int64_t> seeds;
    Buffer<float> sigma;
    PerturbedLinearArguments arguments;
  };

  std::shared_ptr<const Plan> plan_of(const LinearCase& c) {
    return runtime.plan(c.planned.value_or(c.problem), device, c.config);
  }

  Prepared prepare(const LinearCase& c, const LinearInputs& inputs) const {
    const PerturbedLinear& p = c.problem;
    const std::int64_t size = size_bytes(p.input);
    Prepared there;
    there.x = on_device(spread(p.input, inputs.x,
                               {.rows = p.batch,
                                .columns = p.in,
                                .row_stride = c.x_row_stride(),
                                .block_stride = c.x_individual_stride(),
                                .before = c.misalignment}));
    there.weight = on_device(spread(p.input, inputs.weight,
                                    {.rows = p.out,
                                     .columns = p.in,
                                     .row_stride = c.weight_row_stride(),
                                     .block_stride = p.out * c.weight_row_stride(),
                                     .before = c.misalignment}));
    there.bias = on_device(encoded(p.input, inputs.bias));
    there.seeds = on_device(inputs.seeds);
    there.sigma = on_device(std::vector<float>{c.sigma});
    there.y = on_device(std::vector<std::byte>(
        static_cast<std::size_t>((y_of(c).before + p.pop * c.y_individual_stride() + kGuard) *
                                 size_bytes(p.output)),
        kPoison));
    there.arguments = {
        .x = there.x.data() + c.misalignment * size,
        .weight = there.weight.data() + c.misalignment * size,
        .bias = p.bias ? there.bias.data() : nullptr,
        .seeds = there.seeds.data(),
        .y = there.y.data() + y_of(c).before * size_bytes(p.output),
        .sigma = c.sigma_on_device ? Sigma(there.sigma.data()) : Sigma(c.sigma),
        .offset = c.offset,
        .pop = p.pop,
        .batch = p.batch,
        .in = p.in,
        .out = p.out,
        .x_row_stride = c.x_row_stride(),
        .x_individual_stride = p.layout == InputLayout::individual ? c.x_individual_stride() : 0,
        .weight_row_stride = c.weight_row_stride(),
        .y_row_stride = c.y_row_stride(),
        .y_individual_stride = c.y_individual_stride(),
        .noise_row_stride = c.noise_row_stride()};
    return there;
  }

  /// Y, gathered to contiguous; what lies between and around its rows must be untouched.
  static std::vector<float> result(const LinearCase& c, const Prepared& there) {
    const PerturbedLinear& p = c.problem;
    std::vector<std::byte> bytes = on_host(there.y);
    std::vector<float> y(static_cast<std::size_t>(p.pop * p.batch * p.out));
    std::vector<float> scratch(static_cast<std::size_t>(p.out));
    for (std::int64_t row = 0; row < p.pop * p.batch; ++row) {
      const std::int64_t first = y_of(c).first(row);
      std::copy_n(cpu::as_floats(p.output, bytes.data(), first, p.out, scratch.data()), p.out,
                  y.data() + row * p.out);
      std::fill_n(bytes.data() + first * size_bytes(p.output), p.out * size_bytes(p.output),
                  kPoison);
    }
    EXPECT_EQ(std::count(bytes.begin(), bytes.end(), kPoison), std::ssize(bytes)) << c.describe();
    return y;
  }

  std::vector<float> run(const LinearCase& c, const LinearInputs& inputs) {
    const Prepared there = prepare(c, inputs);
    plan_of(c)->run(there.arguments);
    return result(c, there);
  }

  void expect_right(const LinearCase& c, double bound) {
    const LinearInputs inputs = draw(c.problem, 17);
    EXPECT_LE(relative_error(run(c, inputs), reference(c, inputs)), bound) << c.describe();
  }

 private:
  static constexpr std::int64_t kGuard = 64;  // elements after Y

  /// Blocks of rows in memory, in elements.
  struct Rows {
    std::int64_t rows = 0;
    std::int64_t columns = 0;
    std::int64_t row_stride = 0;
    std::int64_t block_stride = 0;
    std::int64_t before = 0;

    std::int64_t first(std::int64_t row) const {
      return before + row / rows * block_stride + row % rows * row_stride;
    }
  };

  static Rows y_of(const LinearCase& c) {
    return {.rows = c.problem.batch,
            .columns = c.problem.out,
            .row_stride = c.y_row_stride(),
            .block_stride = c.y_individual_stride(),
            .before = c.y_misalignment};
  }

  static std::vector<std::byte> spread(DataType type, const std::vector<float>& values,
                                       const Rows& where) {
    const std::int64_t size = size_bytes(type);
    const std::vector<std::byte> dense = encoded(type, values);
    const std::int64_t count =
        where.columns ? static_cast<std::int64_t>(values.size()) / where.columns : 0;
    const std::int64_t end = count ? where.first(count - 1) + where.row_stride : where.before;
    std::vector<std::byte> bytes(static_cast<std::size_t>(end * size), kPoison);
    for (std::int64_t row = 0; row < count; ++row) {
      std::copy_n(dense.data() + row * where.columns * size, where.columns * size,
                  bytes.data() + where.first(row) * size);
    }
    return bytes;
  }
};

}  // namespace vnjit::tests
