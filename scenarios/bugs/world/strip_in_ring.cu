// SPDX-License-Identifier: Apache-2.0
// An output strip in the memory of the input ring: a tile's result is stored from the slot of its last k step.
// The first CTA of a cluster loads for all.  Each tile's result is its first block.
#include "ptx.cuh"

constexpr int kSlots = 4, kBlock = 2048, kTiles = 4;

extern __shared__ __align__(128) uint8_t slots[];
__shared__ uint64_t full[kSlots], empty[kSlots], stored;

/// kWaitAtStep: the k step before which the load warp waits for the store of the tile before, which is right for
/// tiles of four k steps and more; -1: it waits before it fills the slot of a strip. kPeers: a load waits for the
/// stores of all CTAs, not only of its own.
template <int kCtas, int kWaitAtStep, bool kPeers>
__device__ __forceinline__ void strip_in_ring(const uint8_t* in, uint8_t* out, int k_steps) {
  uint32_t rank = 0, leader_stored, leader_empty[kSlots];
  if constexpr (kCtas > 1) CTA_RANK(rank);
  if (threadIdx.x == 0) {
    for (int s = 0; s < kSlots; ++s) {
      MBARRIER_INIT(&full[s], 1);
      MBARRIER_INIT(&empty[s], kCtas);
    }
    MBARRIER_INIT(&stored, kPeers ? kCtas : 1);
    FENCE_MBARRIER_INIT();
  }
  __syncthreads();
  if constexpr (kCtas > 1) CLUSTER_SYNC();
  MAPA(leader_stored, &stored, 0);
  for (int s = 0; s < kSlots; ++s) MAPA(leader_empty[s], &empty[s], 0);

  const int steps = kTiles * k_steps;
  if (WARP == 0) {
    if (LANE == 0) {
      int waited = 0;  // tiles whose store was waited for
#pragma unroll 1
      for (int step = 0; step < steps; ++step) {
        const int s = step % kSlots, tile = step / k_steps;
        if (rank != 0) {
          // The own barrier expects the bytes that the leader sends.
          if (step >= kSlots) WAIT(&full[s], (step / kSlots - 1) & 1);
          ARRIVE_EXPECT_TX(&full[s], kBlock);
          continue;
        }
        WAIT(&empty[s], (step / kSlots & 1) ^ 1);
        const bool wait = kWaitAtStep < 0 ? step >= kSlots && (step - kSlots) % k_steps == k_steps - 1
                                          : step % k_steps == kWaitAtStep && tile > 0;
        if (wait) {
          WAIT(&stored, waited & 1);
          ++waited;
        }
        ARRIVE_EXPECT_TX(&full[s], kBlock);
        if constexpr (kCtas > 1)
          BULK_LOAD_MULTICAST(slots + s * kBlock, in + step * kBlock, kBlock, &full[s], 3);
        else
          BULK_LOAD(slots + s * kBlock, in + step * kBlock, kBlock, &full[s]);
      }
    }
  } else {
    uint32_t value[kBlock / 128];
#pragma unroll 1
    for (int step = 0; step < steps; ++step) {
      const int s = step % kSlots;
      const bool last = step % k_steps == k_steps - 1;
      uint32_t* const block = reinterpret_cast<uint32_t*>(slots + s * kBlock);
      WAIT(&full[s], step / kSlots & 1);
      if (step % k_steps == 0)
        for (int i = 0; i < kBlock / 128; ++i) value[i] = block[i * 32 + LANE];
      if (last)
        for (int i = 0; i < kBlock / 128; ++i) block[i * 32 + LANE] = value[i];
      FENCE_PROXY_ASYNC();
      __syncwarp();
      if (LANE == 0) {
        ARRIVE_REMOTE(leader_empty[s]);
        if (last) {
          BULK_STORE(out + (rank * kTiles + step / k_steps) * kBlock, block, kBlock);
          BULK_COMMIT();
          BULK_WAIT_READ();
          if (kPeers || rank == 0) ARRIVE_REMOTE(leader_stored);
        }
      }
      __syncwarp();
    }
  }
  __syncthreads();
  if constexpr (kCtas > 1) CLUSTER_SYNC();
}
extern "C" __global__ void __launch_bounds__(64) strip_fixed(const uint8_t* in, uint8_t* out, int k_steps) {
  strip_in_ring<1, -1, true>(in, out, k_steps);
}
extern "C" __global__ void __launch_bounds__(64)
    strip_waits_at_step_3(const uint8_t* in, uint8_t* out, int k_steps) {
  strip_in_ring<1, 3, true>(in, out, k_steps);
}
extern "C" __global__ void __launch_bounds__(64) __cluster_dims__(2, 1, 1)
    strips_fixed(const uint8_t* in, uint8_t* out, int k_steps) {
  strip_in_ring<2, -1, true>(in, out, k_steps);
}
extern "C" __global__ void __launch_bounds__(64) __cluster_dims__(2, 1, 1)
    strips_of_peer_not_awaited(const uint8_t* in, uint8_t* out, int k_steps) {
  strip_in_ring<2, -1, false>(in, out, k_steps);
}
