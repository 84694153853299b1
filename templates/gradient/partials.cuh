#pragma once

#include "gradient/fragments.cuh"
#include "gradient/units.cuh"
#include "params/gradient.cuh"
#include "simt/arrival.cuh"
#include "specialization.cuh"

namespace vnjit {

/// Sums of parts of the population that thread blocks leave in memory for the one of their group
/// that arrives last.
struct Partials {
  __device__ __forceinline__ Partials(const GradientList& params, unsigned group, unsigned part)
      : totals(static_cast<Sums::Total*>(params.partials)),
        counter(params.counters + group),
        units(params.units),
        parts(params.parts),
        part(part) {}

  __device__ __forceinline__ long long at(unsigned of, const Unit& unit, int n) const {
    return (static_cast<long long>(of) * units + unit.number) * kBlockIn + n;
  }

  __device__ __forceinline__ void store(const Unit& unit, int n, Sums::Total total) const {
    totals[at(part, unit, n)] = total;
  }

  /// Whether the parts of all other thread blocks of the group are in memory. For all threads of a
  /// block together, after store().
  __device__ __forceinline__ bool is_last(unsigned& arrived) const {
    return is_last_to_arrive(counter, parts, arrived);
  }

  /// The sum of all parts, in their order.
  __device__ __forceinline__ Sums::Total total(const Unit& unit, int n) const {
    Sums::Total sum = 0;
#pragma unroll 8
    for (unsigned of = 0; of < parts; ++of) sum += __ldcg(totals + at(of, unit, n));
    return sum;
  }

  Sums::Total* totals;
  unsigned* counter;
  unsigned units;
  unsigned parts;
  unsigned part;
};

}  // namespace vnjit
