#include <thread>

#include "device_test.hpp"

namespace vnjit::tests {
namespace {

/// One forward pass on the GPU against a float64 sum over the noise header.
class PerturbedLinearOnGpu : public DeviceTest {
 protected:
  struct Case {
    PerturbedLinear problem;
    std::int64_t offset = 0;
    float sigma = 0.05f;
    // Added to the contiguous strides, in elements.
    std::int64_t x_padding = 0;
    std::int64_t weight_padding = 0;
    std::int64_t y_padding = 0;
    std::int64_t noise_padding = 0;
    std::int64_t misalignment = 0;  // elements by which X and W start off their allocation
    std::optional<Config> config = std::nullopt;
  };

  struct Inputs {
    std::vector<float> x;  // contiguous (pop or 1, batch, in)
    std::vector<float> weight;
    std::vector<float> bias;
    std::vector<std::int64_t> seeds;
  };

  static std::int64_t inputs_of(const PerturbedLinear& p) {
    return p.layout == InputLayout::individual ? p.pop : 1;
  }

  // 16-bit inputs are drawn from values that both 16-bit types hold exactly.
  static Inputs draw(const PerturbedLinear& p, unsigned seed) {
    const auto values = p.input == DataType::f32 ? normal_values : random_values;
    return {values(inputs_of(p) * p.batch * p.in, seed), values(p.out * p.in, seed + 1),
            values(p.out, seed + 2), random_seeds(p.noise.antithetic ? p.pop / 2 : p.pop, seed)};
  }

  static std::vector<double> reference(const Case& c, const Inputs& inputs) {
    const PerturbedLinear& p = c.problem;
    const std::int64_t noise_stride = p.in + c.noise_padding;
    std::vector<double> y(static_cast<std::size_t>(p.pop * p.batch * p.out));
    std::vector<double> row(static_cast<std::size_t>(p.in));
    for (std::int64_t i = 0; i < p.pop; ++i) {
      const std::int64_t x_block = p.layout == InputLayout::individual ? i : 0;
      for (std::int64_t j = 0; j < p.out; ++j) {
        const auto noise = [&](std::int64_t element) {
          return static_cast<double>(c.sigma) *
                 individual_noise(p.noise, inputs.seeds, i, c.offset + element);
        };
        for (std::int64_t k = 0; k < p.in; ++k) {
          row[static_cast<std::size_t>(k)] =
              inputs.weight[static_cast<std::size_t>(j * p.in + k)] + noise(j * noise_stride + k);
        }
        const double bias =
            p.bias ? inputs.bias[static_cast<std::size_t>(j)] + noise(p.out * noise_stride + j)
                   : 0.0;
        for (std::int64_t b = 0; b < p.batch; ++b) {
          const float* x = inputs.x.data() + (x_block * p.batch + b) * p.in;
          double sum = bias;
          for (std::int64_t k = 0; k < p.in; ++k) sum += x[k] * row[static_cast<std::size_t>(k)];
          y[static_cast<std::size_t>((i * p.batch + b) * p.out + j)] = sum;
        }
      }
    }
    return y;
  }

  // Rows of `columns` values spread to `stride`, NaN between them and before the first.
  std::vector<float> spread(const std::vector<float>& values, std::int64_t columns,
                            std::int64_t stride, std::int64_t before) const {
    const std::int64_t rows = columns ? static_cast<std::int64_t>(values.size()) / columns : 0;
    std::vector<float> result(static_cast<std::size_t>(before + rows * stride), kNaN);
    for (std::int64_t r = 0; r < rows; ++r) {
      std::copy_n(values.data() + r * columns, columns, result.data() + before + r * stride);
    }
    return result;
  }

  // Y, gathered to contiguous; the padding between rows must come back untouched.
  std::vector<float> run(const Case& c, const Inputs& inputs) {
    const PerturbedLinear& p = c.problem;
    const std::int64_t size = size_bytes(p.input);
    const std::int64_t x_stride = p.in + c.x_padding;
    const std::int64_t weight_stride = p.in + c.weight_padding;
    const std::int64_t y_stride = p.out + c.y_padding;
    const auto x = on_device(encoded(p.input, spread(inputs.x, p.in, x_stride, c.misalignment)));
    const auto weight =
        on_device(encoded(p.input, spread(inputs.weight, p.in, weight_stride, c.misalignment)));
    const auto bias = on_device(encoded(p.input, inputs.bias));
    const auto seeds = on_device(inputs.seeds);
    const auto y = poisoned(p.pop * p.batch * y_stride);
    const auto plan = runtime.plan(p, device, c.config);
    plan->run(PerturbedLinearArguments{.x = x.data() + c.misalignment * size,
                                       .weight = weight.data() + c.misalignment * size,
                                       .bias = p.bias ? bias.data() : nullptr,
                                       .seeds = seeds.data(),
                                       .y = y.data(),
                                       .sigma = c.sigma,
                                       .offset = c.offset,
                                       .pop = p.pop,
                                       .batch = p.batch,
                                       .in = p.in,
                                       .out = p.out,
                                       .x_row_stride = x_stride,
                                       .weight_row_stride = weight_stride,
                                       .y_row_stride = y_stride,
                                       .noise_row_stride = p.in + c.noise_padding});
    const std::vector<float> all = on_host(y);
    std::vector<float> result;
    for (std::int64_t row = 0; row < p.pop * p.batch; ++row) {
      const float* first = all.data() + row * y_stride;
      result.insert(result.end(), first, first + p.out);
      for (std::int64_t n = p.out; n < y_stride; ++n) EXPECT_TRUE(std::isnan(first[n]));
    }
    return result;
  }

  void expect_right(const Case& c, double bound = 2e-6) {
    const Inputs inputs = draw(c.problem, 17);
    EXPECT_LE(relative_error(run(c, inputs), reference(c, inputs)), bound)
        << command_flags(c.problem) << " pop " << c.problem.pop << " batch " << c.problem.batch
        << " in " << c.problem.in << " out " << c.problem.out << " offset " << c.offset;
  }
};

TEST_F(PerturbedLinearOnGpu, IsWithinTwoMillionthsAt1024) {
  expect_right({.problem = {.pop = 16, .batch = 64, .in = 1024, .out = 1024}});
}

TEST_F(PerturbedLinearOnGpu, IsRightForOddSizes) {
  for (const std::int64_t in : {1, 33, 257}) {
    for (const std::int64_t out : {7, 66}) {
      for (const std::int64_t batch : {1, 17}) {
        expect_right(
            {.problem = {.pop = 3, .batch = batch, .in = in, .out = out}, .offset = 12345});
      }
    }
  }
}

TEST_F(PerturbedLinearOnGpu, IsRightForEveryNoiseTypeLayoutAndBias) {
  int kind = 0;
  for (NoiseSpec noise : every_noise()) {
    for (const DataType type : {DataType::f32, DataType::f16, DataType::bf16}) {
      ++kind;
      noise.antithetic = kind % 2 == 0;
      const auto layout = kind % 3 == 0 ? InputLayout::shared : InputLayout::individual;
      const PerturbedLinear problem{.noise = noise,
                                    .input = type,
                                    .bias = kind % 5 != 0,
                                    .layout = layout,
                                    .pop = 4,
                                    .batch = 20,
                                    .in = 192,
                                    .out = 80};
      expect_right({.problem = problem});                                   // the fast kernel
      expect_right({.problem = problem, .offset = 71, .misalignment = 1});  // the other one
    }
  }
}

TEST_F(PerturbedLinearOnGpu, FollowsStridesAndWritesNothingBetweenRows) {
  const PerturbedLinear problem{.pop = 3, .batch = 10, .in = 100, .out = 70};
  expect_right({.problem = problem,
                .offset = (std::int64_t{1} << 32) - 64,
                .sigma = -0.3f,
                .x_padding = 28,
                .weight_padding = 4,
                .y_padding = 5,
                .noise_padding = 28});
  expect_right({.problem = problem, .x_padding = 1, .weight_padding = 3, .noise_padding = 7});
}

TEST_F(PerturbedLinearOnGpu, EveryDepthAndTileGivesTheSameBits) {
  const PerturbedLinear problem{
      .layout = InputLayout::individual, .pop = 4, .batch = 40, .in = 320, .out = 136};
  const Inputs inputs = draw(problem, 3);
  const auto expected = bits_of(run({.problem = problem}, inputs));
  for (const char* config :
       {"simt_o64b64k64_s1_w8_r1", "simt_o64b64k64_s2_w8_r1", "simt_o64b64k64_s3_w8_r1",
        "simt_o64b64k64_s4_w8_r1", "simt_o16b8k128_s2_w1_r2", "simt_o128b32k64_s2_w4_r1",
        "simt_o32b128k64_s3_w4_r1"}) {
    EXPECT_EQ(bits_of(run({.problem = problem, .config = parse_config(config)}, inputs)), expected)
        << config;
  }
}

TEST_F(PerturbedLinearOnGpu, ABakedShapeGivesTheSameBits) {
  PerturbedLinear problem{.pop = 2, .batch = 9, .in = 130, .out = 50};
  const Inputs inputs = draw(problem, 4);
  const auto expected = bits_of(run({.problem = problem}, inputs));
  problem.bake_shape = true;
  EXPECT_EQ(bits_of(run({.problem = problem}, inputs)), expected);
}

TEST_F(PerturbedLinearOnGpu, TheBatchSizeDoesNotReachTheBits) {
  const PerturbedLinear whole{.pop = 2, .batch = 70, .in = 96, .out = 24};
  const Inputs inputs = draw(whole, 5);
  const auto expected = bits_of(run({.problem = whole}, inputs));
  PerturbedLinear part = whole;
  part.batch = 3;
  Inputs first = inputs;
  first.x.resize(static_cast<std::size_t>(part.batch * part.in));
  const auto bits = bits_of(run({.problem = part}, first));
  for (std::int64_t i = 0; i < part.pop; ++i) {
    for (std::int64_t n = 0; n < part.batch * part.out; ++n) {
      EXPECT_EQ(bits[static_cast<std::size_t>(i * part.batch * part.out + n)],
                expected[static_cast<std::size_t>(i * whole.batch * whole.out + n)]);
    }
  }
}

TEST_F(PerturbedLinearOnGpu, WithoutInputsThereIsBiasAlone) {
  const Case c{.problem = {.pop = 3, .batch = 5, .in = 0, .out = 33}, .sigma = 0.7f};
  const Inputs inputs = draw(c.problem, 6);
  EXPECT_LE(relative_error(run(c, inputs), reference(c, inputs)), 1e-7);
}

// W = 0, X = identity and sigma = 1 isolate the noise: Y[i] is N_i transposed.
class NoiseOnGpu : public PerturbedLinearOnGpu {
 protected:
  void expect_noise(const NoiseSpec& noise, std::int64_t in, std::int64_t out, std::int64_t offset,
                    DataType type = DataType::f32) {
    const PerturbedLinear problem{
        .noise = noise, .input = type, .bias = true, .pop = 3, .batch = in, .in = in, .out = out};
    Inputs inputs{std::vector<float>(static_cast<std::size_t>(in * in)),
                  std::vector<float>(static_cast<std::size_t>(out * in)),
                  std::vector<float>(static_cast<std::size_t>(out)), random_seeds(3, 7)};
    for (std::int64_t k = 0; k < in; ++k) inputs.x[static_cast<std::size_t>(k * (in + 1))] = 1.0f;
    PerturbedLinear without_bias = problem;
    without_bias.bias = false;
    const std::vector<float> y =
        run({.problem = without_bias, .offset = offset, .sigma = 1.0f}, inputs);
    std::vector<float> row(static_cast<std::size_t>(in));
    std::int64_t wrong = 0;
    for (std::int64_t i = 0; i < problem.pop; ++i) {
      for (std::int64_t j = 0; j < out; ++j) {
        fill_noise(noise, inputs.seeds[static_cast<std::size_t>(i)],
                   static_cast<std::uint64_t>(offset + j * in), in, row.data());
        for (std::int64_t k = 0; k < in; ++k) {
          wrong += y[static_cast<std::size_t>((i * in + k) * out + j)] !=
                   row[static_cast<std::size_t>(k)];
        }
      }
    }
    EXPECT_EQ(wrong, 0) << to_string(noise) << " in " << in << " out " << out << " offset "
                        << offset;
  }
};

TEST_F(NoiseOnGpu, HasTheBitsOfTheCpuAtEveryAlignment) {
  for (const NoiseSpec& noise : every_noise()) {
    expect_noise(noise, 128, 70, 0);
    expect_noise(noise, 128, 70, (std::int64_t{1} << 32) - 64);
    expect_noise(noise, 100, 37, 5);
    expect_noise(noise, 65, 66, (std::int64_t{1} << 62) + 1);
  }
}

TEST_F(NoiseOnGpu, HasTheSameBitsFor16BitInputs) {
  expect_noise(NoiseSpec{}, 128, 40, 64, DataType::bf16);
  expect_noise(NoiseSpec{}, 75, 40, 11, DataType::f16);
}

}  // namespace
}  // namespace vnjit::tests
