#include "vnjit/runtime/cpu/noise.hpp"

#include <fmt/format.h>

#include "vnjit/codegen/error.hpp"
#include "vnjit/runtime/cpu/noise_blocks.hpp"

namespace vnjit {
namespace {

using cpu::u64;

template <int kRounds>
VNJIT_INLINE void fill_philox(Distribution distribution, u64 seed, u64 offset, std::int64_t count,
                              float* values) {
  switch (distribution) {
    case Distribution::uniform:
      return cpu::fill_by_groups<cpu::UniformGroup<kRounds>>(seed, offset, count, values);
    case Distribution::uniform8:
      return cpu::fill_by_groups<cpu::Uniform8Group<kRounds>>(seed, offset, count, values);
    case Distribution::rademacher:
      return cpu::fill_by_groups<cpu::RademacherGroup<kRounds>>(seed, offset, count, values);
    case Distribution::normal:
      return cpu::fill_by_groups<cpu::NormalGroup<kRounds>>(seed, offset, count, values);
  }
}

// One function holds every generator, so that each is compiled for every vector width.
VNJIT_VECTOR_CLONES
void fill(const NoiseSpec& noise, u64 seed, u64 offset, std::int64_t count, float* values) {
  switch (noise.generator) {
    case Generator::triton:
      return cpu::fill_by_elements<noise::Triton>(seed, offset, count, values);
    case Generator::splitmix64:
      return cpu::fill_by_elements<noise::SplitMix64>(seed, offset, count, values);
    case Generator::philox:
      if (noise.rounds == 7) {
        return fill_philox<7>(noise.distribution, seed, offset, count, values);
      }
      return fill_philox<10>(noise.distribution, seed, offset, count, values);
  }
}

}  // namespace

void fill_noise(const NoiseSpec& noise, std::int64_t seed, std::uint64_t offset, std::int64_t count,
                float* values) {
  noise.validate();
  if (count < 0) throw InvalidArgument(fmt::format("count is {}; it must be at least 0", count));
  if (count > 0 && values == nullptr) throw InvalidArgument("values is null; count is not 0");
  fill(noise, static_cast<u64>(seed), offset, count, values);
}

}  // namespace vnjit
