#include "vnjit/runtime/tune/roofline.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "vnjit/codegen/data_type.hpp"

namespace vnjit {
namespace {

/// Of a multiprocessor, in floating-point operations a clock, two for a multiply-add.
struct Rates {
  int compute_major, compute_minor;
  double fp16;  // tensor cores, fp16 or bf16 with fp32 sums
  double tf32;  // 0: none
  double int8;
  double fp32;       // ordinary cores
  double bandwidth;  // of the device, bytes a second
};

// T4, A100 (80 GB), RTX 3090, RTX 4090, H200, B200, RTX 5090.
constexpr Rates kRates[] = {
    {7, 5, 1024, 0, 2048, 128, 0.32e12},    {8, 0, 2048, 1024, 4096, 128, 2.04e12},
    {8, 6, 512, 256, 2048, 256, 0.94e12},   {8, 9, 1024, 512, 4096, 256, 1.01e12},
    {9, 0, 4096, 2048, 8192, 256, 4.8e12},  {10, 0, 8192, 4096, 16384, 256, 8.0e12},
    {12, 0, 1024, 512, 4096, 256, 1.79e12},
};

struct Work {
  double operations = 0;
  double rate = 0;  // operations a clock and multiprocessor
  double bytes = 0;
};

double rate_of(const PerturbedLinear& problem, const Rates& rates) {
  switch (operand_precision(problem)) {
    case Precision::f16:
    case Precision::bf16:
      return rates.fp16;
    case Precision::tf32:
      return rates.tf32 > 0 ? rates.tf32 : rates.fp32;
    case Precision::int8:
      return rates.int8;
    default:
      return rates.fp32;
  }
}

double as_double(std::int64_t value) { return static_cast<double>(value); }

Work work_of(const PerturbedLinear& p, const Rates& rates) {
  const double rows = as_double(p.pop) * as_double(p.batch);
  const double x =
      (p.layout == InputLayout::individual ? rows : as_double(p.batch)) * as_double(p.in);
  return {.operations = 2 * rows * as_double(p.in) * as_double(p.out),
          .rate = rate_of(p, rates),
          .bytes = size_bytes(p.input) * (x + as_double(p.in) * as_double(p.out)) +
                   size_bytes(p.output) * rows * as_double(p.out)};
}

Work work_of(const Gradient& p, const Rates& rates) {
  const double elements = as_double(p.rows) * as_double(p.columns);
  const double arrays = p.update == Update::none ? 1 : p.update == Update::sgd ? 2 : 6;
  const bool exact =
      p.noise.generator == Generator::philox && (p.noise.distribution == Distribution::uniform8 ||
                                                 p.noise.distribution == Distribution::rademacher);
  // Four 8-bit digits of fitness times a byte each.
  return {.operations = (exact ? 8 : 2) * elements * as_double(p.pop),
          .rate = exact ? rates.int8 : rates.fp32,
          .bytes = 4 * arrays * elements};
}

Work work_of(const ReduceMetric& p, const Rates& rates) {
  return {.operations = 4 * as_double(p.pop) * as_double(p.params),
          .rate = rates.fp32,
          .bytes = size_bytes(p.input) * as_double(p.params)};
}

}  // namespace

Roofline roofline(const Problem& problem, const DeviceLimits& limits) {
  const auto* rates = std::ranges::find_if(kRates, [&](const Rates& known) {
    return known.compute_major == limits.compute_major &&
           known.compute_minor == limits.compute_minor;
  });
  if (rates == std::end(kRates)) return {};
  const Work work =
      std::visit([&](const auto& operation) { return work_of(operation, *rates); }, problem);
  const double products = work.operations / (work.rate * limits.sm_count * limits.clock_mhz * 1e6);
  const double memory = work.bytes / rates->bandwidth;
  if (products >= memory) {
    return {products, fmt::format("products: {:.3g} operations at {:.3g} a second", work.operations,
                                  work.operations / products)};
  }
  return {memory,
          fmt::format("memory: {:.3g} bytes at {:.3g} a second", work.bytes, rates->bandwidth)};
}

}  // namespace vnjit
