#include "vnjit/codegen/problem.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <limits>

#include "vnjit/codegen/error.hpp"

namespace vnjit {
namespace {

template <typename... Functions>
struct Overloaded : Functions... {
  using Functions::operator()...;
};
template <typename... Functions>
Overloaded(Functions...) -> Overloaded<Functions...>;

void require_size(std::string_view name, std::int64_t value) {
  if (value < 0) {
    throw InvalidArgument(fmt::format("{} is {}; sizes are 0 or more", name, value));
  }
}

void require_type(std::string_view name, DataType type) {
  if (to_string(type) == "?") {
    throw InvalidArgument(fmt::format("{} {} is no DataType", name, static_cast<int>(type)));
  }
}

Precision own_precision(DataType type) {
  switch (type) {
    case DataType::f16:
      return Precision::f16;
    case DataType::bf16:
      return Precision::bf16;
    case DataType::f32:
      break;
  }
  return Precision::f32;
}

std::string_view offered_precisions(DataType input) {
  switch (input) {
    case DataType::f16:
      return "input, f16, f32 or int8";
    case DataType::bf16:
      return "input, bf16, f32 or int8";
    case DataType::f32:
      break;
  }
  return "input, f32, tf32, f16, bf16 or int8";
}

void check_precision(const PerturbedLinear& problem) {
  const DataType input = problem.input;
  const Precision precision = problem.precision;
  if (to_string(precision) == "?") {
    throw InvalidArgument(fmt::format("precision {} is no Precision", static_cast<int>(precision)));
  }
  if (precision == Precision::int8) {
    if (problem.layout == InputLayout::shared && problem.noise.generator == Generator::philox &&
        problem.noise.distribution == Distribution::uniform8) {
      return;
    }
    throw InvalidArgument(fmt::format(
        "precision is int8; it multiplies the bytes of philox:uniform8 noise with a shared X, and "
        "noise is {}, X {}",
        to_string(problem.noise), problem.layout == InputLayout::shared ? "shared" : "individual"));
  }
  if (input == DataType::f32 || precision == Precision::input || precision == Precision::f32 ||
      precision == own_precision(input)) {
    return;
  }
  throw InvalidArgument(fmt::format("precision is {}; {} inputs take {}", to_string(precision),
                                    to_string(input), offered_precisions(input)));
}

void check_output(DataType input, DataType output) {
  require_type("output", output);
  if (output == DataType::f32 || output == input) return;
  throw InvalidArgument(fmt::format(
      "output is {}; {} inputs have outputs of f32{}", to_string(output), to_string(input),
      input == DataType::f32 ? "" : fmt::format(" or {}", to_string(input))));
}

void check(const PerturbedLinear& problem) {
  require_type("input", problem.input);
  if (problem.layout != InputLayout::shared && problem.layout != InputLayout::individual) {
    throw InvalidArgument(
        fmt::format("layout {} is no InputLayout", static_cast<int>(problem.layout)));
  }
  check_output(problem.input, problem.output);
  check_precision(problem);
  require_size("batch", problem.batch);
  require_size("in", problem.in);
  require_size("out", problem.out);
}

void check(const Gradient& problem) {
  if (problem.normalize != Normalize::seed && problem.normalize != Normalize::unbiased) {
    throw InvalidArgument(
        fmt::format("normalize {} is no Normalize", static_cast<int>(problem.normalize)));
  }
  if (to_string(problem.update) == "?") {
    throw InvalidArgument(fmt::format("update {} is no Update", static_cast<int>(problem.update)));
  }
  require_size("rows", problem.rows);
  require_size("columns", problem.columns);
  if (problem.vector && problem.rows != 1) {
    throw InvalidArgument(fmt::format(
        "rows is {}; a vector gradient has one row, its size is columns", problem.rows));
  }
}

void check(const ReduceMetric& problem) {
  require_type("input", problem.input);
  require_size("params", problem.params);
}

std::string type_flags(const PerturbedLinear& problem) {
  std::string flags = fmt::format("--dtype {}", to_string(problem.input));
  if (problem.precision != Precision::input) {
    flags += fmt::format(" --precision {}", to_string(problem.precision));
  }
  if (problem.output != DataType::f32) {
    flags += fmt::format(" --output {}", to_string(problem.output));
  }
  return flags;
}

std::string noise_flags(const NoiseSpec& noise) {
  return fmt::format("--noise {}{}", to_string(noise), noise.antithetic ? " --antithetic" : "");
}

std::string update_flag(Update update) {
  return update == Update::none ? "" : fmt::format(" --update {}", to_string(update));
}

}  // namespace

std::string_view to_string(Update update) {
  switch (update) {
    case Update::none:
      return "none";
    case Update::sgd:
      return "sgd";
    case Update::adam:
      return "adam";
  }
  return "?";
}

Update parse_update(std::string_view text) {
  for (const Update update : {Update::none, Update::sgd, Update::adam}) {
    if (text == to_string(update)) return update;
  }
  throw InvalidArgument(fmt::format("update '{}' is unknown; use none, sgd or adam", text));
}

std::string_view operation_name(const Problem& problem) {
  return std::visit(
      Overloaded{[](const PerturbedLinear&) -> std::string_view { return "perturbed-linear"; },
                 [](const Gradient& gradient) -> std::string_view {
                   return gradient.vector ? "bias-gradient" : "weight-gradient";
                 },
                 [](const ReduceMetric&) -> std::string_view { return "reduce-metric"; }},
      problem);
}

const NoiseSpec& noise_of(const Problem& problem) {
  return std::visit([](const auto& operation) -> const NoiseSpec& { return operation.noise; },
                    problem);
}

Precision operand_precision(const PerturbedLinear& problem) {
  return problem.precision == Precision::input ? own_precision(problem.input) : problem.precision;
}

Problem without_sizes(const Problem& problem) {
  Problem result = problem;
  if (auto* linear = std::get_if<PerturbedLinear>(&result)) {
    linear->pop = linear->batch = 0;
    if (!linear->bake_shape) linear->in = linear->out = 0;
  } else if (auto* gradient = std::get_if<Gradient>(&result)) {
    gradient->pop = gradient->rows = gradient->columns = 0;
  } else {
    auto& reduce = std::get<ReduceMetric>(result);
    reduce.pop = reduce.params = 0;
  }
  return result;
}

void validate(const Problem& problem) {
  std::visit(
      [](const auto& operation) {
        operation.noise.validate();
        require_size("pop", operation.pop);
        if (operation.noise.antithetic && operation.pop % 2 != 0) {
          throw InvalidArgument(fmt::format(
              "pop is {}; antithetic noise needs an even number of individuals", operation.pop));
        }
        check(operation);
      },
      problem);
}

std::vector<std::int64_t> output_shape(const Problem& problem) {
  using Shape = std::vector<std::int64_t>;
  return std::visit(Overloaded{[](const PerturbedLinear& p) {
                                 return Shape{p.pop, p.batch, p.out};
                               },
                               [](const Gradient& p) {
                                 return p.vector ? Shape{p.columns} : Shape{p.rows, p.columns};
                               },
                               [](const ReduceMetric& p) { return Shape{p.pop}; }},
                    problem);
}

std::string command_flags(const Problem& problem) {
  return std::visit(
      Overloaded{
          [](const PerturbedLinear& p) {
            return fmt::format(
                "perturbed-linear {types} {bias} --x {x} {noise}{baked}",
                fmt::arg("types", type_flags(p)), fmt::arg("bias", p.bias ? "--bias" : "--no-bias"),
                fmt::arg("x", p.layout == InputLayout::shared ? "shared" : "individual"),
                fmt::arg("noise", noise_flags(p.noise)),
                fmt::arg("baked", p.bake_shape
                                      ? fmt::format(" --bake-shape --in {} --out {}", p.in, p.out)
                                      : ""));
          },
          [&](const Gradient& p) {
            return fmt::format("{} {}{}", operation_name(problem), noise_flags(p.noise),
                               update_flag(p.update));
          },
          [](const ReduceMetric& p) {
            return fmt::format("reduce-metric --dtype {} {}", to_string(p.input),
                               noise_flags(p.noise));
          }},
      problem);
}

std::vector<std::int64_t> compute_offsets(const std::vector<std::vector<std::int64_t>>& shapes,
                                          std::int64_t align) {
  if (align < 1) throw InvalidArgument(fmt::format("align is {}; it is 1 or more", align));
  constexpr std::int64_t kMost = std::numeric_limits<std::int64_t>::max();
  const auto beyond = [](std::size_t block) {
    return InvalidArgument(
        fmt::format("shapes[{}] takes the elements beyond 2^63; noise has no more", block));
  };
  std::vector<std::int64_t> offsets;
  offsets.reserve(shapes.size());
  std::int64_t next = 0;
  for (const auto& shape : shapes) {
    const std::size_t block = offsets.size();
    if (next > kMost - (align - 1)) throw beyond(block);
    next = (next + (align - 1)) / align * align;
    offsets.push_back(next);
    for (const std::int64_t size : shape) require_size(fmt::format("shapes[{}]", block), size);
    if (std::ranges::find(shape, 0) != shape.end()) continue;
    std::int64_t count = 1;
    for (const std::int64_t size : shape) {
      if (count > kMost / size) throw beyond(block);
      count *= size;
    }
    if (count > kMost - next) throw beyond(block);
    next += count;
  }
  return offsets;
}

}  // namespace vnjit
