#pragma once

#include <cstddef>
#include <string_view>

#include "vnjit/vnjit.h"

// Size-prefixed structs: what of a caller's struct is known here, and what stands in for the rest.

namespace vnjit::c_api {

struct StructInfo {
  std::string_view name;
  std::size_t first_size;  ///< bytes of the first version, which every caller knows
  std::size_t size;        ///< bytes of the version known here
};

/// Copies the caller's struct over `known`, which holds info.size bytes of defaults. Throws
/// InvalidArgument for a null struct, for a struct_size that no version has, and where what is not
/// known here is not zero.
void adopt(const StructInfo& info, const void* given, void* known);

// Kind, type, and the last field of the type's first version.
#define VNJIT_C_STRUCTS(STRUCT)                                                     \
  STRUCT(VNJIT_STRUCT_ERROR, vnjit_error, message)                                  \
  STRUCT(VNJIT_STRUCT_OPTIONS, vnjit_options, cached_plans)                         \
  STRUCT(VNJIT_STRUCT_PERTURBED_LINEAR, vnjit_perturbed_linear, out)                \
  STRUCT(VNJIT_STRUCT_GRADIENT, vnjit_gradient, columns)                            \
  STRUCT(VNJIT_STRUCT_REDUCE_METRIC, vnjit_reduce_metric, params)                   \
  STRUCT(VNJIT_STRUCT_PERTURBED_LINEAR_ARGUMENTS, vnjit_perturbed_linear_arguments, \
         noise_row_stride)                                                          \
  STRUCT(VNJIT_STRUCT_GRADIENT_BLOCK, vnjit_gradient_block, noise_row_stride)       \
  STRUCT(VNJIT_STRUCT_GRADIENT_ARGUMENTS, vnjit_gradient_arguments, block_count)    \
  STRUCT(VNJIT_STRUCT_REDUCE_METRIC_ARGUMENTS, vnjit_reduce_metric_arguments, params)

template <typename T>
inline constexpr StructInfo kInfo{};

/// All fields but struct_size.
template <typename T>
T defaults();

#define VNJIT_DECLARE(kind, type, last)                                                     \
  template <>                                                                               \
  inline constexpr StructInfo kInfo<type>{#type, offsetof(type, last) + sizeof(type::last), \
                                          sizeof(type)};                                    \
  template <>                                                                               \
  type defaults<type>();
VNJIT_C_STRUCTS(VNJIT_DECLARE)
#undef VNJIT_DECLARE

/// The caller's struct as this version has it. Throws as adopt.
template <typename T>
T adopted(const void* given) {
  T known = defaults<T>();
  adopt(kInfo<T>, given, &known);
  return known;
}

}  // namespace vnjit::c_api
