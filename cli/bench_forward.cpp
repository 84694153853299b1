#include "bench_forward.hpp"

#include <fmt/format.h>

#include <cmath>

#include "bench_random.hpp"

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

std::vector<BenchCase> cases() {
  std::vector<BenchCase> all;
  for (const DataType type : {DataType::f16, DataType::bf16}) {
    const char* suffix = type == DataType::f16 ? "" : "-bf16";
    for (const Sizes& sizes : kForward) {
      all.push_back({fmt::format("{}{}", sizes.name, suffix), problem_of(sizes, type)});
    }
  }
  PerturbedLinear triton = problem_of(kForward[0], DataType::f32);
  triton.noise = parse_noise_spec("triton");
  triton.precision = Precision::tf32;
  all.push_back({"F1-triton", triton});
  triton.precision = Precision::f16;
  all.push_back({"F1-triton-f16", triton});
  for (const Sizes& sizes : {kForward[0], kForward[1]}) {
    PerturbedLinear quantized = problem_of(sizes, DataType::f16);
    quantized.precision = Precision::int8;
    all.push_back({fmt::format("{}-int8", sizes.name), quantized});
  }
  return all;
}

std::string layout_name(InputLayout layout) {
  return layout == InputLayout::shared ? "shared" : "individual";
}

/// Of the inputs, and what the product rounds them to where that differs.
std::string type_name(const PerturbedLinear& problem) {
  std::string name(to_string(problem.input));
  if (problem.precision != Precision::input) {
    name += fmt::format("/{}", to_string(problem.precision));
  }
  return name;
}

std::vector<Field> fields(const BenchCase& subject) {
  const auto& problem = std::get<PerturbedLinear>(subject.problem);
  return {{"case", -9, "case", subject.name},
          {"P", 5, "pop", problem.pop},
          {"B", 5, "batch", problem.batch},
          {"K", 5, "in", problem.in},
          {"N", 5, "out", problem.out},
          {"X", -10, "x", layout_name(problem.layout)},
          {"type", -8, "type", type_name(problem)},
          {"noise", -17, "noise", to_string(problem.noise)}};
}

Work work(const BenchCase& subject) {
  const auto& problem = std::get<PerturbedLinear>(subject.problem);
  const double values = static_cast<double>(problem.pop) * static_cast<double>(problem.in) *
                        static_cast<double>(problem.out);
  return {.noise_values = values, .flops = 2 * static_cast<double>(problem.batch) * values};
}

bool measure(BenchDevice& device, const Plan& plan, BenchRow& row) {
  const auto& problem = std::get<PerturbedLinear>(row.subject.problem);
  const bool individual = problem.layout == InputLayout::individual;
  const float deviation = 1 / std::sqrt(static_cast<float>(problem.in));
  const auto x =
      device.normal((individual ? problem.pop : 1) * problem.batch * problem.in, 1, problem.input);
  const auto weight = device.normal(problem.out * problem.in, deviation, problem.input);
  const auto bias = device.normal(problem.out, deviation, problem.input);
  const auto seeds = device.seeds(problem.pop);
  const auto y = device.filled(problem.pop * problem.batch * problem.out, kPoison);
  const PerturbedLinearArguments arguments{.x = x.data(),
                                           .weight = weight.data(),
                                           .bias = bias.data(),
                                           .seeds = seeds.data(),
                                           .y = y.data(),
                                           .sigma = kBenchSigma,
                                           .pop = problem.pop,
                                           .batch = problem.batch,
                                           .in = problem.in,
                                           .out = problem.out};
  const Output output{y.data(), static_cast<std::int64_t>(y.size()), kPoison};
  return device.measure(plan, arguments, "Y", {&output, 1}, row);
}

}  // namespace

Suite forward_suite() {
  return {.name = "forward",
          .cases = cases,
          .random_cases = random_forward_cases,
          .fields = fields,
          .work = work,
          .measure = measure};
}

}  // namespace vnjit::cli
