// SPDX-License-Identifier: Apache-2.0
// The hand-overs of an attention kernel, with arithmetic that is easy to check: for each head O = c sum_j (Q K_j^T)
// V_j, where c makes ones of ones.  Warps: 0 load, 1 mma, 4-11 softmax (two groups, each half of the columns of S),
// 12-15 correction.
//
// Tensor memory: S in columns 0-63; P, in bf16, over S's columns 0-31; the statistics of a row over S's column 32;
// O in 64-127. A head without keys takes no part in any ring.  With kAliased the output of a head lies where its Q
// lay.
#include "ptx.cuh"

constexpr int kHeads = 4, kStages = 2;
constexpr uint32_t kIdesc = 0x08100490;  // 128 x 64, bf16 x bf16 to f32

struct Tiles {
  int of_head[kHeads];  // tiles of 64 keys
};

extern __shared__ __align__(1024) uint8_t memory[];  // Q; two stages: K and V^T of 8,192 bytes; O: 16,384 bytes
__shared__ uint64_t q_full, q_empty, kv_full[kStages], kv_empty[kStages], s_full, p_full, stats_full, stats_empty,
    o_full, o_empty;
__shared__ uint32_t tmem_address;

/// kEmptyHeadsArrive: heads without keys arrive at q_empty as well, for which nobody has waited.
template <bool kAliased, bool kEmptyHeadsArrive, bool kAddressAwaited>
__device__ __forceinline__ void attention(const TensorMap& q, const TensorMap& k, const TensorMap& v, uint16_t* out,
                                          Tiles tiles) {
  const uint32_t warp = WARP, lane = LANE;
  uint8_t* const q_tile = memory;
  uint8_t* const strip = kAliased ? q_tile : memory + 16384 * (1 + kStages);
  if (threadIdx.x == 0) {
    MBARRIER_INIT(&q_full, 1);
    MBARRIER_INIT(&q_empty, 1);
    for (int s = 0; s < kStages; ++s) {
      MBARRIER_INIT(&kv_full[s], 1);
      MBARRIER_INIT(&kv_empty[s], 1);
    }
    MBARRIER_INIT(&s_full, 1);
    MBARRIER_INIT(&p_full, 256);
    MBARRIER_INIT(&stats_full, 128);
    MBARRIER_INIT(&stats_empty, 128);
    MBARRIER_INIT(&o_full, 1);
    MBARRIER_INIT(&o_empty, 128);
    FENCE_MBARRIER_INIT();
  }
  __syncwarp();
  if constexpr (!kAddressAwaited) __syncthreads();
  if (warp == 1) {
    TMEM_ALLOC(&tmem_address, 128, 1);
    TMEM_RELINQUISH(1);
  }
  if constexpr (kAddressAwaited) {
    FENCE_BEFORE();
    __syncthreads();
    FENCE_AFTER();
  }
  const uint32_t tmem = *(volatile uint32_t*)&tmem_address;
  const uint32_t s = tmem, p = tmem, stats = tmem + 32, o = tmem + 64;

  if (warp == 0) {
    if (lane == 0) {
      int step = 0, loaded = 0, row = 0;
#pragma unroll 1
      for (int head = 0; head < kHeads; ++head) {
        if (tiles.of_head[head] == 0) continue;
        WAIT(&q_empty, (loaded & 1) ^ 1);
        ARRIVE_EXPECT_TX(&q_full, 16384);
        TMA_LOAD(q_tile, q, 0, head * 128, &q_full);
        ++loaded;
#pragma unroll 1
        for (int j = 0; j < tiles.of_head[head]; ++j, ++step, row += 64) {
          const int stage = step % kStages;
          uint8_t* const tile = memory + 16384 + stage * 16384;
          WAIT(&kv_empty[stage], (step / kStages & 1) ^ 1);
          ARRIVE_EXPECT_TX(&kv_full[stage], 16384);
          TMA_LOAD(tile, k, 0, row, &kv_full[stage]);
          TMA_LOAD(tile + 8192, v, row, 0, &kv_full[stage]);
        }
      }
    }
  } else if (warp == 1) {
    if (lane == 0) {
      int step = 0, done = 0;
#pragma unroll 1
      for (int head = 0; head < kHeads; ++head) {
        if (tiles.of_head[head] == 0) continue;
        WAIT(&q_full, done & 1);
#pragma unroll 1
        for (int j = 0; j < tiles.of_head[head]; ++j, ++step) {
          const int stage = step % kStages;
          const uint8_t* const tile = memory + 16384 + stage * 16384;
          WAIT(&kv_full[stage], step / kStages & 1);
          if (j == 0) WAIT(&stats_empty, (done & 1) ^ 1);  // S takes the column of the statistics
          FENCE_AFTER();
          for (int i = 0; i < 4; ++i) MMA(s, DESCRIPTOR(q_tile) + 2 * i, DESCRIPTOR(tile) + 2 * i, kIdesc, i > 0);
          COMMIT(&s_full);
          WAIT(&p_full, step & 1);
          if (j == 0) WAIT(&o_empty, (done & 1) ^ 1);
          FENCE_AFTER();
          for (int i = 0; i < 4; ++i) MMA_TMEM_A(o, p + 8 * i, DESCRIPTOR(tile + 8192) + 2 * i, kIdesc, j + i > 0);
          COMMIT(&kv_empty[stage]);
        }
        COMMIT(&o_full);
        if constexpr (!kAliased) COMMIT(&q_empty);
        ++done;
      }
    }
  } else if (warp >= 4 && warp < 12) {
    const uint32_t rows = (warp % 4) << 21, half = (warp - 4) / 4;
    int step = 0, done = 0;
#pragma unroll 1
    for (int head = 0; head < kHeads; ++head) {
      const int count = tiles.of_head[head];
      if (count == 0) continue;
#pragma unroll 1
      for (int j = 0; j < count; ++j, ++step) {
        uint32_t x[32], packed[16];
        WAIT(&s_full, step & 1);
        FENCE_AFTER();
        for (int i = 0; i < 4; ++i) TMEM_LD_X8(x + 8 * i, s + rows + 32 * half + 8 * i);
        WAIT_LD();
        for (int i = 0; i < 16; ++i)
          asm("cvt.rn.bf16x2.f32 %0, %1, %2;"
              : "=r"(packed[i])
              : "f"(__uint_as_float(x[2 * i + 1]) / 64), "f"(__uint_as_float(x[2 * i]) / 64));
        FENCE_BEFORE();
        BAR_SYNC(1, 256);  // P lies over what the other group reads of S
        FENCE_AFTER();
        for (int i = 0; i < 4; ++i) TMEM_ST_X4(p + rows + 16 * half + 4 * i, packed + 4 * i);
        WAIT_ST();
        FENCE_BEFORE();
        ARRIVE(&p_full);
        if (j == count - 1 && half == 0) {
          TMEM_ST_X1(stats + rows, __float_as_uint(1.0f / (64 * count)));
          WAIT_ST();
          FENCE_BEFORE();
          ARRIVE(&stats_full);
        }
      }
      ++done;
    }
  } else if (warp >= 12) {
    const uint32_t rows = (warp % 4) << 21, row = (warp - 12) * 32 + lane;
    int done = 0;
#pragma unroll 1
    for (int head = 0; head < kHeads; ++head) {
      uint16_t* const to = out + head * 128 * 64;
      if (tiles.of_head[head] == 0) {
        for (int i = 0; i < 8; ++i)
          *reinterpret_cast<uint4*>(to + row * 64 + 8 * i) =
              make_uint4(0x3f803f80, 0x3f803f80, 0x3f803f80, 0x3f803f80);
        if (kEmptyHeadsArrive && threadIdx.x == 12 * 32) ARRIVE(&q_empty);
        continue;
      }
      uint32_t factor, x[64];
      WAIT(&stats_full, done & 1);
      FENCE_AFTER();
      TMEM_LD_X1(factor, stats + rows);
      WAIT_LD();
      FENCE_BEFORE();
      ARRIVE(&stats_empty);
      WAIT(&o_full, done & 1);
      FENCE_AFTER();
      for (int i = 0; i < 8; ++i) TMEM_LD_X8(x + 8 * i, o + rows + 8 * i);
      WAIT_LD();
      FENCE_BEFORE();
      ARRIVE(&o_empty);
      for (int i = 0; i < 32; ++i) {
        uint32_t pair;
        const float f = __uint_as_float(factor);
        asm("cvt.rn.bf16x2.f32 %0, %1, %2;"
            : "=r"(pair)
            : "f"(__uint_as_float(x[2 * i + 1]) * f), "f"(__uint_as_float(x[2 * i]) * f));
        reinterpret_cast<uint32_t*>(strip)[row * 32 + i] = pair;
      }
      FENCE_PROXY_ASYNC();
      BAR_SYNC(2, 128);
      if (threadIdx.x == 12 * 32) {
        BULK_STORE(to, strip, 16384);
        BULK_COMMIT();
        BULK_WAIT_READ();
        if constexpr (kAliased) ARRIVE(&q_empty);
      }
      BAR_SYNC(2, 128);
      ++done;
    }
  }
  FENCE_BEFORE();
  __syncthreads();
  if (warp == 1) {
    FENCE_AFTER();
    TMEM_DEALLOC(tmem, 128, 1);
  }
}

#define ENTRY(name, ...)                                                                              \
  extern "C" __global__ void __launch_bounds__(512, 1)                                                \
      name(const __grid_constant__ TensorMap q, const __grid_constant__ TensorMap k,                  \
           const __grid_constant__ TensorMap v, uint16_t* out, const __grid_constant__ Tiles tiles) { \
    attention<__VA_ARGS__>(q, k, v, out, tiles);                                                      \
  }
ENTRY(fixed, false, false, true)
ENTRY(address_not_awaited, false, false, false)
ENTRY(fixed_aliased, true, false, true)
ENTRY(empty_heads_arrive, true, true, true)
