#include "bench_gradient.hpp"

#include <fmt/format.h>

namespace vnjit::cli {
namespace {

using Shapes = std::vector<std::vector<std::int64_t>>;

constexpr float kLearningRate = 1e-3f;

struct Sizes {
  const char* name;
  std::int64_t pop;
  Shapes shapes;
};

/// Weights and biases of a perceptron, layer by layer: 64-512-512-(1536-512-2048-512)x8-10, 35
/// layers with 29.7 million parameters.
Shapes model_shapes() {
  std::vector<std::int64_t> widths = {64, 512, 512};
  for (int repeat = 0; repeat < 8; ++repeat) {
    for (const std::int64_t width : {1536, 512, 2048, 512}) widths.push_back(width);
  }
  widths.push_back(10);
  Shapes shapes;
  for (std::size_t layer = 1; layer < widths.size(); ++layer) {
    shapes.push_back({widths[layer], widths[layer - 1]});
    shapes.push_back({widths[layer]});
  }
  return shapes;
}

std::vector<Sizes> all_sizes() {
  return {{"G1", 256, {{1024, 1024}}},
          {"G2", 1024, {{1536, 512}}},
          {"bias", 1024, {{256}}},
          {"model", 256, model_shapes()}};
}

std::int64_t elements_of(const std::vector<std::int64_t>& shape) {
  std::int64_t count = 1;
  for (const std::int64_t size : shape) count *= size;
  return count;
}

Gradient problem_of(const Sizes& sizes, const NoiseSpec& noise) {
  Gradient problem{.noise = noise, .pop = sizes.pop, .rows = 1};
  if (sizes.shapes.size() > 1) {
    problem.columns = 0;
    for (const auto& shape : sizes.shapes) problem.columns += elements_of(shape);
    return problem;
  }
  const std::vector<std::int64_t>& shape = sizes.shapes.front();
  problem.vector = shape.size() == 1;
  if (!problem.vector) problem.rows = shape.front();
  problem.columns = shape.back();
  return problem;
}

std::vector<BenchCase> cases() {
  std::vector<BenchCase> all;
  for (const Sizes& sizes : all_sizes()) {
    for (const auto& [suffix, noise] : noise_variants()) {
      all.push_back({sizes.name + suffix, problem_of(sizes, noise), sizes.shapes});
    }
  }
  for (const Update update : {Update::sgd, Update::adam}) {
    const Sizes sizes = all_sizes().front();
    Gradient problem = problem_of(sizes, NoiseSpec{});
    problem.update = update;
    all.push_back({fmt::format("{}-{}", sizes.name, to_string(update)), problem, sizes.shapes});
  }
  return all;
}

std::int64_t parameters(const Gradient& problem) { return problem.rows * problem.columns; }

std::vector<Field> fields(const BenchCase& subject) {
  const auto& problem = std::get<Gradient>(subject.problem);
  const std::string shape = subject.shapes.size() == 1
                                ? fmt::format("{}", fmt::join(subject.shapes.front(), "x"))
                                : "several";
  return {{"case", -16, "case", subject.name},
          {"P", 5, "pop", problem.pop},
          {"blocks", 6, "blocks", subject.shapes.size()},
          {"shape", 9, "shape", shape},
          {"params", 8, "params", parameters(problem)},
          {"update", -6, "update", to_string(problem.update)},
          {"noise", -19, "noise", to_string(problem.noise)}};
}

Work work(const BenchCase& subject) {
  const auto& problem = std::get<Gradient>(subject.problem);
  return {.noise_values =
              static_cast<double>(problem.pop) * static_cast<double>(parameters(problem))};
}

/// Blocks that lie one after the other in each of the given arrays, null or of all parameters.
std::vector<GradientBlock> blocks_of(const Shapes& shapes, float* output, float* weight,
                                     float* first_moment, float* second_moment) {
  const std::vector<std::int64_t> offsets = compute_offsets(shapes, 64);
  const auto at = [](float* data, std::int64_t start) { return data ? data + start : nullptr; };
  std::vector<GradientBlock> blocks;
  std::int64_t start = 0;
  for (std::size_t n = 0; n < shapes.size(); ++n) {
    const std::int64_t count = elements_of(shapes[n]);
    const std::int64_t columns = shapes[n].back();
    blocks.push_back({.offset = offsets[n],
                      .rows = count / columns,
                      .columns = columns,
                      .output = at(output, start),
                      .weight = at(weight, start),
                      .first_moment = at(first_moment, start),
                      .second_moment = at(second_moment, start)});
    start += count;
  }
  return blocks;
}

/// What each block writes.
std::vector<Output> outputs_of(const std::vector<GradientBlock>& blocks) {
  std::vector<Output> outputs;
  for (const GradientBlock& block : blocks) {
    const std::int64_t count = block.rows * block.columns;
    if (block.output) outputs.push_back({block.output, count, kPoison});
    for (const float* updated : {block.weight, block.first_moment, block.second_moment}) {
      if (updated) outputs.push_back({updated, count, 0.0f});
    }
  }
  return outputs;
}

bool measure(BenchDevice& device, const Plan& plan, BenchRow& row) {
  const auto& problem = std::get<Gradient>(row.subject.problem);
  const bool updates = problem.update != Update::none;
  const bool has_moments = problem.update == Update::adam;
  const std::int64_t count = parameters(problem);
  const auto fitness = device.normal(problem.pop);
  const auto seeds = device.seeds(problem.pop);
  const auto output = device.filled(updates ? 0 : count, kPoison);
  const auto weight = device.filled(updates ? count : 0, 0.0f);
  const auto first_moment = device.filled(has_moments ? count : 0, 0.0f);
  const auto second_moment = device.filled(has_moments ? count : 0, 0.0f);
  const auto blocks = blocks_of(row.subject.shapes, output.data(), weight.data(),
                                first_moment.data(), second_moment.data());
  const GradientArguments arguments{.fitness = fitness.data(),
                                    .seeds = seeds.data(),
                                    .sigma = kBenchSigma,
                                    .pop = problem.pop,
                                    .update = {.learning_rate = kLearningRate},
                                    .blocks = blocks};
  return device.measure(plan, arguments, updates ? "W" : "G", outputs_of(blocks), row);
}

}  // namespace

Suite gradient_suite() {
  return {.name = "gradient",
          .cases = cases,
          .fields = fields,
          .work = work,
          .measure = measure,
          .has_ceiling = true};
}

}  // namespace vnjit::cli
