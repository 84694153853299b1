#pragma once

//@if clusters
#include "gradient/cluster.cuh"
//@endif
#include "gradient/individuals.cuh"
#include "gradient/output.cuh"
#include "gradient/partials.cuh"
#include "gradient/units.cuh"
#include "specialization.cuh"

namespace vnjit {

struct GradientShared {
  Individual staged[kThreads];
  Sums::Total totals[kWarps][kBlockIn];
  Sums::Fitness warp_fitness[kWarps];
  unsigned warp_bits[kWarps];
  unsigned arrived;
};
constexpr int kSharedBytes = sizeof(GradientShared);

/// Makes the gradient of the totals of warp `warp` of `warps` that share a unit.
template <typename TotalOf>
__device__ __forceinline__ void finish(const GradientList& params, const Unit& unit, double scale,
                                       unsigned warp, unsigned warps, const TotalOf& total_of) {
  if (!unit.exists) return;
  for (int n = static_cast<int>(32 * warp + threadIdx.x % 32); n < kBlockIn;
       n += static_cast<int>(32 * warps)) {
    write(params, unit, n, static_cast<float>(static_cast<double>(total_of(n)) * scale));
  }
}

/// Units of noise elements are dealt to warps, and each warp sums fitness * noise of its unit over
/// its share of the individuals of the thread block's part of the population. Every order of
/// addition is fixed: the same bits in every run.
__device__ __forceinline__ void gradient(const GradientList& params) {
  extern __shared__ __align__(16) unsigned char shared_memory[];
  GradientShared& shared = *reinterpret_cast<GradientShared*>(shared_memory);
  const int warp = static_cast<int>(threadIdx.x) / 32;
  const int lane = static_cast<int>(threadIdx.x) % 32;
  const int unit_warps = static_cast<int>(params.unit_warps);

  const unsigned group_units = kWarps / params.unit_warps;
  const unsigned group = blockIdx.x / params.parts;
  const unsigned part = blockIdx.x % params.parts;
  const Unit unit = unit_of(params, group * group_units + static_cast<unsigned>(warp / unit_warps));

  int shift = 0;
  bool finite = true;
  //@if fixed_point
  const unsigned largest = largest_fitness(params, shared.warp_bits);
  shift = fixed_point_shift(largest, static_cast<unsigned long long>(params.seed_count));
  finite = largest < kInfinityBits;
  //@endif

  Sums::Total* totals = shared.totals[warp];
  for (int n = lane; n < kBlockIn; n += 32) totals[n] = 0;
  __syncwarp();

  const long long share = (params.seed_count + params.parts - 1) / params.parts;
  const long long end = min((part + 1) * share, params.seed_count);
  Sums sums(unit.segment, lane);
  Sums::Fitness fitness_sum = 0;
  int pending = 0;
  SeedAndFitness next = fetch(params, part * share + threadIdx.x, end);
  for (long long first = part * share; first < end; first += kThreads) {
    __syncthreads();
    fitness_sum += stage(next, shift, shared.staged[threadIdx.x]);
    __syncthreads();
    next = fetch(params, first + kThreads + threadIdx.x, end);
    const int staged = static_cast<int>(min(end - first, static_cast<long long>(kThreads)));
    // Equal pieces for the warps of a unit.
    const int steps = (staged + Sums::kStep - 1) / Sums::kStep;
    const int piece = (steps + unit_warps - 1) / unit_warps * Sums::kStep;
    const int begin = warp % unit_warps * piece;
    const int count = min(piece, steps * Sums::kStep - begin);
    if (!unit.exists || count <= 0) continue;
    sums.add(shared.staged + begin, count, lane);
    pending += count;
    if (pending > Sums::kFlush - kThreads) {
      sums.store(lane, totals);
      pending = 0;
    }
  }
  sums.store(lane, totals);
  fitness_sum = sum_over_block(fitness_sum, shared.warp_fitness);

  // The warps of a unit share its elements, and leave each sum where the first has it.
  Sums::Total* unit_totals = shared.totals[warp / unit_warps * unit_warps];
  const unsigned rank = static_cast<unsigned>(warp % unit_warps);
  if (unit.exists) {
    for (int n = 32 * static_cast<int>(rank) + lane; n < kBlockIn; n += 32 * unit_warps) {
      Sums::Total total = 0;
      for (int w = 0; w < unit_warps; ++w) total += unit_totals[w * kBlockIn + n];
      unit_totals[n] = Sums::centred(total, fitness_sum);
    }
  }
  const double scale =
      finite ? scale_of(params, shift) : __longlong_as_double(0x7FF8000000000000ll);
  if (params.parts == 1) {
    return finish(params, unit, scale, rank, unit_warps, [&](int n) { return unit_totals[n]; });
  }
  //@if clusters
  if (params.partials == nullptr) {
    cluster_barrier();
    finish(params, unit, scale, part * unit_warps + rank, params.parts * unit_warps, [&](int n) {
      Sums::Total total = 0;
      for (unsigned of = 0; of < params.parts; ++of) total += load_from(of, unit_totals[n]);
      return total;
    });
    cluster_barrier();  // none leaves while another reads its memory
    return;
  }
  //@endif
  const Partials partials(params, group, part);
  if (unit.exists) {
    for (int n = 32 * static_cast<int>(rank) + lane; n < kBlockIn; n += 32 * unit_warps) {
      partials.store(unit, n, unit_totals[n]);
    }
  }
  if (!partials.is_last(shared.arrived)) return;
  finish(params, unit, scale, rank, unit_warps, [&](int n) { return partials.total(unit, n); });
}

}  // namespace vnjit
