#include "vnjit/runtime/gpu/linear_access.hpp"

#include <algorithm>

namespace vnjit {
namespace {

constexpr std::int64_t kNoiseBlock = 64;  // elements

// One past the last element a matrix of `count` slices of `rows` rows reaches, in double: what
// overflows 64 bits is certainly wide.
double extent(std::int64_t count, std::int64_t slice_stride, std::int64_t rows,
              std::int64_t row_stride, std::int64_t columns) {
  return static_cast<double>(count - 1) * static_cast<double>(slice_stride) +
         static_cast<double>(rows - 1) * static_cast<double>(row_stride) +
         static_cast<double>(columns);
}

double widest_index(const PerturbedLinear& problem, const PerturbedLinearArguments& arguments,
                    std::int64_t units) {
  const bool individual = problem.layout == InputLayout::individual;
  return std::max(
      {extent(individual ? arguments.pop : 1, arguments.x_individual_stride, arguments.batch,
              arguments.x_row_stride, arguments.in),
       extent(1, 0, arguments.out, arguments.weight_row_stride, arguments.in),
       extent(arguments.pop, arguments.y_individual_stride, arguments.batch, arguments.y_row_stride,
              arguments.out),
       extent(1, 0, arguments.batch, round_up(arguments.out, 4), arguments.out),  // base product
       static_cast<double>(units)});
}

}  // namespace

std::int64_t tiles_of(const Config& config, const PerturbedLinearArguments& arguments) {
  return ceil_div(arguments.out, config.block_out) * ceil_div(arguments.batch, config.block_batch);
}

Access access_of(const PerturbedLinear& problem, const PerturbedLinearArguments& arguments,
                 std::int64_t operand_bytes, std::int64_t units) {
  const std::int64_t per_16_bytes = 16 / operand_bytes;
  const auto whole = [&](std::int64_t elements) { return elements % per_16_bytes == 0; };
  Access access;
  access.vector_rows =
      is_multiple(arguments.x, 16) && is_multiple(arguments.weight, 16) && whole(arguments.in) &&
      whole(arguments.x_row_stride) && whole(arguments.weight_row_stride) &&
      (problem.layout == InputLayout::shared || whole(arguments.x_individual_stride));
  access.noise_alignment = std::min(noise_alignment_of(arguments.offset),
                                    noise_alignment_of(arguments.noise_row_stride));
  access.wide_index =
      widest_index(problem, arguments, units) > static_cast<double>(kMaxNarrowIndex);
  access.wide_counter =
      noise_end(arguments.offset, arguments.out, arguments.noise_row_stride, arguments.in) >
      static_cast<double>(narrow_noise_elements(problem.noise));
  return access;
}

bool has_vector_y(const PerturbedLinear& problem, const PerturbedLinearArguments& arguments) {
  constexpr std::int64_t kVector = 4;
  return is_multiple(arguments.y, kVector * size_bytes(problem.output)) &&
         arguments.y_row_stride % kVector == 0 && arguments.y_individual_stride % kVector == 0;
}

Access used_by_simt(Access access) {
  if (access.noise_alignment < kNoiseBlock) access.noise_alignment = 1;
  access.wide_counter = true;
  return access;
}

}  // namespace vnjit
