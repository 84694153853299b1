#include "golden_check.hpp"

#include <fmt/format.h>

#include <bit>
#include <cmath>
#include <limits>
#include <map>
#include <span>
#include <string>

#include "vnjit/codegen/error.hpp"
#include "vnjit/codegen/problem.hpp"
#include "vnjit/runtime/cpu/noise.hpp"
#include "vnjit/runtime/operations.hpp"

namespace vnjit::cli {
namespace {

/// run(), whose complaints about values then begin with the case they are from.
template <typename Run>
auto named(const std::string& where, Run run) {
  try {
    return run();
  } catch (const InvalidArgument& error) {
    throw InvalidArgument(fmt::format("{}: {}", where, error.what()));
  }
}

NoiseSpec noise_spec(Generator generator) {
  return parse_noise_spec(generator == Generator::triton ? "triton" : "splitmix64");
}

void compare_bits(const GoldenNoise& row, std::span<const float> values, NoiseCheck& check) {
  for (std::size_t n = 0; n < row.bits.size(); ++n) {
    const std::uint32_t actual = std::bit_cast<std::uint32_t>(values[n]);
    const int differing = std::popcount(actual ^ row.bits[n]);
    ++check.values;
    if (differing == 0) continue;
    if (check.holds()) {
      check.first = fmt::format("{}, seed {}, element {}: {:08x}, not {:08x}", row.where, row.seed,
                                row.offset + static_cast<std::int64_t>(n), actual, row.bits[n]);
    }
    ++check.values_differing;
    check.bits_differing += differing;
  }
}

/// N of elements offset .. offset + columns - 1, (seeds, columns).
std::vector<float> isolate_noise(const NoiseSpec& noise, std::span<const std::int64_t> seeds,
                                 std::int64_t offset, std::size_t columns, Runtime& runtime,
                                 const std::shared_ptr<Device>& device) {
  std::vector<float> identity(columns * columns, 0.0f);
  for (std::size_t k = 0; k < columns; ++k) identity[k * columns + k] = 1.0f;
  const std::vector<float> weight(columns, 0.0f);
  return virtual_perturbed_linear(runtime, device, noise, InputLayout::shared, identity, weight, {},
                                  seeds, 1, static_cast<std::int64_t>(columns), 1.0f, offset);
}

/// Relative error; infinite where a value that is not finite is met by another.
double relative_error(std::span<const float> y, std::span<const float> reference) {
  double difference = 0;
  double norm = 0;
  for (std::size_t n = 0; n < reference.size(); ++n) {
    if (std::bit_cast<std::uint32_t>(y[n]) == std::bit_cast<std::uint32_t>(reference[n]) ||
        (std::isnan(y[n]) && std::isnan(reference[n]))) {
      if (std::isfinite(reference[n])) norm += double{reference[n]} * double{reference[n]};
      continue;
    }
    if (!std::isfinite(y[n]) || !std::isfinite(reference[n])) {
      return std::numeric_limits<double>::infinity();
    }
    const double d = double{y[n]} - double{reference[n]};
    difference += d * d;
    norm += double{reference[n]} * double{reference[n]};
  }
  return difference == 0 ? 0 : std::sqrt(difference / norm);
}

void compare(const GoldenOperations& golden, std::span<const float> y,
             std::span<const float> reference, ErrorCheck& check) {
  const double error = relative_error(y, reference);
  ++check.cases;
  if (error > check.limit) ++check.cases_beyond;
  if (check.where.empty() || error > check.largest) {
    check.largest = error;
    check.where = golden.where;
  }
}

void check_case(const GoldenOperations& golden, const NoiseSpec& noise,
                const GoldenResults& expected, Runtime& runtime,
                const std::shared_ptr<Device>& device, OperationChecks& checks) {
  const InputLayout layout =
      golden.per_individual_x ? InputLayout::individual : InputLayout::shared;
  const std::int64_t bias_offset = golden.offset + golden.out * golden.in;
  compare(
      golden,
      virtual_perturbed_linear(runtime, device, noise, layout, golden.x, golden.weight, golden.bias,
                               golden.seeds, golden.out, golden.in, golden.sigma, golden.offset),
      expected.forward, checks.forward);
  compare(golden,
          virtual_weight_gradient(runtime, device, noise, golden.fitness, golden.seeds, golden.out,
                                  golden.in, golden.sigma, golden.pop, golden.offset),
          expected.weight_gradient, checks.weight_gradient);
  compare(golden,
          virtual_bias_gradient(runtime, device, noise, golden.fitness, golden.seeds, golden.out,
                                golden.sigma, golden.pop, bias_offset),
          expected.bias_gradient, checks.bias_gradient);
  compare(golden,
          virtual_reduce_metric(runtime, device, noise, golden.weight, golden.seeds, golden.sigma,
                                golden.offset),
          expected.reduce_metric, checks.reduce_metric);
}

}  // namespace

NoiseCheck check_applied_noise(const std::vector<GoldenNoise>& rows, Generator generator,
                               Runtime& runtime, const std::shared_ptr<Device>& device) {
  const NoiseSpec noise = noise_spec(generator);
  NoiseCheck check;
  std::map<std::int64_t, std::vector<const GoldenNoise*>> rows_by_offset;
  for (const GoldenNoise& row : rows) rows_by_offset[row.offset].push_back(&row);
  for (const auto& [offset, group] : rows_by_offset) {
    const std::size_t columns = group.front()->bits.size();
    std::vector<std::int64_t> seeds;
    for (const GoldenNoise* row : group) seeds.push_back(row->seed);
    const std::vector<float> values = isolate_noise(noise, seeds, offset, columns, runtime, device);
    for (std::size_t i = 0; i < group.size(); ++i) {
      compare_bits(*group[i], std::span(values).subspan(i * columns, columns), check);
    }
  }
  return check;
}

NoiseCheck check_filled_noise(const std::vector<GoldenNoise>& rows, Generator generator) {
  const NoiseSpec noise = noise_spec(generator);
  NoiseCheck check;
  for (const GoldenNoise& row : rows) {
    std::vector<float> values(row.bits.size());
    fill_noise(noise, row.seed, static_cast<std::uint64_t>(row.offset),
               static_cast<std::int64_t>(values.size()), values.data());
    compare_bits(row, values, check);
  }
  return check;
}

OperationChecks check_operations(const std::vector<GoldenOperations>& cases, GoldenPath path,
                                 Runtime& runtime, const std::shared_ptr<Device>& device) {
  const bool cpu = path == GoldenPath::cpu;
  const NoiseSpec noise = noise_spec(cpu ? Generator::splitmix64 : Generator::triton);
  OperationChecks checks;
  checks.forward.limit = cpu ? 1e-5 : 2e-3;
  checks.weight_gradient.limit = checks.bias_gradient.limit = checks.reduce_metric.limit = 1e-5;
  for (const GoldenOperations& golden : cases) {
    named(golden.where, [&] {
      check_case(golden, noise, cpu ? golden.cpu : golden.gpu, runtime, device, checks);
    });
  }
  return checks;
}

std::int64_t check_compute_offsets(const std::vector<GoldenOffsets>& cases, std::string& first) {
  std::int64_t differing = 0;
  for (const GoldenOffsets& golden : cases) {
    const std::vector<std::int64_t> offsets =
        named(golden.where, [&] { return compute_offsets(golden.shapes); });
    if (offsets == golden.offsets) continue;
    if (differing++ == 0) {
      first = fmt::format("{}: [{}], not [{}]", golden.where, fmt::join(offsets, ", "),
                          fmt::join(golden.offsets, ", "));
    }
  }
  return differing;
}

}  // namespace vnjit::cli
