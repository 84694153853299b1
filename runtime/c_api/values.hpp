#pragma once

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <string>
#include <string_view>

#include "vnjit/codegen/error.hpp"
#include "vnjit/codegen/problem.hpp"
#include "vnjit/vnjit.h"

// Which constant of the C API is which value of the C++ API.

namespace vnjit::c_api {

template <typename Enum>
struct Value {
  std::int32_t c;
  Enum cpp;
  std::string_view name;
};

#define VNJIT_VALUE(c, cpp) \
  { c, cpp, #c }

template <typename Enum>
inline constexpr std::array<Value<Enum>, 0> kValues{};

template <>
inline constexpr std::array<Value<Generator>, 3> kValues<Generator>{
    {VNJIT_VALUE(VNJIT_GENERATOR_TRITON, Generator::triton),
     VNJIT_VALUE(VNJIT_GENERATOR_SPLITMIX64, Generator::splitmix64),
     VNJIT_VALUE(VNJIT_GENERATOR_PHILOX, Generator::philox)}};

template <>
inline constexpr std::array<Value<Distribution>, 4> kValues<Distribution>{
    {VNJIT_VALUE(VNJIT_DISTRIBUTION_UNIFORM, Distribution::uniform),
     VNJIT_VALUE(VNJIT_DISTRIBUTION_UNIFORM8, Distribution::uniform8),
     VNJIT_VALUE(VNJIT_DISTRIBUTION_RADEMACHER, Distribution::rademacher),
     VNJIT_VALUE(VNJIT_DISTRIBUTION_NORMAL, Distribution::normal)}};

template <>
inline constexpr std::array<Value<DataType>, 3> kValues<DataType>{
    {VNJIT_VALUE(VNJIT_TYPE_F32, DataType::f32), VNJIT_VALUE(VNJIT_TYPE_F16, DataType::f16),
     VNJIT_VALUE(VNJIT_TYPE_BF16, DataType::bf16)}};

template <>
inline constexpr std::array<Value<Precision>, 6> kValues<Precision>{
    {VNJIT_VALUE(VNJIT_PRECISION_INPUT, Precision::input),
     VNJIT_VALUE(VNJIT_PRECISION_F32, Precision::f32),
     VNJIT_VALUE(VNJIT_PRECISION_TF32, Precision::tf32),
     VNJIT_VALUE(VNJIT_PRECISION_F16, Precision::f16),
     VNJIT_VALUE(VNJIT_PRECISION_BF16, Precision::bf16),
     VNJIT_VALUE(VNJIT_PRECISION_INT8, Precision::int8)}};

template <>
inline constexpr std::array<Value<InputLayout>, 2> kValues<InputLayout>{
    {VNJIT_VALUE(VNJIT_LAYOUT_SHARED, InputLayout::shared),
     VNJIT_VALUE(VNJIT_LAYOUT_INDIVIDUAL, InputLayout::individual)}};

template <>
inline constexpr std::array<Value<Normalize>, 2> kValues<Normalize>{
    {VNJIT_VALUE(VNJIT_NORMALIZE_SEED, Normalize::seed),
     VNJIT_VALUE(VNJIT_NORMALIZE_UNBIASED, Normalize::unbiased)}};

template <>
inline constexpr std::array<Value<Update>, 3> kValues<Update>{
    {VNJIT_VALUE(VNJIT_UPDATE_NONE, Update::none), VNJIT_VALUE(VNJIT_UPDATE_SGD, Update::sgd),
     VNJIT_VALUE(VNJIT_UPDATE_ADAM, Update::adam)}};

template <>
inline constexpr std::array<Value<bool>, 2> kValues<bool>{{{0, false, "no"}, {1, true, "yes"}}};

/// A field that has no meaning yet, so that a later version can give it one.
enum class Reserved { zero };

template <>
inline constexpr std::array<Value<Reserved>, 1> kValues<Reserved>{{{0, Reserved::zero, "zero"}}};
#undef VNJIT_VALUE

/// Throws InvalidArgument naming the field and the values there are.
template <typename Enum>
Enum cpp_value(std::string_view field, std::int32_t given) {
  const auto& values = kValues<Enum>;
  const auto found = std::ranges::find(values, given, &Value<Enum>::c);
  if (found != values.end()) return found->cpp;
  std::string names;
  for (const auto& value : values) {
    names += fmt::format("{}{} ({})", names.empty() ? "" : ", ", value.name, value.c);
  }
  throw InvalidArgument(fmt::format("{} is {}; use {}", field, given, names));
}

/// Throws Error for a value that the C API has no constant for.
template <typename Enum>
std::int32_t c_value(Enum given) {
  const auto& values = kValues<Enum>;
  const auto found = std::ranges::find(values, given, &Value<Enum>::cpp);
  if (found == values.end()) throw Error("the C API has no constant for this value");
  return found->c;
}

}  // namespace vnjit::c_api
