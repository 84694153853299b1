#include "bench_cases.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <random>

#include "vnjit/codegen/error.hpp"

namespace vnjit::cli {
namespace {

struct Sizes {
  const char* name;
  std::int64_t pop, batch, in, out;
  InputLayout layout;
};

constexpr Sizes kForward[] = {
    {"F1", 256, 128, 1024, 1024, InputLayout::shared},
    {"F2", 64, 256, 4096, 4096, InputLayout::shared},
    {"F3", 1024, 64, 784, 256, InputLayout::shared},
    {"F4", 1024, 64, 512, 1536, InputLayout::individual},
    {"F5", 8192, 1, 64, 64, InputLayout::individual},
    {"F6", 4096, 16, 256, 256, InputLayout::individual},
    {"F7", 16, 1024, 512, 128, InputLayout::shared},
};

PerturbedLinear problem_of(const Sizes& sizes, DataType input) {
  return {.input = input,
          .layout = sizes.layout,
          .pop = sizes.pop,
          .batch = sizes.batch,
          .in = sizes.in,
          .out = sizes.out};
}

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

std::vector<BenchCase> forward_cases() {
  std::vector<BenchCase> cases;
  for (const DataType type : {DataType::f16, DataType::bf16}) {
    const char* suffix = type == DataType::f16 ? "" : "-bf16";
    for (const Sizes& sizes : kForward) {
      cases.push_back({fmt::format("{}{}", sizes.name, suffix), problem_of(sizes, type)});
    }
  }
  PerturbedLinear triton = problem_of(kForward[0], DataType::f32);
  triton.noise = parse_noise_spec("triton");
  triton.precision = Precision::tf32;
  cases.push_back({"F1-triton", triton});
  triton.precision = Precision::f16;
  cases.push_back({"F1-triton-f16", triton});
  for (const Sizes& sizes : {kForward[0], kForward[1]}) {
    PerturbedLinear quantized = problem_of(sizes, DataType::f16);
    quantized.precision = Precision::int8;
    cases.push_back({fmt::format("{}-int8", sizes.name), quantized});
  }
  return cases;
}

std::vector<BenchCase> random_cases(std::int64_t count, std::uint64_t seed) {
  Draw draw(seed);
  std::vector<BenchCase> cases;
  while (static_cast<std::int64_t>(cases.size()) < count) {
    const PerturbedLinear problem = draw_problem(draw);
    if (is_measurable(problem)) cases.push_back({fmt::format("R{}", cases.size() + 1), problem});
  }
  return cases;
}

std::vector<BenchCase> named_cases(std::span<const std::string> names) {
  std::vector<BenchCase> all = forward_cases();
  if (names.empty()) return all;
  std::vector<BenchCase> cases;
  for (const std::string& name : names) {
    const auto found = std::ranges::find(all, name, &BenchCase::name);
    if (found == all.end()) {
      std::vector<std::string_view> known(all.size());
      std::ranges::transform(all, known.begin(), &BenchCase::name);
      throw InvalidArgument(
          fmt::format("there is no case '{}'; use {}", name, fmt::join(known, ", ")));
    }
    cases.push_back(*found);
  }
  return cases;
}

}  // namespace vnjit::cli
