#include "bench_random.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <random>

namespace vnjit::cli {
namespace {

/// Draws that are the same with every C++ library.
class Draw {
 public:
  explicit Draw(std::uint64_t seed) : engine_(seed) {}

  std::int64_t below(std::int64_t count) {
    return static_cast<std::int64_t>(unit() * static_cast<double>(count));
  }
  std::int64_t log_uniform(std::int64_t least, std::int64_t most) {
    const double ratio = static_cast<double>(most + 1) / static_cast<double>(least);
    return std::min(
        most, static_cast<std::int64_t>(static_cast<double>(least) * std::pow(ratio, unit())));
  }

 private:
  double unit() { return static_cast<double>(engine_() >> 11) * 0x1p-53; }

  std::mt19937_64 engine_;
};

std::int64_t round_up(std::int64_t value, std::int64_t multiple) {
  return (value + multiple - 1) / multiple * multiple;
}

PerturbedLinear draw_problem(Draw& draw) {
  constexpr std::int64_t kMultiples[] = {64, 64, 16, 1};
  PerturbedLinear problem{.input = DataType::f16};
  problem.layout = draw.below(2) == 0 ? InputLayout::shared : InputLayout::individual;
  problem.pop = draw.log_uniform(8, 8192);
  problem.batch = draw.log_uniform(1, 1024);
  problem.in = round_up(draw.log_uniform(32, 4096), kMultiples[draw.below(4)]);
  problem.out = draw.log_uniform(32, 4096);
  return problem;
}

/// Not so large that it takes long, nor so small that the time to launch kernels is measured.
bool is_measurable(const PerturbedLinear& problem) {
  const std::int64_t noise = problem.pop * problem.in * problem.out;
  const std::int64_t products = noise * problem.batch;
  const std::int64_t outputs = problem.pop * problem.batch * problem.out;
  const std::int64_t inputs = problem.pop * problem.batch * problem.in;
  return noise >= 16'000'000 && noise <= 1'000'000'000 && products <= 150'000'000'000 &&
         outputs <= 250'000'000 && inputs <= 50'000'000;
}

}  // namespace

std::vector<BenchCase> random_forward_cases(std::int64_t count, std::uint64_t seed) {
  Draw draw(seed);
  std::vector<BenchCase> cases;
  while (static_cast<std::int64_t>(cases.size()) < count) {
    const PerturbedLinear problem = draw_problem(draw);
    if (is_measurable(problem)) cases.push_back({fmt::format("R{}", cases.size() + 1), problem});
  }
  return cases;
}

}  // namespace vnjit::cli
