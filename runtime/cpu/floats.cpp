#include "vnjit/runtime/cpu/floats.hpp"

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

}  // namespace vnjit::cpu
