#include "vnjit/runtime/tune/problem_json.hpp"

#include <fmt/format.h>

#include "vnjit/codegen/error.hpp"
#include "vnjit/runtime/tune/json_fields.hpp"

namespace vnjit {
namespace {

std::string_view to_string(InputLayout layout) {
  return layout == InputLayout::shared ? "shared" : "individual";
}

InputLayout parse_layout(std::string_view text) {
  if (text == "shared") return InputLayout::shared;
  if (text == "individual") return InputLayout::individual;
  throw InvalidArgument(fmt::format("'{}' is not a layout; use shared or individual", text));
}

std::string_view to_string(Normalize normalize) {
  return normalize == Normalize::seed ? "seed" : "unbiased";
}

Normalize parse_normalize(std::string_view text) {
  if (text == "seed") return Normalize::seed;
  if (text == "unbiased") return Normalize::unbiased;
  throw InvalidArgument(fmt::format("'{}' is not a divisor; use seed or unbiased", text));
}

void put(Json& json, const NoiseSpec& noise) {
  json["noise"] = vnjit::to_string(noise);
  json["antithetic"] = noise.antithetic;
}

NoiseSpec take_noise(JsonFields& fields) {
  NoiseSpec noise = fields.parsed("noise", parse_noise_spec, NoiseSpec{});
  noise.antithetic = fields.boolean("antithetic", false);
  return noise;
}

void put(Json& json, const PerturbedLinear& p) {
  put(json, p.noise);
  json["input"] = vnjit::to_string(p.input);
  json["precision"] = vnjit::to_string(p.precision);
  json["output"] = vnjit::to_string(p.output);
  json["bias"] = p.bias;
  json["layout"] = to_string(p.layout);
  json["pop"] = p.pop;
  json["batch"] = p.batch;
  json["in"] = p.in;
  json["out"] = p.out;
  json["bake_shape"] = p.bake_shape;
}

PerturbedLinear take_linear(JsonFields& fields) {
  PerturbedLinear p;
  p.noise = take_noise(fields);
  p.input = fields.parsed("input", parse_data_type, p.input);
  p.precision = fields.parsed("precision", parse_precision, p.precision);
  p.output = fields.parsed("output", parse_data_type, p.output);
  p.bias = fields.boolean("bias", p.bias);
  p.layout = fields.parsed("layout", parse_layout, p.layout);
  p.pop = fields.integer("pop", p.pop);
  p.batch = fields.integer("batch", p.batch);
  p.in = fields.integer("in", p.in);
  p.out = fields.integer("out", p.out);
  p.bake_shape = fields.boolean("bake_shape", p.bake_shape);
  return p;
}

void put(Json& json, const Gradient& p) {
  put(json, p.noise);
  json["normalize"] = to_string(p.normalize);
  json["update"] = vnjit::to_string(p.update);
  json["pop"] = p.pop;
  json["rows"] = p.rows;
  json["columns"] = p.columns;
}

Gradient take_gradient(JsonFields& fields, bool vector) {
  Gradient p;
  p.vector = vector;
  p.noise = take_noise(fields);
  p.normalize = fields.parsed("normalize", parse_normalize, p.normalize);
  p.update = fields.parsed("update", parse_update, p.update);
  p.pop = fields.integer("pop", p.pop);
  p.rows = fields.integer("rows", vector ? 1 : p.rows);
  p.columns = fields.integer("columns", p.columns);
  return p;
}

void put(Json& json, const ReduceMetric& p) {
  put(json, p.noise);
  json["input"] = vnjit::to_string(p.input);
  json["pop"] = p.pop;
  json["params"] = p.params;
}

ReduceMetric take_reduce(JsonFields& fields) {
  ReduceMetric p;
  p.noise = take_noise(fields);
  p.input = fields.parsed("input", parse_data_type, p.input);
  p.pop = fields.integer("pop", p.pop);
  p.params = fields.integer("params", p.params);
  return p;
}

Problem take_problem(JsonFields& fields) {
  const std::string operation = fields.text("operation");
  if (operation == "perturbed-linear") return take_linear(fields);
  if (operation == "weight-gradient") return take_gradient(fields, false);
  if (operation == "bias-gradient") return take_gradient(fields, true);
  if (operation == "reduce-metric") return take_reduce(fields);
  throw InvalidArgument(
      fmt::format("operation: unknown operation '{}'; use perturbed-linear, weight-gradient, "
                  "bias-gradient or reduce-metric",
                  operation));
}

}  // namespace

Json problem_to_json(const Problem& problem) {
  Json json;
  json["operation"] = operation_name(problem);
  std::visit([&](const auto& operation) { put(json, operation); }, problem);
  return json;
}

Problem problem_from_json(const Json& json, std::string_view where) {
  JsonFields fields(json, where);
  Problem problem = take_problem(fields);
  fields.expect_no_others();
  validate(problem);
  return problem;
}

std::string to_json(const Problem& problem) { return problem_to_json(problem).dump(); }

Problem problem_from_json(std::string_view text) {
  return problem_from_json(parse_json(text, "a problem"), "");
}

}  // namespace vnjit
