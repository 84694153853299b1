#include "bench_reduce.hpp"

namespace vnjit::cli {
namespace {

std::vector<BenchCase> cases() {
  std::vector<NoiseVariant> variants = noise_variants();
  variants.push_back({"-antithetic", {.antithetic = true}});
  std::vector<BenchCase> all;
  for (const auto& [name, pop, params] :
       {std::tuple("R1", 1024, 1'000'000), std::tuple("R2", 64, 50'000'000)}) {
    for (const auto& [suffix, noise] : variants) {
      all.push_back({name + suffix, ReduceMetric{.noise = noise, .pop = pop, .params = params}});
    }
  }
  return all;
}

std::vector<Field> fields(const BenchCase& subject) {
  const auto& problem = std::get<ReduceMetric>(subject.problem);
  return {{"case", -13, "case", subject.name},
          {"P", 5, "pop", problem.pop},
          {"params", 8, "params", problem.params},
          {"pairs", 5, "antithetic", problem.noise.antithetic},
          {"noise", -19, "noise", to_string(problem.noise)}};
}

Work work(const BenchCase& subject) {
  const auto& problem = std::get<ReduceMetric>(subject.problem);
  return {.noise_values = static_cast<double>(problem.noise.seed_count(problem.pop)) *
                          static_cast<double>(problem.params)};
}

bool measure(BenchDevice& device, const Plan& plan, BenchRow& row) {
  const auto& problem = std::get<ReduceMetric>(row.subject.problem);
  const auto center = device.normal(problem.params);
  const auto seeds = device.seeds(problem.noise.seed_count(problem.pop));
  const auto metric = device.filled(problem.pop, kPoison);
  const ReduceMetricArguments arguments{.center = center.data(),
                                        .seeds = seeds.data(),
                                        .metric = metric.data(),
                                        .sigma = kBenchSigma,
                                        .pop = problem.pop,
                                        .params = problem.params};
  const Output output{metric.data(), problem.pop, kPoison};
  return device.measure(plan, arguments, "the metric", {&output, 1}, row);
}

}  // namespace

Suite reduce_suite() {
  return {.name = "reduce",
          .cases = cases,
          .fields = fields,
          .work = work,
          .measure = measure,
          .has_ceiling = true};
}

}  // namespace vnjit::cli
