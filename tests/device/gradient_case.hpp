#pragma once

#include <algorithm>
#include <cmath>
#include <optional>

#include "device_test.hpp"
#include "vnjit/codegen/candidates.hpp"
#include "vnjit/codegen/sum_config.hpp"
#include "vnjit/codegen/sum_split.hpp"

namespace vnjit::tests {

/// One block of parameters; paddings are what the rows are apart beyond their columns.
struct BlockShape {
  std::int64_t offset = 0;
  std::int64_t rows = 1;
  std::int64_t columns = 0;
  std::int64_t noise_padding = 0;
  std::int64_t padding = 0;  ///< of output, weight and moments

  std::int64_t elements() const { return rows * (columns + padding); }
  std::int64_t element(std::int64_t row, std::int64_t column) const {
    return offset + row * (columns + noise_padding) + column;
  }
};

/// What a run leaves of a block, gaps between rows included.
struct BlockResult {
  std::vector<float> output, weight, first_moment, second_moment;
};

/// A gradient, and everything that it is made of.
struct GradientCase {
  Gradient problem{};
  std::vector<BlockShape> blocks{};
  std::vector<float> fitness{};
  std::vector<std::int64_t> seeds{};
  float sigma = 0.1f;
  bool sigma_on_device = false;
  std::int64_t pop_size = 0;
  UpdateStep update{};
  bool output = true;
  std::optional<Config> config{};

  /// A population of the problem, with random fitness of full mantissas.
  static GradientCase of(Gradient problem, std::vector<BlockShape> blocks, std::int64_t pop) {
    problem.pop = pop;
    problem.rows = blocks[0].rows;
    problem.columns = blocks[0].columns;
    GradientCase made{.problem = problem, .blocks = std::move(blocks)};
    made.fitness = normal_values(pop, static_cast<unsigned>(pop));
    made.seeds = random_seeds(problem.noise.antithetic ? pop / 2 : pop, 2);
    return made;
  }

  std::int64_t pop() const { return static_cast<std::int64_t>(fitness.size()); }
};

/// A case in the memory of any device: outputs are NaN, weights and moments start with values that
/// tell their places apart, gaps between rows with NaN.
class LoadedCase {
 public:
  LoadedCase(Runtime& runtime, const std::shared_ptr<Device>& device, const GradientCase& subject)
      : case_(subject),
        plan_(runtime.plan(subject.problem, device, subject.config)),
        fitness_(device, subject.fitness.data(), subject.fitness.size()),
        seeds_(device, subject.seeds.data(), subject.seeds.size()),
        sigma_(device, &subject.sigma, 1) {
    for (const BlockShape& shape : subject.blocks) load(device, shape);
  }

  const Plan& plan() const { return *plan_; }

  GradientArguments arguments() const {
    return {.fitness = fitness_.data(),
            .seeds = seeds_.data(),
            .sigma = case_.sigma_on_device ? Sigma(static_cast<const float*>(sigma_.data()))
                                           : Sigma(case_.sigma),
            .pop = case_.pop(),
            .pop_size = case_.pop_size,
            .update = case_.update,
            .blocks = blocks_};
  }

  std::size_t workspace_bytes() const { return plan_->workspace_bytes(arguments()); }

  /// One step; the next one has the next number.
  void run(StreamHandle stream = nullptr, Workspace workspace = {}) {
    plan_->run(arguments(), stream, workspace);
    ++case_.update.step;
  }

  /// What a captured graph reads when it runs.
  void refill(const std::vector<float>& fitness, float sigma) {
    fitness_.copy_from(fitness.data());
    sigma_.copy_from(&sigma);
  }

  std::vector<BlockResult> results() const {
    const auto fetched = [](const Buffer<float>& buffer) {
      std::vector<float> values(buffer.size());
      buffer.copy_to(values.data());
      return values;
    };
    std::vector<BlockResult> results;
    for (const Buffers& made : buffers_) {
      results.push_back({fetched(made.output), fetched(made.weight), fetched(made.first_moment),
                         fetched(made.second_moment)});
    }
    return results;
  }

 private:
  struct Buffers {
    Buffer<float> output, weight, first_moment, second_moment;
  };

  void load(const std::shared_ptr<Device>& device, const BlockShape& shape) {
    const auto filled = [&](float base) {
      std::vector<float> values(static_cast<std::size_t>(shape.elements()), kNaN);
      for (std::int64_t row = 0; row < shape.rows; ++row) {
        for (std::int64_t column = 0; column < shape.columns; ++column) {
          const std::int64_t at = row * (shape.columns + shape.padding) + column;
          values[static_cast<std::size_t>(at)] = base * static_cast<float>(1 + at % 97);
        }
      }
      return Buffer<float>(device, values.data(), values.size());
    };
    Buffers& made = buffers_.emplace_back();
    GradientBlock& block = blocks_.emplace_back();
    block = {.offset = shape.offset, .rows = shape.rows, .columns = shape.columns};
    block.output_row_stride = block.weight_row_stride = shape.columns + shape.padding;
    block.noise_row_stride = shape.columns + shape.noise_padding;
    if (case_.output) {
      made.output = filled(kNaN);
      block.output = made.output.data();
    }
    if (case_.problem.update != Update::none) {
      made.weight = filled(0.01f);
      block.weight = made.weight.data();
    }
    if (case_.problem.update == Update::adam) {
      made.first_moment = filled(1e-4f);
      made.second_moment = filled(1e-6f);
      block.first_moment = made.first_moment.data();
      block.second_moment = made.second_moment.data();
    }
  }

  GradientCase case_;
  std::shared_ptr<const Plan> plan_;
  Buffer<float> fitness_;
  Buffer<std::int64_t> seeds_;
  Buffer<float> sigma_;
  std::vector<Buffers> buffers_;
  std::vector<GradientBlock> blocks_;
};

/// What `steps` runs of a case leave.
inline std::vector<BlockResult> run_case(Runtime& runtime, const std::shared_ptr<Device>& device,
                                         const GradientCase& subject, int steps = 1) {
  LoadedCase loaded(runtime, device, subject);
  for (int step = 0; step < steps; ++step) loaded.run();
  return loaded.results();
}

/// Sum of fitness times noise over (pop_size·sigma) for the parameters of a block, row by row.
inline std::vector<double> expected_gradient(const GradientCase& subject, const BlockShape& shape) {
  const double divisor =
      static_cast<double>(subject.pop_size ? subject.pop_size : subject.pop()) *
      static_cast<double>(subject.sigma) *
      (subject.problem.normalize == Normalize::unbiased ? subject.problem.noise.variance() : 1.0);
  std::vector<double> result;
  for (std::int64_t row = 0; row < shape.rows; ++row) {
    for (std::int64_t column = 0; column < shape.columns; ++column) {
      double sum = 0;
      for (std::int64_t i = 0; i < subject.pop(); ++i) {
        sum +=
            static_cast<double>(subject.fitness[static_cast<std::size_t>(i)]) *
            individual_noise(subject.problem.noise, subject.seeds, i, shape.element(row, column));
      }
      result.push_back(sum / divisor);
    }
  }
  return result;
}

/// The parameters of a block without the gaps, which have to be NaN still.
inline std::vector<float> packed(const std::vector<float>& values, const BlockShape& shape) {
  std::vector<float> result;
  for (std::int64_t at = 0; at < shape.elements(); ++at) {
    const float value = values[static_cast<std::size_t>(at)];
    if (at % (shape.columns + shape.padding) < shape.columns) {
      result.push_back(value);
    } else {
      EXPECT_TRUE(std::isnan(value)) << "gap at " << at;
    }
  }
  return result;
}

inline void expect_same_bits(const std::vector<BlockResult>& found,
                             const std::vector<BlockResult>& expected) {
  ASSERT_EQ(found.size(), expected.size());
  for (std::size_t n = 0; n < found.size(); ++n) {
    SCOPED_TRACE(n);
    EXPECT_EQ(bits_of(found[n].output), bits_of(expected[n].output));
    EXPECT_EQ(bits_of(found[n].weight), bits_of(expected[n].weight));
    EXPECT_EQ(bits_of(found[n].first_moment), bits_of(expected[n].first_moment));
    EXPECT_EQ(bits_of(found[n].second_moment), bits_of(expected[n].second_moment));
  }
}

/// Noise whose sums are integers, and the rest.
inline std::vector<NoiseSpec> noises(bool integer_sums) {
  std::vector<NoiseSpec> chosen;
  for (const NoiseSpec& noise : every_noise()) {
    if (has_integer_sums(noise) == integer_sums) chosen.push_back(noise);
  }
  return chosen;
}

/// One noise of each kind of sums, and of each way to make values.
inline std::vector<NoiseSpec> some_noises() {
  std::vector<NoiseSpec> chosen;
  for (const char* text : {"philox:uniform8", "philox:rademacher", "philox:uniform", "triton"}) {
    chosen.push_back(parse_noise_spec(text));
  }
  return chosen;
}

/// Gradients on the GPU, and what they should be: the bits of the CPU where sums are integers, else
/// at most 1e-6 off sums in float64.
class GradientOnGpu : public DeviceTest {
 protected:
  std::vector<BlockResult> on_cpu(GradientCase subject, int steps = 1) {
    subject.config.reset();
    return run_case(runtime, runtime.cpu(), subject, steps);
  }

  void expect_bits_of_the_cpu(const GradientCase& subject, int steps = 1) {
    expect_same_bits(run_case(runtime, device, subject, steps), on_cpu(subject, steps));
  }

  void expect_right(const GradientCase& subject, const std::vector<BlockResult>& found) {
    if (has_integer_sums(subject.problem.noise)) return expect_same_bits(found, on_cpu(subject));
    ASSERT_EQ(found.size(), subject.blocks.size());
    // Over all blocks: the gradient of a single parameter may be a small difference.
    std::vector<float> values;
    std::vector<double> reference;
    for (std::size_t n = 0; n < found.size(); ++n) {
      if (found[n].output.empty()) continue;
      const std::vector<float> here = packed(found[n].output, subject.blocks[n]);
      const std::vector<double> there = expected_gradient(subject, subject.blocks[n]);
      values.insert(values.end(), here.begin(), here.end());
      reference.insert(reference.end(), there.begin(), there.end());
    }
    EXPECT_LE(relative_error(values, reference), 1e-6);
  }

  void expect_right(const GradientCase& subject) {
    expect_right(subject, run_case(runtime, device, subject));
  }

  /// Checks a block of one row by parts of it: its first elements, some in the middle, its last.
  void expect_samples_right(const GradientCase& subject, const BlockShape& shape,
                            const BlockResult& found) {
    constexpr std::int64_t kSample = 50;
    const std::int64_t length = std::min(kSample, shape.columns);
    GradientCase sample = subject;
    sample.output = true;
    std::vector<BlockResult> results;
    sample.blocks.clear();
    for (const std::int64_t at :
         {std::int64_t{0}, (shape.columns - length) / 2, shape.columns - length}) {
      sample.blocks.push_back({.offset = shape.offset + at, .columns = length});
      const auto first = found.output.begin() + at;
      results.emplace_back().output.assign(first, first + length);
    }
    expect_right(sample, results);
  }
};

}  // namespace vnjit::tests
