#include "device_test.hpp"

namespace vnjit::tests {
namespace {

class GradientOnGpu : public DeviceTest {
 protected:
  struct Block {
    std::int64_t offset = 0;
    std::int64_t rows = 0;
    std::int64_t columns = 0;
    std::int64_t noise_padding = 0;
    std::int64_t output_padding = 0;
  };

  static std::vector<double> reference(const Gradient& problem, const Block& block,
                                       const std::vector<float>& fitness,
                                       const std::vector<std::int64_t>& seeds, double divisor) {
    std::vector<double> result;
    for (std::int64_t j = 0; j < block.rows; ++j) {
      for (std::int64_t k = 0; k < block.columns; ++k) {
        const std::int64_t element = block.offset + j * (block.columns + block.noise_padding) + k;
        double sum = 0;
        for (std::size_t i = 0; i < fitness.size(); ++i) {
          sum += fitness[i] *
                 individual_noise(problem.noise, seeds, static_cast<std::int64_t>(i), element);
        }
        result.push_back(sum / divisor);
      }
    }
    return result;
  }

  // The gradient of every block, gathered to contiguous.
  std::vector<std::vector<float>> run(const Gradient& problem, const std::vector<Block>& blocks,
                                      const std::vector<float>& fitness,
                                      const std::vector<std::int64_t>& seeds, Sigma sigma,
                                      std::int64_t pop_size = 0) {
    const auto fitness_there = on_device(fitness);
    const auto seeds_there = on_device(seeds);
    std::vector<Buffer<float>> outputs;
    std::vector<GradientBlock> given;
    for (const Block& block : blocks) {
      outputs.push_back(poisoned(block.rows * (block.columns + block.output_padding)));
      given.push_back({.offset = block.offset,
                       .rows = block.rows,
                       .columns = block.columns,
                       .output = outputs.back().data(),
                       .output_row_stride = block.columns + block.output_padding,
                       .noise_row_stride = block.columns + block.noise_padding});
    }
    runtime.plan(problem, device)
        ->run(GradientArguments{.fitness = fitness_there.data(),
                                .seeds = seeds_there.data(),
                                .sigma = sigma,
                                .pop = static_cast<std::int64_t>(fitness.size()),
                                .pop_size = pop_size,
                                .blocks = given});
    std::vector<std::vector<float>> results;
    for (std::size_t n = 0; n < blocks.size(); ++n) {
      const std::int64_t stride = blocks[n].columns + blocks[n].output_padding;
      const std::vector<float> all = on_host(outputs[n]);
      results.emplace_back();
      for (std::int64_t row = 0; row < blocks[n].rows; ++row) {
        const float* first = all.data() + row * stride;
        results.back().insert(results.back().end(), first, first + blocks[n].columns);
        for (std::int64_t k = blocks[n].columns; k < stride; ++k) {
          EXPECT_TRUE(std::isnan(first[k]));
        }
      }
    }
    return results;
  }
};

TEST_F(GradientOnGpu, IsRightForEveryNoiseOverAListOfBlocks) {
  const std::vector<Block> blocks = {{.offset = 0, .rows = 9, .columns = 64},
                                     {.offset = 576, .rows = 1, .columns = 9},
                                     {.offset = 585, .rows = 5, .columns = 33},
                                     {.offset = (std::int64_t{1} << 32) - 3,
                                      .rows = 3,
                                      .columns = 700,
                                      .noise_padding = 68,
                                      .output_padding = 3}};
  for (NoiseSpec noise : every_noise()) {
    for (const bool antithetic : {false, true}) {
      noise.antithetic = antithetic;
      const std::vector<float> fitness = normal_values(130, 1);
      const auto seeds = random_seeds(antithetic ? 65 : 130, 2);
      const Gradient problem{.noise = noise, .pop = 130, .rows = 9, .columns = 64};
      const auto results = run(problem, blocks, fitness, seeds, 0.1f);
      for (std::size_t n = 0; n < blocks.size(); ++n) {
        const auto expected = reference(problem, blocks[n], fitness, seeds, 130 * 0.1);
        EXPECT_LE(relative_error(results[n], expected), 1e-6)
            << to_string(noise) << " block " << n << " antithetic " << antithetic;
      }
    }
  }
}

TEST_F(GradientOnGpu, NormalizesAsAsked) {
  const std::vector<Block> block = {{.rows = 4, .columns = 100}};
  const std::vector<float> fitness = normal_values(64, 3);
  const auto seeds = random_seeds(64, 4);
  const Gradient problem{.normalize = Normalize::unbiased, .pop = 64, .rows = 4, .columns = 100};
  const double variance = (1 - std::ldexp(1.0, -16)) / 12;
  EXPECT_LE(relative_error(run(problem, block, fitness, seeds, 0.25f, 1000)[0],
                           reference(problem, block[0], fitness, seeds, 1000 * 0.25 * variance)),
            1e-6);
}

TEST_F(GradientOnGpu, OfOneIndividualIsItsNoise) {
  for (const NoiseSpec& noise : every_noise()) {
    const std::vector<Block> block = {{.offset = 1000, .rows = 3, .columns = 333}};
    const Gradient problem{.noise = noise, .pop = 1, .rows = 3, .columns = 333};
    std::vector<float> expected(999);
    fill_noise(noise, -5, 1000, 999, expected.data());
    EXPECT_EQ(run(problem, block, {1.0f}, {-5}, 1.0f)[0], expected) << to_string(noise);
  }
}

TEST_F(GradientOnGpu, GivesTheSameBitsInEveryRun) {
  const std::vector<Block> block = {{.rows = 100, .columns = 1000}};
  const std::vector<float> fitness = normal_values(1000, 5);
  const auto seeds = random_seeds(1000, 6);
  const Gradient problem{.pop = 1000, .rows = 100, .columns = 1000};
  const auto first = bits_of(run(problem, block, fitness, seeds, 0.1f)[0]);
  for (int repeat = 0; repeat < 3; ++repeat) {
    EXPECT_EQ(bits_of(run(problem, block, fitness, seeds, 0.1f)[0]), first);
  }
}

TEST_F(GradientOnGpu, ReadsSigmaFromTheDevice) {
  const std::vector<Block> block = {{.rows = 2, .columns = 70}};
  const std::vector<float> fitness = normal_values(10, 7);
  const auto seeds = random_seeds(10, 8);
  const Gradient problem{.pop = 10, .rows = 2, .columns = 70};
  const auto sigma = on_device(std::vector<float>{0.125f});
  EXPECT_EQ(run(problem, block, fitness, seeds, static_cast<const float*>(sigma.data())),
            run(problem, block, fitness, seeds, 0.125f));
}

class ReduceMetricOnGpu : public DeviceTest {
 protected:
  std::vector<float> run(const ReduceMetric& problem, const std::vector<float>& center,
                         const std::vector<std::int64_t>& seeds, Sigma sigma, std::int64_t offset) {
    const auto center_there = on_device(encoded(problem.input, center));
    const auto seeds_there = on_device(seeds);
    const auto metric = poisoned(problem.pop);
    runtime.plan(problem, device)
        ->run(ReduceMetricArguments{.center = center_there.data(),
                                    .seeds = seeds_there.data(),
                                    .metric = metric.data(),
                                    .sigma = sigma,
                                    .offset = offset,
                                    .pop = problem.pop,
                                    .params = problem.params});
    return on_host(metric);
  }
};

TEST_F(ReduceMetricOnGpu, IsRightForEveryNoiseTypeAndAlignment) {
  int kind = 0;
  for (NoiseSpec noise : every_noise()) {
    for (const std::int64_t params : {1, 77, 5000}) {
      for (const std::int64_t offset : {0, 63, 1001}) {
        ++kind;
        noise.antithetic = kind % 2 == 0;
        const auto type = kind % 3 == 0   ? DataType::f32
                          : kind % 3 == 1 ? DataType::f16
                                          : DataType::bf16;
        const ReduceMetric problem{.noise = noise, .input = type, .pop = 4, .params = params};
        const std::vector<float> center = random_values(params, 9);
        const auto seeds = random_seeds(noise.antithetic ? 2 : 4, 10);
        std::vector<double> expected;
        for (std::int64_t i = 0; i < 4; ++i) {
          double sum = 0;
          for (std::int64_t k = 0; k < params; ++k) {
            sum += std::abs(center[static_cast<std::size_t>(k)] +
                            0.5 * individual_noise(noise, seeds, i, offset + k));
          }
          expected.push_back(sum / static_cast<double>(params));
        }
        EXPECT_LE(relative_error(run(problem, center, seeds, 0.5f, offset), expected), 1e-6)
            << to_string(noise) << " params " << params << " offset " << offset;
      }
    }
  }
}

TEST_F(ReduceMetricOnGpu, StaysExactOverAMillionParameters) {
  const ReduceMetric problem{.pop = 2, .params = 1'000'000};
  const std::vector<float> center(1'000'000, 3.0f);
  const auto seeds = random_seeds(2, 11);
  const std::vector<float> metric = run(problem, center, seeds, 0.0f, 0);
  EXPECT_EQ(metric, (std::vector<float>{3.0f, 3.0f}));
}

TEST_F(ReduceMetricOnGpu, OfNoParametersIsNaN) {
  for (const float value : run({.pop = 3, .params = 0}, {}, random_seeds(3, 12), 0.1f, 0)) {
    EXPECT_TRUE(std::isnan(value));
  }
}

}  // namespace
}  // namespace vnjit::tests
