// SPDX-License-Identifier: Apache-2.0
// What CTAs and launches tell each other through global memory.
#include "ptx.cuh"

__shared__ uint64_t a_full, sf_full;
__shared__ __align__(16) uint32_t a[32], sf[32];

/// Writes sizes, operands and scale factors, late, and lets its dependents start at once.
extern "C" __global__ void __launch_bounds__(32) produce(const uint32_t* in, uint32_t* made) {
  GRID_LAUNCH_DEPENDENTS();
  uint32_t sum = 0;
#pragma unroll 1
  for (int i = 0; i < 2000; ++i) sum += in[(i * 7 + LANE) % 128] & (i >> 31);
  for (int i = 0; i < 5; ++i) made[i * 32 + LANE] = in[i * 32 + LANE] + sum;
}

/// Roles of a dependent launch, each of which reads what the launch ahead writes.
/// kReadsFirst: epilogue and scheduler read before they wait.
template <bool kReadsFirst>
__device__ __forceinline__ void consume(const uint32_t* made, uint32_t* out) {
  if (threadIdx.x == 0) {
    MBARRIER_INIT(&a_full, 1);
    MBARRIER_INIT(&sf_full, 1);
    FENCE_MBARRIER_INIT();
  }
  __syncthreads();
  const uint32_t warp = WARP;
  if (warp == 0) {  // load
    GRID_WAIT();
    if (LANE == 0) {
      ARRIVE_EXPECT_TX(&a_full, 128);
      BULK_LOAD(a, made, 128, &a_full);
    }
  } else if (warp == 1) {  // load of scale factors
    GRID_WAIT();
    if (LANE == 0) {
      ARRIVE_EXPECT_TX(&sf_full, 128);
      BULK_LOAD(sf, made + 32, 128, &sf_full);
    }
  } else if (warp == 2) {  // mma: reads sizes
    GRID_WAIT();
    WAIT(&a_full, 0);
    WAIT(&sf_full, 0);
    out[LANE] = a[LANE];
    out[32 + LANE] = sf[LANE];
    out[64 + LANE] = made[64 + LANE];
  } else {  // epilogue and scheduler: read sizes
    uint32_t size = 0;
    const uint32_t* const from = made + warp * 32 + LANE;
    if constexpr (kReadsFirst) asm volatile("ld.global.u32 %0, [%1];" : "=r"(size) : "l"(from) : "memory");
    GRID_WAIT();
    if constexpr (!kReadsFirst) asm volatile("ld.global.u32 %0, [%1];" : "=r"(size) : "l"(from) : "memory");
    out[warp * 32 + LANE] = size;
  }
}
extern "C" __global__ void __launch_bounds__(160) consume_fixed(const uint32_t* made, uint32_t* out) {
  consume<false>(made, out);
}
extern "C" __global__ void __launch_bounds__(160) waits_behind_its_reads(const uint32_t* made, uint32_t* out) {
  consume<true>(made, out);
}

/// Every CTA of the grid waits for all.
/// kReset: the first CTA that has seen all resets the counter for the next launch.
template <bool kReset>
__device__ __forceinline__ void grid_barrier(const uint32_t* in, uint32_t* out, uint32_t* counter) {
  out[blockIdx.x * 32 + LANE] = in[blockIdx.x * 32 + LANE];
  if (LANE == 0) {
    uint32_t before, seen;
    if (blockIdx.x == 0) asm volatile("nanosleep.u32 1000;");  // comes last, and sees all at once
    asm volatile("atom.add.acq_rel.gpu.global.u32 %0, [%1], 1;" : "=r"(before) : "l"(counter) : "memory");
    do {
      asm volatile("ld.acquire.gpu.global.u32 %0, [%1];" : "=r"(seen) : "l"(counter) : "memory");
      if (blockIdx.x != 0 && seen < gridDim.x) asm volatile("nanosleep.u32 2000;");
    } while (seen < gridDim.x);
    if (kReset && blockIdx.x == 0) asm volatile("st.relaxed.gpu.global.u32 [%0], 0;" ::"l"(counter) : "memory");
  }
  __syncwarp();
}
extern "C" __global__ void __launch_bounds__(32)
    grid_barrier_fixed(const uint32_t* in, uint32_t* out, uint32_t* counter) {
  grid_barrier<false>(in, out, counter);
}
extern "C" __global__ void __launch_bounds__(32)
    counter_reset_at_once(const uint32_t* in, uint32_t* out, uint32_t* counter) {
  grid_barrier<true>(in, out, counter);
}
extern "C" __global__ void __launch_bounds__(32) __cluster_dims__(2, 1, 1)
    grid_barrier_of_clusters(const uint32_t* in, uint32_t* out, uint32_t* counter) {
  grid_barrier<false>(in, out, counter);
}

/// CTA 0 writes words and sets a flag; CTA 1 polls the flag and loads the words by a bulk copy.
/// kFenced: with a proxy fence between the flag and the copy.
template <bool kFenced>
__device__ __forceinline__ void flag_then_copy(const uint32_t* in, uint32_t* middle, uint32_t* out,
                                               uint32_t* flag) {
  if (threadIdx.x == 0) {
    MBARRIER_INIT(&a_full, 1);
    FENCE_MBARRIER_INIT();
  }
  __syncwarp();
  if (blockIdx.x == 0) {
    middle[LANE] = in[LANE];
    __syncwarp();
    if (LANE == 0) asm volatile("fence.acq_rel.gpu;\n\tst.release.gpu.global.u32 [%0], 1;" ::"l"(flag) : "memory");
  } else {
    uint32_t seen;
    if (LANE == 0) {
      do asm volatile("ld.acquire.gpu.global.u32 %0, [%1];" : "=r"(seen) : "l"(flag) : "memory");
      while (seen == 0);
      if constexpr (kFenced) asm volatile("fence.proxy.async;" ::: "memory");
      ARRIVE_EXPECT_TX(&a_full, 128);
      BULK_LOAD(a, middle, 128, &a_full);
    }
    __syncwarp();
    WAIT(&a_full, 0);
    out[LANE] = a[LANE];
  }
}
extern "C" __global__ void __launch_bounds__(32)
    flag_fixed(const uint32_t* in, uint32_t* middle, uint32_t* out, uint32_t* flag) {
  flag_then_copy<true>(in, middle, out, flag);
}
extern "C" __global__ void __launch_bounds__(32)
    flag_without_fence(const uint32_t* in, uint32_t* middle, uint32_t* out, uint32_t* flag) {
  flag_then_copy<false>(in, middle, out, flag);
}
