// SPDX-License-Identifier: Apache-2.0
// Hand-overs of shared memory between warps, and to asynchronous units.
#include "ptx.cuh"

extern __shared__ __align__(1024) uint8_t memory[];
__shared__ uint64_t full[2], empty[2], multiplied;
__shared__ uint32_t tmem_address;
__shared__ uint32_t words[2][32];

/// A load warp brings words for a compute warp, tile by tile.
extern "C" __global__ void __launch_bounds__(64) words_by_warp(const uint32_t* in, uint32_t* out) {
#pragma unroll 1
  for (int tile = 0; tile < 8; ++tile) {
    if (WARP == 0) {
      words[0][LANE] = in[tile * 32 + LANE];
      BAR_SYNC(1, 64);  // filled
      BAR_SYNC(2, 64);  // taken
    } else {
      BAR_SYNC(1, 64);
      out[tile * 32 + LANE] = words[0][LANE];
      BAR_SYNC(2, 64);
    }
  }
}

/// Rows of 32 words, to each of which every warp writes a part, are added to global memory: a reduction for each
/// row.
extern "C" __global__ void __launch_bounds__(128) add_rows(const uint32_t* in, uint32_t* out) {
  uint32_t* const staging = reinterpret_cast<uint32_t*>(memory);
  const uint32_t warp = WARP;
  for (int row = 0; row < 32; ++row)
    if (LANE < 8) staging[row * 32 + warp * 8 + LANE] = in[row * 32 + warp * 8 + LANE];
  FENCE_PROXY_ASYNC();
  __syncthreads();
  if (threadIdx.x < 32) {
    BULK_ADD_U32(out + threadIdx.x * 32, staging + threadIdx.x * 32, 128);
    BULK_COMMIT();
    BULK_WAIT();
  }
}

/// A warp multiplies what all warps have written into shared memory: 128 x 64 ones by 64 x 64 ones, each sum
/// over 64.
extern "C" __global__ void __launch_bounds__(128) written_operands(uint16_t* out) {
  const uint32_t warp = WARP;
  if (threadIdx.x == 0) {
    MBARRIER_INIT(&multiplied, 1);
    FENCE_MBARRIER_INIT();
  }
  if (warp == 0) {
    TMEM_ALLOC(&tmem_address, 64, 1);
    TMEM_RELINQUISH(1);
  }
  for (int i = 0; i < 12; ++i)
    reinterpret_cast<uint4*>(memory)[i * 128 + threadIdx.x] =
        make_uint4(0x3f803f80, 0x3f803f80, 0x3f803f80, 0x3f803f80);
  FENCE_PROXY_ASYNC();
  FENCE_BEFORE();
  __syncthreads();
  FENCE_AFTER();
  const uint32_t tmem = *(volatile uint32_t*)&tmem_address;
  if (threadIdx.x == 0) {
    for (int i = 0; i < 4; ++i)
      MMA(tmem, DESCRIPTOR(memory) + 2 * i, DESCRIPTOR(memory + 16384) + 2 * i, 0x08100490, i > 0);
    COMMIT(&multiplied);
  }
  __syncwarp();
  WAIT(&multiplied, 0);
  FENCE_AFTER();
#pragma unroll 1
  for (int column = 0; column < 64; column += 8) {
    uint32_t x[8], pair[4];
    TMEM_LD_X8(x, tmem + (warp << 21) + column);
    WAIT_LD();
    for (int i = 0; i < 4; ++i)
      asm("cvt.rn.bf16x2.f32 %0, %1, %2;"
          : "=r"(pair[i])
          : "f"(__uint_as_float(x[2 * i + 1]) / 64), "f"(__uint_as_float(x[2 * i]) / 64));
    *reinterpret_cast<uint4*>(out + threadIdx.x * 64 + column) = make_uint4(pair[0], pair[1], pair[2], pair[3]);
  }
  FENCE_BEFORE();
  __syncthreads();
  if (warp == 0) {
    FENCE_AFTER();
    TMEM_DEALLOC(tmem, 64, 1);
  }
}

/// Blocks of 32 words come through a ring of two; blocks whose bit is not in `present` are zeros and are not
/// loaded. kStepsTogether: the consumer, too, steps its ring only where a block was loaded.
template <bool kStepsTogether>
__device__ __forceinline__ void sparse(const uint32_t* in, uint32_t* out, uint32_t present) {
  if (threadIdx.x == 0) {
    for (int s = 0; s < 2; ++s) {
      MBARRIER_INIT(&full[s], 1);
      MBARRIER_INIT(&empty[s], 1);
    }
    FENCE_MBARRIER_INIT();
  }
  __syncthreads();
  int step = 0;
  if (WARP == 0) {
    if (LANE == 0) {
#pragma unroll 1
      for (int block = 0; block < 8; ++block) {
        if (!(present >> block & 1)) continue;
        const int s = step % 2;
        WAIT(&empty[s], (step / 2 & 1) ^ 1);
        ARRIVE_EXPECT_TX(&full[s], 128);
        BULK_LOAD(&words[s][0], in + block * 32, 128, &full[s]);
        ++step;
      }
    }
  } else {
#pragma unroll 1
    for (int block = 0; block < 8; ++block) {
      if (!(present >> block & 1)) {
        out[block * 32 + LANE] = 0;
        if constexpr (!kStepsTogether) ++step;
        continue;
      }
      const int s = step % 2;
      WAIT(&full[s], step / 2 & 1);
      out[block * 32 + LANE] = words[s][LANE];
      FENCE_PROXY_ASYNC();
      __syncwarp();
      if (LANE == 0) ARRIVE(&empty[s]);
      ++step;
    }
  }
}
extern "C" __global__ void __launch_bounds__(64) sparse_fixed(const uint32_t* in, uint32_t* out, uint32_t present) {
  sparse<true>(in, out, present);
}
extern "C" __global__ void __launch_bounds__(64)
    sparse_steps_apart(const uint32_t* in, uint32_t* out, uint32_t present) {
  sparse<false>(in, out, present);
}

/// A ring whose load warp waits with all lanes, and one lane loads.
/// kMeets: the warp's lanes meet after each load.
template <bool kMeets>
__device__ __forceinline__ void all_lanes_wait(const uint32_t* in, uint32_t* out) {
  if (threadIdx.x == 0) {
    MBARRIER_INIT(&full[0], 1);
    MBARRIER_INIT(&empty[0], 1);
    FENCE_MBARRIER_INIT();
  }
  __syncthreads();
  if (WARP == 0) {
#pragma unroll 1
    for (int block = 0; block < 8; ++block) {
      WAIT(&empty[0], (block & 1) ^ 1);
      if constexpr (kMeets) __syncwarp();
      if (LANE == 0) {
        ARRIVE_EXPECT_TX(&full[0], 128);
        BULK_LOAD(&words[0][0], in + block * 32, 128, &full[0]);
      }
    }
  } else {
#pragma unroll 1
    for (int block = 0; block < 8; ++block) {
      WAIT(&full[0], block & 1);
      out[block * 32 + LANE] = words[0][LANE];
      FENCE_PROXY_ASYNC();
      __syncwarp();
      if (LANE == 0) ARRIVE(&empty[0]);
    }
  }
}
extern "C" __global__ void __launch_bounds__(64) all_lanes_wait_fixed(const uint32_t* in, uint32_t* out) {
  all_lanes_wait<true>(in, out);
}
extern "C" __global__ void __launch_bounds__(64) lanes_do_not_meet(const uint32_t* in, uint32_t* out) {
  all_lanes_wait<false>(in, out);
}
