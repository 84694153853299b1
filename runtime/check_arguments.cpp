#include "vnjit/runtime/check_arguments.hpp"

#include <fmt/format.h>

#include <cmath>
#include <limits>

#include "vnjit/codegen/error.hpp"
#include "vnjit/runtime/check_update.hpp"

namespace vnjit {
namespace {

// Products of two sizes are formed in 128 bits: that they do not fit 64 is what is looked for.
using Wide = __int128;

constexpr std::int64_t kFloatBytes = 4;
constexpr std::int64_t kSeedBytes = 8;
constexpr std::int64_t kLast = std::numeric_limits<std::int64_t>::max();

/// An argument's name; its text is made only when there is something to say.
struct Name {
  std::string_view field;
  std::int64_t block = -1;  ///< index of the gradient block it is in

  std::string text() const {
    return block < 0 ? std::string(field) : fmt::format("blocks[{}].{}", block, field);
  }
};

void check_size(Name name, std::int64_t value) {
  if (value < 0) {
    throw InvalidArgument(fmt::format("{} is {}; it must be at least 0", name.text(), value));
  }
}

void check_population(const NoiseSpec& noise, std::int64_t pop) {
  check_size({"pop"}, pop);
  if (noise.antithetic && pop % 2 != 0) {
    throw InvalidArgument(fmt::format(
        "pop is {}; it must be even with antithetic noise, which pairs individuals", pop));
  }
}

void check_pointer(Name name, const void* pointer, bool needed, std::string_view empty) {
  if (needed && pointer == nullptr) {
    throw InvalidArgument(fmt::format("{} is null; allowed only when {} is 0", name.text(), empty));
  }
}

void check_given(std::string_view name, const void* pointer) {
  if (pointer == nullptr) throw InvalidArgument(fmt::format("{} is null; it must be given", name));
}

void check_seeds(const std::int64_t* seeds, std::int64_t pop) {
  check_pointer({"seeds"}, seeds, pop > 0, "pop");
}

void check_finite(const Sigma& sigma) {
  if (sigma.pointer == nullptr && !std::isfinite(sigma.value)) {
    throw InvalidArgument(fmt::format("sigma is {}; it must be finite", sigma.value));
  }
}

void check_baked(std::string_view name, std::int64_t value, std::int64_t baked) {
  if (value != baked) {
    throw InvalidArgument(fmt::format(
        "{} is {}; this plan has {} = {} baked in: plan without bake_shape to run other sizes",
        name, value, name, baked));
  }
}

/// Elements of a buffer that the largest index reaches: they have to be addressable in bytes.
void check_extent(Name name, Wide elements, std::int64_t element_bytes) {
  if (elements > kLast / element_bytes) {
    throw InvalidArgument(fmt::format(
        "{} reaches {} elements with these sizes and strides; {} of {} bytes can be addressed",
        name.text(), elements, kLast / element_bytes, element_bytes));
  }
}

void check_alignment(Name name, const void* pointer, std::int64_t element_bytes) {
  const auto address = reinterpret_cast<std::uintptr_t>(pointer);
  if (address % static_cast<std::uintptr_t>(element_bytes) != 0) {
    throw InvalidArgument(fmt::format("{} is {}; it must be a multiple of its element size, {}",
                                      name.text(), fmt::ptr(pointer), element_bytes));
  }
}

/// One past the last element of `slices` blocks of `rows` rows.
Wide extent(std::int64_t slices, std::int64_t slice_stride, std::int64_t rows,
            std::int64_t row_stride, std::int64_t columns) {
  if (slices == 0 || rows == 0 || columns == 0) return 0;
  return Wide{slices - 1} * slice_stride + Wide{rows - 1} * row_stride + columns;
}

/// The stride, or `least` where it is 0.
std::int64_t stride(Name name, std::int64_t value, std::string_view least_name,
                    std::int64_t least) {
  if (value != 0 && value < least) {
    throw InvalidArgument(fmt::format("{} is {}; it must be at least {} = {}, or 0 for contiguous",
                                      name.text(), value, least_name, least));
  }
  return value != 0 ? value : least;
}

/// Elements of the rows of one individual.
std::int64_t individual_size(std::string_view name, std::int64_t batch, std::int64_t row_stride) {
  if (Wide{batch} * row_stride > kLast) {
    throw InvalidArgument(
        fmt::format("{} is {}; with batch = {} an individual's rows would pass 2^63 - 1 elements",
                    name, row_stride, batch));
  }
  return batch * row_stride;
}

/// Noise elements are offset + 0 ... offset + count - 1.
void check_noise(Name name, std::int64_t offset, Wide count) {
  if (offset < 0) {
    throw InvalidArgument(fmt::format("{} is {}; it must be at least 0", name.text(), offset));
  }
  if (count > 0 && count - 1 > kLast - offset) {
    throw InvalidArgument(
        fmt::format("{} is {}; the last noise element would be {}, and must be at most 2^63 - 1",
                    name.text(), offset, offset + count - 1));
  }
}

/// Noise elements from the first to the last of `rows` rows.
Wide noise_extent(std::int64_t rows, std::int64_t columns, std::int64_t row_stride) {
  return rows > 0 && columns > 0 ? Wide{rows - 1} * row_stride + columns : 0;
}

void check_sizes(const PerturbedLinear& problem, const PerturbedLinearArguments& arguments) {
  check_population(problem.noise, arguments.pop);
  check_size({"batch"}, arguments.batch);
  check_size({"in"}, arguments.in);
  check_size({"out"}, arguments.out);
  if (problem.bake_shape) {
    check_baked("in", arguments.in, problem.in);
    check_baked("out", arguments.out, problem.out);
  }
}

void check_pointers(const PerturbedLinear& problem, const PerturbedLinearArguments& arguments) {
  const bool writes = arguments.pop > 0 && arguments.batch > 0 && arguments.out > 0;
  check_seeds(arguments.seeds, arguments.pop);
  check_pointer({"x"}, arguments.x, writes && arguments.in > 0, "pop, batch, in or out");
  check_pointer({"weight"}, arguments.weight, writes && arguments.in > 0, "pop, batch, in or out");
  check_pointer({"y"}, arguments.y, writes, "pop, batch or out");
  if (problem.bias) {
    check_pointer({"bias"}, arguments.bias, arguments.out > 0, "out");
  } else if (arguments.bias != nullptr) {
    throw InvalidArgument("bias is given; this plan's problem has no bias: pass null");
  }
}

void fill_strides(const PerturbedLinear& problem, PerturbedLinearArguments& arguments) {
  arguments.x_row_stride = stride({"x_row_stride"}, arguments.x_row_stride, "in", arguments.in);
  arguments.weight_row_stride =
      stride({"weight_row_stride"}, arguments.weight_row_stride, "in", arguments.in);
  arguments.noise_row_stride =
      stride({"noise_row_stride"}, arguments.noise_row_stride, "in", arguments.in);
  arguments.y_row_stride = stride({"y_row_stride"}, arguments.y_row_stride, "out", arguments.out);
  arguments.y_individual_stride =
      stride({"y_individual_stride"}, arguments.y_individual_stride, "batch * y_row_stride",
             individual_size("y_row_stride", arguments.batch, arguments.y_row_stride));
  if (problem.layout == InputLayout::individual) {
    arguments.x_individual_stride =
        stride({"x_individual_stride"}, arguments.x_individual_stride, "batch * x_row_stride",
               individual_size("x_row_stride", arguments.batch, arguments.x_row_stride));
  } else if (arguments.x_individual_stride != 0) {
    throw InvalidArgument(
        fmt::format("x_individual_stride is {}; it must be 0, because individuals share x",
                    arguments.x_individual_stride));
  }
}

void check_buffers(const PerturbedLinear& problem, const PerturbedLinearArguments& arguments) {
  const std::int64_t bytes = size_bytes(problem.input);
  const std::int64_t output_bytes = size_bytes(problem.output);
  const std::int64_t inputs = problem.layout == InputLayout::individual ? arguments.pop : 1;
  check_extent({"x"},
               extent(inputs, arguments.x_individual_stride, arguments.batch,
                      arguments.x_row_stride, arguments.in),
               bytes);
  check_extent({"weight"}, extent(1, 0, arguments.out, arguments.weight_row_stride, arguments.in),
               bytes);
  check_extent({"y"},
               extent(arguments.pop, arguments.y_individual_stride, arguments.batch,
                      arguments.y_row_stride, arguments.out),
               output_bytes);
  check_alignment({"x"}, arguments.x, bytes);
  check_alignment({"weight"}, arguments.weight, bytes);
  check_alignment({"bias"}, arguments.bias, bytes);
  check_alignment({"seeds"}, arguments.seeds, kSeedBytes);
  check_alignment({"y"}, arguments.y, output_bytes);
}

}  // namespace

void refuse_arguments(const Problem& problem, std::string_view arguments) {
  throw InvalidArgument(
      fmt::format("this plan is for {}, not for {} arguments", operation_name(problem), arguments));
}

PerturbedLinearArguments checked(const PerturbedLinear& problem,
                                 PerturbedLinearArguments arguments) {
  check_sizes(problem, arguments);
  check_pointers(problem, arguments);
  fill_strides(problem, arguments);
  check_buffers(problem, arguments);
  check_finite(arguments.sigma);
  const Wide weights = noise_extent(arguments.out, arguments.in, arguments.noise_row_stride);
  const Wide with_bias = Wide{arguments.out} * arguments.noise_row_stride + arguments.out;
  check_noise({"offset"}, arguments.offset, problem.bias ? with_bias : weights);
  return arguments;
}

GradientArguments checked(const Gradient& problem, GradientArguments arguments) {
  check_population(problem.noise, arguments.pop);
  if (arguments.pop == 0) {
    throw InvalidArgument("pop is 0; a gradient needs at least 1 individual");
  }
  check_size({"pop_size"}, arguments.pop_size);
  if (arguments.pop_size == 0) arguments.pop_size = arguments.pop;
  check_given("fitness", arguments.fitness);
  check_given("seeds", arguments.seeds);
  check_alignment({"fitness"}, arguments.fitness, kFloatBytes);
  check_alignment({"seeds"}, arguments.seeds, kSeedBytes);
  if (!arguments.blocks.empty()) check_given("blocks", arguments.blocks.data());
  check_finite(arguments.sigma);
  if (arguments.sigma.pointer == nullptr && arguments.sigma.value == 0.0f) {
    throw InvalidArgument("sigma is 0; a gradient divides by it");
  }
  check_step(problem.update, arguments.update);
  for (std::size_t index = 0; index < arguments.blocks.size(); ++index) {
    checked(arguments.blocks[index], index);
    check_update(problem.update, arguments.blocks[index], index);
  }
  return arguments;
}

GradientBlock checked(const GradientBlock& block, std::size_t index) {
  const auto name = [index](std::string_view field) {
    return Name{field, static_cast<std::int64_t>(index)};
  };
  GradientBlock filled = block;
  check_size(name("rows"), block.rows);
  check_size(name("columns"), block.columns);
  filled.output_row_stride =
      stride(name("output_row_stride"), block.output_row_stride, "columns", block.columns);
  filled.weight_row_stride =
      stride(name("weight_row_stride"), block.weight_row_stride, "columns", block.columns);
  filled.noise_row_stride =
      stride(name("noise_row_stride"), block.noise_row_stride, "columns", block.columns);
  check_extent(name("output"), extent(1, 0, block.rows, filled.output_row_stride, block.columns),
               kFloatBytes);
  check_extent(name("weight"), extent(1, 0, block.rows, filled.weight_row_stride, block.columns),
               kFloatBytes);
  check_alignment(name("output"), block.output, kFloatBytes);
  check_alignment(name("weight"), block.weight, kFloatBytes);
  check_alignment(name("first_moment"), block.first_moment, kFloatBytes);
  check_alignment(name("second_moment"), block.second_moment, kFloatBytes);
  check_noise(name("offset"), block.offset,
              noise_extent(block.rows, block.columns, filled.noise_row_stride));
  return filled;
}

ReduceMetricArguments checked(const ReduceMetric& problem, ReduceMetricArguments arguments) {
  check_population(problem.noise, arguments.pop);
  check_size({"params"}, arguments.params);
  check_seeds(arguments.seeds, arguments.pop);
  check_pointer({"center"}, arguments.center, arguments.pop > 0 && arguments.params > 0,
                "pop or params");
  check_pointer({"metric"}, arguments.metric, arguments.pop > 0, "pop");
  check_extent({"center"}, arguments.params, size_bytes(problem.input));
  check_extent({"metric"}, arguments.pop, kFloatBytes);
  check_alignment({"seeds"}, arguments.seeds, kSeedBytes);
  check_alignment({"center"}, arguments.center, size_bytes(problem.input));
  check_alignment({"metric"}, arguments.metric, kFloatBytes);
  check_finite(arguments.sigma);
  check_noise({"offset"}, arguments.offset, arguments.params);
  return arguments;
}

}  // namespace vnjit
