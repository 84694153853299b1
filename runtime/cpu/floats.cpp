#include "vnjit/runtime/cpu/floats.hpp"

#include <algorithm>
#include <bit>

#include "vnjit/runtime/cpu/vector_clones.hpp"

namespace vnjit::cpu {
namespace {

VNJIT_INLINE float from_bf16(std::uint16_t bits) {
  return std::bit_cast<float>(static_cast<std::uint32_t>(bits) << 16);
}

/// All bits where `condition`, else none: the compiler does not vectorize a choice between values
/// of which one is a floating-point result.
VNJIT_INLINE std::uint32_t mask(bool condition) {
  return 0u - static_cast<std::uint32_t>(condition);
}

VNJIT_INLINE float from_f16(std::uint16_t bits) {
  const std::uint32_t sign = static_cast<std::uint32_t>(bits & 0x8000u) << 16;
  const std::uint32_t magnitude = bits & 0x7FFFu;
  const std::uint32_t normal = (magnitude << 13) + (112u << 23);
  // Not the product of a subnormal float, which a host program may have told the CPU to flush.
  const float scaled = static_cast<float>(static_cast<std::int32_t>(magnitude)) * 0x1p-24f;
  const std::uint32_t subnormal = mask(magnitude < 0x0400u);
  const std::uint32_t unbounded = mask(magnitude >= 0x7C00u) & 0x7F800000u;
  return std::bit_cast<float>(sign | unbounded | (normal & ~subnormal) |
                              (std::bit_cast<std::uint32_t>(scaled) & subnormal));
}

/// `bits` without its lowest `dropped` bits, rounded to the nearest, ties to even.
VNJIT_INLINE std::uint32_t rounded(std::uint32_t bits, int dropped) {
  const std::uint32_t odd = (bits >> dropped) & 1u;
  return (bits + ((1u << (dropped - 1)) - 1u) + odd) >> dropped;
}

VNJIT_INLINE std::uint16_t to_bf16(float value) {
  const std::uint32_t bits = std::bit_cast<std::uint32_t>(value);
  const std::uint32_t nan = mask((bits & 0x7FFFFFFFu) > 0x7F800000u);
  return static_cast<std::uint16_t>((rounded(bits, 16) & ~nan) | (((bits >> 16) | 0x40u) & nan));
}

VNJIT_INLINE std::uint16_t to_f16(float value) {
  const std::uint32_t bits = std::bit_cast<std::uint32_t>(value);
  const std::uint32_t sign = (bits >> 16) & 0x8000u;
  const std::uint32_t magnitude = bits & 0x7FFFFFFFu;
  const std::uint32_t normal = rounded(magnitude, 13) - (112u << 10);
  // From 0.5 to 1 floats are 2^-24 apart, as subnormal halves are: the sum rounds as they do.
  const float shifted = std::bit_cast<float>(magnitude) + 0.5f;
  const std::uint32_t subnormal = std::bit_cast<std::uint32_t>(shifted) - 0x3F000000u;
  const std::uint32_t is_subnormal = mask(magnitude < (113u << 23));
  const std::uint32_t is_unbounded = mask(magnitude >= 0x477FF000u);  // halfway beyond the largest
  const std::uint32_t nan = mask(magnitude > 0x7F800000u) & 0x0200u;
  return static_cast<std::uint16_t>(sign | (subnormal & is_subnormal) |
                                    (normal & ~is_subnormal & ~is_unbounded) |
                                    (0x7C00u & is_unbounded) | nan);
}

VNJIT_VECTOR_CLONES
void round_bf16(const float* from, std::int64_t count, std::uint16_t* to) {
  for (std::int64_t n = 0; n < count; ++n) to[n] = to_bf16(from[n]);
}

VNJIT_VECTOR_CLONES
void round_f16(const float* from, std::int64_t count, std::uint16_t* to) {
  for (std::int64_t n = 0; n < count; ++n) to[n] = to_f16(from[n]);
}

VNJIT_VECTOR_CLONES
void convert_bf16(const std::uint16_t* from, std::int64_t count, float* to) {
  for (std::int64_t n = 0; n < count; ++n) to[n] = from_bf16(from[n]);
}

VNJIT_VECTOR_CLONES
void convert_f16(const std::uint16_t* from, std::int64_t count, float* to) {
  for (std::int64_t n = 0; n < count; ++n) to[n] = from_f16(from[n]);
}

}  // namespace

const float* as_floats(DataType type, const void* data, std::int64_t first, std::int64_t count,
                       float* scratch) {
  if (type == DataType::f32) return static_cast<const float*>(data) + first;
  const auto* from = static_cast<const std::uint16_t*>(data) + first;
  type == DataType::f16 ? convert_f16(from, count, scratch) : convert_bf16(from, count, scratch);
  return scratch;
}

void store_floats(DataType type, const float* from, std::int64_t count, void* data,
                  std::int64_t first) {
  if (type == DataType::f32) {
    std::copy_n(from, count, static_cast<float*>(data) + first);
    return;
  }
  auto* to = static_cast<std::uint16_t*>(data) + first;
  type == DataType::f16 ? round_f16(from, count, to) : round_bf16(from, count, to);
}

}  // namespace vnjit::cpu
