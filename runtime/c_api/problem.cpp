#include "vnjit/runtime/c_api/problem.hpp"

#include <fmt/format.h>

#include "vnjit/runtime/c_api/error.hpp"
#include "vnjit/runtime/c_api/structs.hpp"
#include "vnjit/runtime/c_api/values.hpp"

namespace vnjit::c_api {
namespace {

// Two directions in which a field is copied; `each_field` below has one list of fields for both.

struct FromC {
  void operator()(std::string_view, std::int32_t c, int& cpp) const { cpp = c; }
  void operator()(std::string_view, std::int64_t c, std::int64_t& cpp) const { cpp = c; }
  template <typename Enum>
  void operator()(std::string_view field, std::int32_t c, Enum& cpp) const {
    cpp = cpp_value<Enum>(field, c);
  }
};

struct ToC {
  void operator()(std::string_view, std::int32_t& c, int cpp) const { c = cpp; }
  void operator()(std::string_view, std::int64_t& c, std::int64_t cpp) const { c = cpp; }
  template <typename Enum>
  void operator()(std::string_view, std::int32_t& c, Enum cpp) const {
    c = c_value(cpp);
  }
};

template <typename Copy>
void each_field(const Copy& copy, vnjit_noise& c, NoiseSpec& cpp) {
  copy("noise.generator", c.generator, cpp.generator);
  copy("noise.distribution", c.distribution, cpp.distribution);
  copy("noise.rounds", c.rounds, cpp.rounds);
  copy("noise.antithetic", c.antithetic, cpp.antithetic);
}

template <typename Copy>
void each_field(const Copy& copy, vnjit_perturbed_linear& c, PerturbedLinear& cpp) {
  copy("input", c.input, cpp.input);
  copy("output", c.output, cpp.output);
  copy("bias", c.bias, cpp.bias);
  copy("layout", c.layout, cpp.layout);
  copy("bake_shape", c.bake_shape, cpp.bake_shape);
  copy("batch", c.batch, cpp.batch);
  copy("in", c.in, cpp.in);
  copy("out", c.out, cpp.out);
  copy("precision", c.precision, cpp.precision);
  Reserved reserved{};
  copy("reserved", c.reserved, reserved);
}

template <typename Copy>
void each_field(const Copy& copy, vnjit_gradient& c, Gradient& cpp) {
  copy("normalize", c.normalize, cpp.normalize);
  copy("vector", c.vector, cpp.vector);
  copy("rows", c.rows, cpp.rows);
  copy("columns", c.columns, cpp.columns);
  copy("update", c.update, cpp.update);
  Reserved reserved{};
  copy("reserved", c.reserved, reserved);
}

template <typename Copy>
void each_field(const Copy& copy, vnjit_reduce_metric& c, ReduceMetric& cpp) {
  copy("input", c.input, cpp.input);
  copy("params", c.params, cpp.params);
}

template <typename Copy, typename C, typename Cpp>
void each_problem_field(const Copy& copy, C& c, Cpp& cpp) {
  each_field(copy, c.base.noise, cpp.noise);
  copy("pop", c.base.pop, cpp.pop);
  each_field(copy, c, cpp);
}

template <typename Cpp, typename C>
Cpp from_c(const vnjit_problem* given) {
  C c = adopted<C>(given);
  Cpp cpp;
  each_problem_field(FromC{}, c, cpp);
  return cpp;
}

template <typename C, typename Cpp>
C default_problem(vnjit_operation operation) {
  C c{};
  Cpp cpp;
  c.base.operation = operation;
  each_problem_field(ToC{}, c, cpp);
  return c;
}

}  // namespace

NoiseSpec noise_of(const vnjit_noise& given) {
  vnjit_noise c = given;
  NoiseSpec cpp;
  each_field(FromC{}, c, cpp);
  return cpp;
}

vnjit_noise to_c(const NoiseSpec& noise) {
  vnjit_noise c{};
  NoiseSpec cpp = noise;
  each_field(ToC{}, c, cpp);
  return c;
}

Problem problem_of(const vnjit_problem* given) {
  switch (required(given, "problem").operation) {
    case VNJIT_OPERATION_PERTURBED_LINEAR:
      return from_c<PerturbedLinear, vnjit_perturbed_linear>(given);
    case VNJIT_OPERATION_GRADIENT:
      return from_c<Gradient, vnjit_gradient>(given);
    case VNJIT_OPERATION_REDUCE_METRIC:
      return from_c<ReduceMetric, vnjit_reduce_metric>(given);
    default:
      refuse_operation("problem", given->operation);
  }
}

void refuse_operation(std::string_view owner, vnjit_operation operation) {
  throw InvalidArgument(
      fmt::format("{}.operation is {}, which is none; it is set by the init function of its struct",
                  owner, operation));
}

template <>
vnjit_perturbed_linear defaults() {
  return default_problem<vnjit_perturbed_linear, PerturbedLinear>(VNJIT_OPERATION_PERTURBED_LINEAR);
}

template <>
vnjit_gradient defaults() {
  return default_problem<vnjit_gradient, Gradient>(VNJIT_OPERATION_GRADIENT);
}

template <>
vnjit_reduce_metric defaults() {
  return default_problem<vnjit_reduce_metric, ReduceMetric>(VNJIT_OPERATION_REDUCE_METRIC);
}

}  // namespace vnjit::c_api
