#pragma once

#include "params/reduce_metric.cuh"
#include "simt/arrival.cuh"
#include "simt/compensated_sum.cuh"
#include "simt/lane_noise.cuh"
#include "simt/warp_sum.cuh"
#include "specialization.cuh"

namespace vnjit {

static_assert(kBlockIn == 512, "a lane owns 16 elements of a segment");

struct ReduceMetricShared {
  LaneNoise::Keys keys[kIndividuals];  ///< of the group's seeds
  CompensatedSum sums[kIndividuals][kThreads];
  unsigned arrived;
};
constexpr int kSharedBytes = sizeof(ReduceMetricShared);

/// Parameters that a thread block takes, and for whom.
struct Share {
  unsigned group;
  unsigned chunk;
  int seeds;
  int individuals;
  long long first_individual;
  long long all_individuals;  ///< of the run
  long long first_segment;    ///< of params.segments
  long long end_segment;
};

__device__ __forceinline__ Share share_of(const ReduceMetricParams& params) {
  Share share;
  share.group = blockIdx.x / params.chunks;
  share.chunk = blockIdx.x % params.chunks;
  const long long first = static_cast<long long>(share.group) * params.group_seeds;
  share.seeds =
      static_cast<int>(min(static_cast<long long>(params.group_seeds), params.seed_count - first));
  share.individuals = share.seeds;
  share.first_individual = first;
  share.all_individuals = params.seed_count;
  //@if antithetic
  share.individuals = 2 * share.seeds;
  share.first_individual = 2 * first;
  share.all_individuals = 2 * params.seed_count;
  //@endif
  const long long length = (params.segments + params.chunks - 1) / params.chunks;
  share.first_segment = share.chunk * length;
  share.end_segment = min(share.first_segment + length, params.segments);
  return share;
}

/// Adds |center + sigma*noise| of the lane's 16 elements of a segment to the sum of each
/// individual; `first` is the parameter of the segment's first element, below 0 where it lies
/// before them. kWhole: all 512 elements are parameters.
template <bool kWhole>
__device__ __forceinline__ void add_segment(const ReduceMetricParams& params, const Share& share,
                                            float sigma, unsigned long long segment,
                                            long long first, ReduceMetricShared& shared) {
  const int lane = static_cast<int>(threadIdx.x) % 32;
  const Input* center = static_cast<const Input*>(params.center) + first;
  const float scale = sigma * LaneNoise::kUnit;
  float centers[16];
  unsigned there = 0;
#pragma unroll
  for (int n = 0; n < 16; ++n) {
    const int at = LaneNoise::position(lane, n);
    const bool is_there = kWhole || (first + at >= 0 && first + at < params.params);
    centers[n] = is_there ? fmaf(sigma, LaneNoise::kOffset, to_float(center[at])) : 0.0f;
    there |= static_cast<unsigned>(is_there) << n;
  }
  const LaneNoise::Place place = LaneNoise::place(segment, lane);
#pragma unroll 1
  for (int seed = 0; seed < share.seeds; ++seed) {
    const LaneNoise::Keys keys = shared.keys[seed];
    float values[16];
    LaneNoise::make(keys, place, values);
    float sum = 0.0f;
#pragma unroll
    for (int n = 0; n < 16; ++n) {
      if (kWhole || (there >> n & 1u)) sum += fabsf(fmaf(scale, values[n], centers[n]));
    }
    int individual = seed;
    //@if antithetic
    float mirrored = 0.0f;
#pragma unroll
    for (int n = 0; n < 16; ++n) {
      if (kWhole || (there >> n & 1u)) {
        // Not -scale: of an asymmetric offset the mirrored noise has the other sign.
        const float mirror = fmaf(-2.0f * sigma, LaneNoise::kOffset, centers[n]);
        mirrored += fabsf(fmaf(-scale, values[n], mirror));
      }
    }
    individual = 2 * seed;
    shared.sums[individual + 1][threadIdx.x].add(mirrored);
    //@endif
    shared.sums[individual][threadIdx.x].add(sum);
  }
}

/// Thread blocks sum their share of the parameters for their group of individuals, each center
/// value once for all of them, and the one that is last adds up what the others left in memory. The
/// order of every sum is fixed: the same bits in every run.
__device__ __forceinline__ void reduce_metric(const ReduceMetricParams& params) {
  extern __shared__ __align__(16) unsigned char shared_memory[];
  ReduceMetricShared& shared = *reinterpret_cast<ReduceMetricShared*>(shared_memory);
  const int warp = static_cast<int>(threadIdx.x) / 32;
  const int lane = static_cast<int>(threadIdx.x) % 32;
  const Share share = share_of(params);
  const float sigma = params.sigma_pointer ? *params.sigma_pointer : params.sigma;

  for (int n = static_cast<int>(threadIdx.x); n < share.seeds; n += kThreads) {
    const long long seed = static_cast<long long>(share.group) * params.group_seeds + n;
    shared.keys[n] = LaneNoise::keys(static_cast<unsigned long long>(params.seeds[seed]));
  }
  for (int n = 0; n < share.individuals; ++n) shared.sums[n][threadIdx.x] = CompensatedSum();
  __syncthreads();

  for (long long n = share.first_segment + warp; n < share.end_segment; n += kWarps) {
    const unsigned long long segment =
        params.offset / kBlockIn + static_cast<unsigned long long>(n);
    const long long first = n * kBlockIn - static_cast<long long>(params.offset % kBlockIn);
    if (first >= 0 && first + kBlockIn <= params.params) {
      add_segment<true>(params, share, sigma, segment, first, shared);
    } else {
      add_segment<false>(params, share, sigma, segment, first, shared);
    }
  }
  __syncthreads();

  for (int n = warp; n < share.individuals; n += kWarps) {
    CompensatedSum all;
    for (int thread = lane; thread < kThreads; thread += 32) {
      all.add(shared.sums[n][thread].value());
    }
    const float sum = sum_over_warp(all.value());
    const long long individual = share.first_individual + n;
    if (lane == 0 && params.chunks > 1) {
      params.partials[share.chunk * share.all_individuals + individual] = sum;
    } else if (lane == 0) {
      params.metric[individual] = sum / static_cast<float>(params.params);
    }
  }
  if (params.chunks == 1) return;
  if (!is_last_to_arrive(params.counters + share.group, params.chunks, shared.arrived)) return;
  for (int n = warp; n < share.individuals; n += kWarps) {
    const long long individual = share.first_individual + n;
    CompensatedSum all;
    for (unsigned chunk = lane; chunk < params.chunks; chunk += 32) {
      all.add(__ldcg(params.partials + chunk * share.all_individuals + individual));
    }
    const float sum = sum_over_warp(all.value());
    if (lane == 0) params.metric[individual] = sum / static_cast<float>(params.params);
  }
}

}  // namespace vnjit
