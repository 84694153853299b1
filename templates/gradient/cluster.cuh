#pragma once

namespace vnjit {

/// Waits for all threads of the cluster; what they wrote to shared memory before is seen after.
__device__ __forceinline__ void cluster_barrier() {
  asm volatile("barrier.cluster.arrive.aligned;\n\tbarrier.cluster.wait.aligned;" ::: "memory");
}

/// The value of thread block `rank` of the cluster that lies where `value` does in this one's
/// shared memory.
template <typename T>
__device__ __forceinline__ T load_from(unsigned rank, const T& value) {
  static_assert(sizeof(T) == 4 || sizeof(T) == 8, "float or long long");
  const auto address = static_cast<unsigned>(__cvta_generic_to_shared(&value));
  unsigned remote;
  asm("mapa.shared::cluster.u32 %0, %1, %2;" : "=r"(remote) : "r"(address), "r"(rank));
  T result;
  if constexpr (sizeof(T) == 4) {
    asm volatile("ld.shared::cluster.f32 %0, [%1];" : "=f"(result) : "r"(remote) : "memory");
  } else {
    asm volatile("ld.shared::cluster.s64 %0, [%1];" : "=l"(result) : "r"(remote) : "memory");
  }
  return result;
}

}  // namespace vnjit
