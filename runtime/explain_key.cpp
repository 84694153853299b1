#include "vnjit/runtime/explain_key.hpp"

#include <fmt/format.h>

#include <functional>

#include "vnjit/codegen/emit.hpp"
#include "vnjit/codegen/error.hpp"
#include "vnjit/runtime/compiler.hpp"

namespace vnjit {
namespace {

/// One field of KeyParts: its text, and how it is taken over from others.
struct Field {
  std::string name;
  std::function<std::string(const KeyParts&)> text;
  std::function<void(KeyParts& to, const KeyParts& from)> copy;
};

std::string text_of(bool value) { return value ? "true" : "false"; }
std::string text_of(std::int64_t value) { return fmt::to_string(value); }
std::string text_of(DataType value) { return std::string(to_string(value)); }
std::string text_of(Precision value) { return std::string(to_string(value)); }
std::string text_of(Update value) { return std::string(to_string(value)); }
std::string text_of(InputLayout value) {
  return value == InputLayout::shared ? "shared" : "individual";
}
std::string text_of(Normalize value) { return value == Normalize::seed ? "seed" : "unbiased"; }

template <typename Operation, typename Value>
Field member(std::string name, Value Operation::*field) {
  return {
      std::move(name),
      [field](const KeyParts& parts) { return text_of(std::get<Operation>(parts.problem).*field); },
      [field](KeyParts& to, const KeyParts& from) {
        std::get<Operation>(to.problem).*field = std::get<Operation>(from.problem).*field;
      }};
}

NoiseSpec& noise_in(Problem& problem) {
  return std::visit([](auto& operation) -> NoiseSpec& { return operation.noise; }, problem);
}

/// The noise but for its signs, which are a field of their own.
void copy_noise(KeyParts& to, const KeyParts& from) {
  const bool antithetic = noise_of(to.problem).antithetic;
  noise_in(to.problem) = noise_of(from.problem);
  noise_in(to.problem).antithetic = antithetic;
}

std::vector<Field> fields_of(const PerturbedLinear&) {
  using P = PerturbedLinear;
  return {member("dtype", &P::input),   member("precision", &P::precision),
          member("output", &P::output), member("bias", &P::bias),
          member("x", &P::layout),      member("bake_shape", &P::bake_shape),
          member("pop", &P::pop),       member("batch", &P::batch),
          member("in", &P::in),         member("out", &P::out)};
}

std::vector<Field> fields_of(const Gradient&) {
  using G = Gradient;
  return {member("normalize", &G::normalize), member("update", &G::update),
          member("vector", &G::vector),       member("pop", &G::pop),
          member("rows", &G::rows),           member("columns", &G::columns)};
}

std::vector<Field> fields_of(const ReduceMetric&) {
  using R = ReduceMetric;
  return {member("dtype", &R::input), member("pop", &R::pop), member("params", &R::params)};
}

std::vector<Field> common_fields() {
  return {{"noise", [](const KeyParts& parts) { return to_string(noise_of(parts.problem)); },
           copy_noise},
          {"antithetic",
           [](const KeyParts& parts) { return text_of(noise_of(parts.problem).antithetic); },
           [](KeyParts& to, const KeyParts& from) {
             noise_in(to.problem).antithetic = noise_of(from.problem).antithetic;
           }},
          {"config", [](const KeyParts& parts) { return to_string(parts.config); },
           [](KeyParts& to, const KeyParts& from) { to.config = from.config; }},
          {"device",
           [](const KeyParts& parts) {
             return fmt::format("{} ({}, {} bytes of shared memory a block)", parts.limits.name,
                                parts.limits.arch(), parts.limits.shared_budget());
           },
           [](KeyParts& to, const KeyParts& from) { to.limits = from.limits; }},
          {"access", [](const KeyParts& parts) { return to_string(parts.access); },
           [](KeyParts& to, const KeyParts& from) { to.access = from.access; }},
          {"NVRTC", [](const KeyParts& parts) { return parts.nvrtc; },
           [](KeyParts& to, const KeyParts& from) { to.nvrtc = from.nvrtc; }}};
}

std::string key_of(const KeyParts& parts) {
  return cache_key(emit(parts.problem, parts.config, parts.limits, parts.access), parts.nvrtc);
}

/// Whether `parts` with this one field of `other` is another binary, or none that can be made.
bool decides(const Field& field, const KeyParts& parts, const KeyParts& other,
             const std::string& key) {
  KeyParts changed = parts;
  field.copy(changed, other);
  try {
    return key_of(changed) != key;
  } catch (const Error&) {
    return true;
  }
}

}  // namespace

KeyExplanation explain_key(const KeyParts& first, const KeyParts& second) {
  KeyExplanation result;
  result.first_key = key_of(first);
  result.second_key = key_of(second);
  result.one_binary = result.first_key == result.second_key;
  if (first.problem.index() != second.problem.index()) {
    result.differing.push_back({"operation", std::string(operation_name(first.problem)),
                                std::string(operation_name(second.problem)), true});
    return result;
  }
  std::vector<Field> fields =
      std::visit([](const auto& operation) { return fields_of(operation); }, first.problem);
  for (Field& field : common_fields()) fields.push_back(std::move(field));
  for (const Field& field : fields) {
    std::string here = field.text(first);
    std::string there = field.text(second);
    if (here == there) continue;
    result.differing.push_back({field.name, std::move(here), std::move(there),
                                decides(field, first, second, result.first_key)});
  }
  return result;
}

std::string KeyExplanation::text() const {
  std::string lines = one_binary ? fmt::format("one binary: {}\n", first_key)
                                 : fmt::format("two binaries: {} and {}\n", first_key, second_key);
  for (const KeyField& field : differing) {
    lines += fmt::format("  {:<11} {} and {}: {}\n", field.name, field.first, field.second,
                         field.in_key ? "part of the key" : "not part of the key");
  }
  if (differing.empty()) lines += "  nothing differs\n";
  return lines;
}

}  // namespace vnjit
