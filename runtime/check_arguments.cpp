#include "vnjit/runtime/check_arguments.hpp"

#include <fmt/format.h>

#include <bit>
#include <cmath>
#include <limits>

#include "vnjit/codegen/error.hpp"
#include "vnjit/runtime/check_overlap.hpp"
#include "vnjit/runtime/check_update.hpp"

namespace vnjit {
namespace {

// Products of two sizes are formed in 128 bits: that they do not fit 64 is what is looked for.
using Wide = __int128;

constexpr std::int64_t kFloatBytes = 4;
constexpr std::int64_t kSeedBytes = 8;
constexpr std::int64_t kLast = std::numeric_limits<std::int64_t>::max();

// The checks are inlined: called, with their names, they cost four times as much.

using Name = ArgumentName;

/// What is refused is formatted out of the way of what is not.
template <typename... Values>
[[noreturn, gnu::cold, gnu::noinline]] void refuse(fmt::format_string<const Values&...> text,
                                                   const Values&... values) {
  throw InvalidArgument(fmt::format(text, values...));
}

[[gnu::always_inline]] inline void check_size(Name name, std::int64_t value) {
  if (value < 0) {
    refuse("{} is {}; it must be at least 0", name.text(), value);
  }
}

[[gnu::always_inline]] inline void check_population(const NoiseSpec& noise, std::int64_t pop) {
  check_size({"pop"}, pop);
  if (noise.antithetic && pop % 2 != 0) {
    refuse("pop is {}; it must be even with antithetic noise, which pairs individuals", pop);
  }
}

[[gnu::always_inline]] inline void check_pointer(Name name, const void* pointer, bool needed,
                                                 std::string_view empty) {
  if (needed && pointer == nullptr) {
    refuse("{} is null; allowed only when {} is 0", name.text(), empty);
  }
}

void check_given(std::string_view name, const void* pointer) {
  if (pointer == nullptr) refuse("{} is null; it must be given", name);
}

[[gnu::always_inline]] inline void check_seeds(const std::int64_t* seeds, std::int64_t pop) {
  check_pointer({"seeds"}, seeds, pop > 0, "pop");
}

[[gnu::always_inline]] inline void check_finite(const Sigma& sigma) {
  if (sigma.pointer == nullptr && !std::isfinite(sigma.value)) {
    refuse("sigma is {}; it must be finite", sigma.value);
  }
}

void check_baked(std::string_view name, std::int64_t value, std::int64_t baked) {
  if (value != baked) {
    refuse("{} is {}; this plan has {} = {} baked in: plan without bake_shape to run other sizes",
           name, value, name, baked);
  }
}

/// Elements of a buffer that the largest index reaches: they have to be addressable in bytes.
[[gnu::always_inline]] inline void check_extent(Name name, Wide elements,
                                                std::int64_t element_bytes) {
  // Element sizes are powers of two, and a division would cost more than all else here.
  if (elements > kLast >> std::countr_zero(static_cast<std::uint64_t>(element_bytes))) {
    refuse("{} reaches {} elements with these sizes and strides; {} of {} bytes can be addressed",
           name.text(), elements, kLast / element_bytes, element_bytes);
  }
}

[[gnu::always_inline]] inline void check_alignment(Name name, const void* pointer,
                                                   std::int64_t element_bytes) {
  const auto address = reinterpret_cast<std::uintptr_t>(pointer);
  if ((address & (static_cast<std::uintptr_t>(element_bytes) - 1)) != 0) {
    refuse("{} is {}; it must be a multiple of its element size, {}", name.text(),
           fmt::ptr(pointer), element_bytes);
  }
}

/// One past the last element of `slices` blocks of `rows` rows.
[[gnu::always_inline]] inline Wide extent(std::int64_t slices, std::int64_t slice_stride,
                                          std::int64_t rows, std::int64_t row_stride,
                                          std::int64_t columns) {
  if (slices == 0 || rows == 0 || columns == 0) return 0;
  return Wide{slices - 1} * slice_stride + Wide{rows - 1} * row_stride + columns;
}

/// The stride, or `least` where it is 0.
[[gnu::always_inline]] inline std::int64_t stride(Name name, std::int64_t value,
                                                  std::string_view least_name, std::int64_t least) {
  if (value != 0 && value < least) {
    refuse("{} is {}; it must be at least {} = {}, or 0 for contiguous", name.text(), value,
           least_name, least);
  }
  return value != 0 ? value : least;
}

/// Elements of the rows of one individual.
[[gnu::always_inline]] inline std::int64_t individual_size(std::string_view name,
                                                           std::int64_t batch,
                                                           std::int64_t row_stride) {
  if (Wide{batch} * row_stride > kLast) {
    refuse("{} is {}; with batch = {} an individual's rows would pass 2^63 - 1 elements", name,
           row_stride, batch);
  }
  return batch * row_stride;
}

/// Noise elements are offset + 0 ... offset + count - 1.
[[gnu::always_inline]] inline void check_noise(Name name, std::int64_t offset, Wide count) {
  if (offset < 0) {
    refuse("{} is {}; it must be at least 0", name.text(), offset);
  }
  if (count > 0 && count - 1 > kLast - offset) {
    refuse("{} is {}; the last noise element would be {}, and must be at most 2^63 - 1",
           name.text(), offset, offset + count - 1);
  }
}

/// Noise elements from the first to the last of `rows` rows.
[[gnu::always_inline]] inline Wide noise_extent(std::int64_t rows, std::int64_t columns,
                                                std::int64_t row_stride) {
  return rows > 0 && columns > 0 ? Wide{rows - 1} * row_stride + columns : 0;
}

[[gnu::always_inline]] inline void check_sizes(const PerturbedLinear& problem,
                                               const PerturbedLinearArguments& arguments) {
  check_population(problem.noise, arguments.pop);
  check_size({"batch"}, arguments.batch);
  check_size({"in"}, arguments.in);
  check_size({"out"}, arguments.out);
  if (problem.bake_shape) {
    check_baked("in", arguments.in, problem.in);
    check_baked("out", arguments.out, problem.out);
  }
}

[[gnu::always_inline]] inline void check_pointers(const PerturbedLinear& problem,
                                                  const PerturbedLinearArguments& arguments) {
  const bool writes = arguments.pop > 0 && arguments.batch > 0 && arguments.out > 0;
  check_seeds(arguments.seeds, arguments.pop);
  check_pointer({"x"}, arguments.x, writes && arguments.in > 0, "pop, batch, in or out");
  check_pointer({"weight"}, arguments.weight, writes && arguments.in > 0, "pop, batch, in or out");
  check_pointer({"y"}, arguments.y, writes, "pop, batch or out");
  if (problem.bias) {
    check_pointer({"bias"}, arguments.bias, arguments.out > 0, "out");
  } else if (arguments.bias != nullptr) {
    refuse("bias is given; this plan's problem has no bias: pass null");
  }
}

[[gnu::always_inline]] inline void fill_strides(const PerturbedLinear& problem,
                                                PerturbedLinearArguments& arguments) {
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
    refuse("x_individual_stride is {}; it must be 0, because individuals share x",
           arguments.x_individual_stride);
  }
}

MemoryRegion floats(Name name, const float* data, std::int64_t count) {
  return {.name = name, .data = data, .element_bytes = kFloatBytes, .columns = count};
}

MemoryRegion seeds_region(const NoiseSpec& noise, const std::int64_t* seeds, std::int64_t pop) {
  return {.name = {"seeds"},
          .data = seeds,
          .element_bytes = kSeedBytes,
          .columns = noise.seed_count(pop)};
}

MemoryRegion scratch(const Workspace& workspace) {
  return {.name = {"workspace"},
          .data = workspace.data,
          .columns = static_cast<std::int64_t>(workspace.bytes),
          .written = true};
}

[[gnu::cold, gnu::noinline]] void check_apart(const PerturbedLinear& problem,
                                              const PerturbedLinearArguments& arguments,
                                              const Workspace& workspace) {
  const std::int64_t bytes = size_bytes(problem.input);
  const bool individual = problem.layout == InputLayout::individual;
  const MemoryRegion regions[] = {
      {.name = {"y"},
       .data = arguments.y,
       .element_bytes = size_bytes(problem.output),
       .columns = arguments.out,
       .rows = arguments.batch,
       .row_stride = arguments.y_row_stride,
       .slices = arguments.pop,
       .slice_stride = arguments.y_individual_stride,
       .written = true},
      {.name = {"x"},
       .data = arguments.x,
       .element_bytes = bytes,
       .columns = arguments.in,
       .rows = arguments.batch,
       .row_stride = arguments.x_row_stride,
       .slices = individual ? arguments.pop : 1,
       .slice_stride = arguments.x_individual_stride},
      {.name = {"weight"},
       .data = arguments.weight,
       .element_bytes = bytes,
       .columns = arguments.in,
       .rows = arguments.out,
       .row_stride = arguments.weight_row_stride},
      {.name = {"bias"}, .data = arguments.bias, .element_bytes = bytes, .columns = arguments.out},
      seeds_region(problem.noise, arguments.seeds, arguments.pop),
      floats({"sigma"}, arguments.sigma.pointer, 1),
      scratch(workspace)};
  check_overlap(regions);
}

/// Whether all of y and all of the workspace lie apart from everything else, from first to last
/// byte: what is left to be looked at by check_apart is rare.
[[gnu::always_inline]] inline bool are_far_apart(const PerturbedLinear& problem,
                                                 const PerturbedLinearArguments& arguments,
                                                 const Workspace& workspace) {
  struct Range {
    std::uintptr_t begin, end;
  };
  const auto range = [](const void* data, std::int64_t elements, std::int64_t element_bytes) {
    const auto begin = reinterpret_cast<std::uintptr_t>(data);
    const auto bytes = static_cast<std::uintptr_t>(elements * element_bytes);
    return Range{begin, begin + (begin != 0 ? bytes : 0)};
  };
  const auto elements = [](std::int64_t slices, std::int64_t slice_stride, std::int64_t rows,
                           std::int64_t row_stride, std::int64_t columns) {
    if (slices == 0 || rows == 0 || columns == 0) return std::int64_t{0};
    return (slices - 1) * slice_stride + (rows - 1) * row_stride + columns;
  };
  const auto& a = arguments;
  const std::int64_t bytes = size_bytes(problem.input);
  const std::int64_t inputs = problem.layout == InputLayout::individual ? a.pop : 1;
  const Range y = range(a.y, elements(a.pop, a.y_individual_stride, a.batch, a.y_row_stride, a.out),
                        size_bytes(problem.output));
  const Range scratch = range(workspace.data, static_cast<std::int64_t>(workspace.bytes), 1);
  const Range read[] = {
      range(a.x, elements(inputs, a.x_individual_stride, a.batch, a.x_row_stride, a.in), bytes),
      range(a.weight, elements(1, 0, a.out, a.weight_row_stride, a.in), bytes),
      range(a.bias, a.out, bytes), range(a.seeds, problem.noise.seed_count(a.pop), kSeedBytes),
      range(a.sigma.pointer, 1, kFloatBytes)};
  const auto meet = [](const Range& one, const Range& other) {
    return (one.begin < other.end) & (other.begin < one.end);
  };
  bool met = meet(y, scratch);
  for (const Range& other : read) met |= meet(y, other) | meet(scratch, other);
  return !met;
}

[[gnu::always_inline]] inline void check_buffers(const PerturbedLinear& problem,
                                                 const PerturbedLinearArguments& arguments) {
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

/// Whether every block is so ordinary that none of its checks can fail: sizes, strides and offset
/// far from where products overflow, no size 0, the buffers that the update needs and no others.
/// Long lists are checked in a few nanoseconds a block like that.
bool are_plain(Update update, std::span<const GradientBlock> blocks) {
  constexpr std::int64_t kLargeSize = std::int64_t{1} << 28;
  constexpr std::int64_t kLargeOffset = std::int64_t{1} << 60;
  const bool weight = update != Update::none;
  const bool moments = update == Update::adam;
  std::int64_t odd = 0;  // what is not plain: a sign bit, or a bit that should not be there
  bool plain = true;
  for (const GradientBlock& block : blocks) {
    const auto outside = [](std::int64_t value, std::int64_t least, std::int64_t limit) {
      return (value - least) | (limit - value);
    };
    const auto of_stride = [&](std::int64_t stride) {
      return outside(stride == 0 ? block.columns : stride, block.columns, kLargeSize);
    };
    odd |= outside(block.rows, 1, kLargeSize) | outside(block.columns, 1, kLargeSize) |
           outside(block.offset, 0, kLargeOffset) | of_stride(block.output_row_stride) |
           of_stride(block.weight_row_stride) | of_stride(block.noise_row_stride);
    const auto address = [](const float* data) { return reinterpret_cast<std::uintptr_t>(data); };
    plain &= ((address(block.output) | address(block.weight) | address(block.first_moment) |
               address(block.second_moment)) %
              kFloatBytes) == 0;
    plain &= (block.output != nullptr) | weight;
    plain &= (block.weight != nullptr) == weight;
    plain &= (block.first_moment != nullptr) == moments;
    plain &= (block.second_moment != nullptr) == moments;
  }
  return plain && odd >= 0;
}

void check_each(Update update, std::span<const GradientBlock> blocks) {
  for (std::size_t index = 0; index < blocks.size(); ++index) {
    checked(blocks[index], index);
    check_update(update, blocks[index], index);
  }
}

}  // namespace

void refuse_arguments(const Problem& problem, std::string_view arguments) {
  refuse("this plan is for {}, not for {} arguments", operation_name(problem), arguments);
}

PerturbedLinearArguments checked(const PerturbedLinear& problem, PerturbedLinearArguments arguments,
                                 const Workspace& workspace) {
  check_sizes(problem, arguments);
  check_pointers(problem, arguments);
  fill_strides(problem, arguments);
  check_buffers(problem, arguments);
  check_finite(arguments.sigma);
  const Wide weights = noise_extent(arguments.out, arguments.in, arguments.noise_row_stride);
  const Wide with_bias = Wide{arguments.out} * arguments.noise_row_stride + arguments.out;
  check_noise({"offset"}, arguments.offset, problem.bias ? with_bias : weights);
  if (!are_far_apart(problem, arguments, workspace)) check_apart(problem, arguments, workspace);
  return arguments;
}

GradientArguments checked(const Gradient& problem, GradientArguments arguments,
                          const Workspace& workspace) {
  check_population(problem.noise, arguments.pop);
  if (arguments.pop == 0) {
    refuse("pop is 0; a gradient needs at least 1 individual");
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
    refuse("sigma is 0; a gradient divides by it");
  }
  check_step(problem.update, arguments.update);
  if (!are_plain(problem.update, arguments.blocks)) check_each(problem.update, arguments.blocks);
  const MemoryRegion others[] = {floats({"fitness"}, arguments.fitness, arguments.pop),
                                 seeds_region(problem.noise, arguments.seeds, arguments.pop),
                                 floats({"sigma"}, arguments.sigma.pointer, 1), scratch(workspace)};
  check_overlap(arguments.blocks, others);
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

ReduceMetricArguments checked(const ReduceMetric& problem, ReduceMetricArguments arguments,
                              const Workspace& workspace) {
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
  MemoryRegion metric = floats({"metric"}, arguments.metric, arguments.pop);
  metric.written = true;
  const MemoryRegion center{.name = {"center"},
                            .data = arguments.center,
                            .element_bytes = size_bytes(problem.input),
                            .columns = arguments.params};
  const MemoryRegion regions[] = {
      metric, center, seeds_region(problem.noise, arguments.seeds, arguments.pop),
      floats({"sigma"}, arguments.sigma.pointer, 1), scratch(workspace)};
  check_overlap(regions);
  return arguments;
}

}  // namespace vnjit
