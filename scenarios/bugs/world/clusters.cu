// SPDX-License-Identifier: Apache-2.0
// Clusters: remote arrivals, reads of a peer's shared memory, tensor memory of a pair.  Each kernel copies words.
#include "ptx.cuh"

__shared__ uint64_t ready, freed;
__shared__ uint32_t tmem_address;
__shared__ uint32_t words[128];

/// A CTA copies the words that its peer has in shared memory.
/// kMeets: CTAs meet before they exit.
template <bool kMeets>
__device__ __forceinline__ void read_peer(const uint32_t* in, uint32_t* out) {
  uint32_t rank, address, value;
  CTA_RANK(rank);
  words[threadIdx.x] = in[rank * 128 + threadIdx.x];
  CLUSTER_SYNC();
  MAPA(address, &words[threadIdx.x], rank ^ 1);
  asm volatile("ld.shared::cluster.u32 %0, [%1];" : "=r"(value) : "r"(address) : "memory");
  out[(rank ^ 1) * 128 + threadIdx.x] = value;
  if constexpr (kMeets) CLUSTER_SYNC();
}
extern "C" __global__ void __cluster_dims__(2, 1, 1) read_peer_fixed(const uint32_t* in, uint32_t* out) {
  read_peer<true>(in, out);
}
extern "C" __global__ void __cluster_dims__(2, 1, 1) peer_has_gone(const uint32_t* in, uint32_t* out) {
  read_peer<false>(in, out);
}

/// The first CTA of eight merges what the others have found.
/// kOthersStay: the others meet it before they exit.
template <bool kOthersStay>
__device__ __forceinline__ void merge(const uint32_t* in, uint32_t* out) {
  uint32_t rank;
  CTA_RANK(rank);
  words[threadIdx.x] = in[rank * 128 + threadIdx.x];
  CLUSTER_SYNC();
  if (rank != 0) {
    if constexpr (kOthersStay) CLUSTER_SYNC();
    return;
  }
  for (int other = 0; other < 8; ++other) {
    uint32_t address, value;
    MAPA(address, &words[threadIdx.x], other);
    asm volatile("ld.shared::cluster.u32 %0, [%1];" : "=r"(value) : "r"(address) : "memory");
    out[other * 128 + threadIdx.x] = value;
  }
  CLUSTER_SYNC();
}
extern "C" __global__ void __cluster_dims__(8, 1, 1) merge_fixed(const uint32_t* in, uint32_t* out) {
  merge<true>(in, out);
}
extern "C" __global__ void __cluster_dims__(8, 1, 1) others_return(const uint32_t* in, uint32_t* out) {
  merge<false>(in, out);
}

/// CTA 1 tells CTA 0 when it has come, then each copies its words.
/// kLocalForm: by the form of mbarrier.arrive that is for the own CTA.
template <bool kLocalForm>
__device__ __forceinline__ void tell_peer(const uint32_t* in, uint32_t* out) {
  uint32_t rank, address;
  CTA_RANK(rank);
  if (threadIdx.x == 0) {
    MBARRIER_INIT(&ready, 1);
    FENCE_MBARRIER_INIT();
  }
  CLUSTER_SYNC();
  MAPA(address, &ready, 0);
  if (rank == 1 && threadIdx.x == 0) {
    if constexpr (kLocalForm)
      asm volatile("mbarrier.arrive.shared::cta.b64 _, [%0];" ::"r"(address) : "memory");
    else
      ARRIVE_REMOTE(address);
  }
  if (rank == 0) WAIT(&ready, 0);
  out[rank * 128 + threadIdx.x] = in[rank * 128 + threadIdx.x];
  CLUSTER_SYNC();
}
extern "C" __global__ void __cluster_dims__(2, 1, 1) tell_peer_fixed(const uint32_t* in, uint32_t* out) {
  tell_peer<false>(in, out);
}
extern "C" __global__ void __cluster_dims__(2, 1, 1) local_form(const uint32_t* in, uint32_t* out) {
  tell_peer<true>(in, out);
}

enum Pair { fixed, dealloc_before_alloc, every_lane_arrives };

/// A pair allocates tensor memory, each CTA copies words through it, the pair frees it.
template <Pair kPair>
__device__ __forceinline__ void pair(const uint32_t* in, uint32_t* out) {
  const uint32_t warp = WARP;
  uint32_t rank, peers_freed, value = 0;
  CTA_RANK(rank);
  MAPA(peers_freed, &freed, rank ^ 1);
  if (threadIdx.x == 0) {
    MBARRIER_INIT(&freed, 1);
    FENCE_MBARRIER_INIT();
  }
  CLUSTER_SYNC();
  if (warp == 0) {
    TMEM_ALLOC(&tmem_address, 32, 2);
    TMEM_RELINQUISH(2);
  }
  FENCE_BEFORE();
  __syncthreads();
  FENCE_AFTER();
  const uint32_t tmem = *(volatile uint32_t*)&tmem_address;
  if constexpr (kPair != dealloc_before_alloc) {
    TMEM_ST_X1(tmem + (warp << 21), in[rank * 128 + threadIdx.x]);
    WAIT_ST();
    TMEM_LD_X1(value, tmem + (warp << 21));
    WAIT_LD();
  } else {
    value = in[rank * 128 + threadIdx.x];
  }
  out[rank * 128 + threadIdx.x] = value;
  FENCE_BEFORE();
  __syncthreads();
  if (warp == 0) {
    if constexpr (kPair != dealloc_before_alloc) {
      if (kPair == every_lane_arrives || LANE == 0) ARRIVE_REMOTE(peers_freed);
      WAIT(&freed, 0);
    }
    FENCE_AFTER();
    TMEM_DEALLOC(tmem, 32, 2);
  }
  __syncthreads();
  CLUSTER_SYNC();
}
extern "C" __global__ void __cluster_dims__(2, 1, 1) pair_fixed(const uint32_t* in, uint32_t* out) {
  pair<fixed>(in, out);
}
extern "C" __global__ void __cluster_dims__(2, 1, 1) pair_dealloc_before_alloc(const uint32_t* in, uint32_t* out) {
  pair<dealloc_before_alloc>(in, out);
}
extern "C" __global__ void __cluster_dims__(2, 1, 1) pair_every_lane_arrives(const uint32_t* in, uint32_t* out) {
  pair<every_lane_arrives>(in, out);
}
