// SPDX-License-Identifier: Apache-2.0
// Named barriers between warps with roles.  Each kernel copies words through shared memory.
#include "ptx.cuh"

__shared__ uint32_t words[128];

/// Four load warps tell the epilogue's load warp that their words are there.
/// kThreads: that the barrier counts; five warps come.
template <int kThreads>
__device__ __forceinline__ void gather(const uint32_t* in, uint32_t* out) {
  if (WARP < 4) {
    words[threadIdx.x] = in[threadIdx.x];
    BAR_ARRIVE(1, kThreads);
  } else {
    BAR_SYNC(1, kThreads);
    for (int i = 0; i < 4; ++i) out[i * 32 + LANE] = words[i * 32 + LANE];
  }
}
extern "C" __global__ void __launch_bounds__(160) gather_fixed(const uint32_t* in, uint32_t* out) {
  gather<160>(in, out);
}
extern "C" __global__ void __launch_bounds__(160) two_warps_counted(const uint32_t* in, uint32_t* out) {
  gather<64>(in, out);
}

/// For each item a load warp brings words, and a compute warp takes them; an item may be empty.
/// kEmptyWaits: the compute warp waits for the words of an empty item, too, before it hands the buffer back.
template <bool kEmptyWaits>
__device__ __forceinline__ void items(const uint32_t* in, uint32_t* out, uint32_t empty) {
  if (WARP == 0) {
#pragma unroll 1
    for (int item = 0; item < 4; ++item) {
      words[LANE] = in[item * 32 + LANE];
      BAR_ARRIVE(1, 64);  // filled
      BAR_SYNC(2, 64);    // taken
    }
  } else {
#pragma unroll 1
    for (int item = 0; item < 4; ++item) {
      if (item == empty) {
        if constexpr (kEmptyWaits) BAR_SYNC(1, 64);
        BAR_ARRIVE(2, 64);
        out[item * 32 + LANE] = in[item * 32 + LANE];
        continue;
      }
      BAR_SYNC(1, 64);
      out[item * 32 + LANE] = words[LANE];
      BAR_ARRIVE(2, 64);
    }
  }
}
extern "C" __global__ void __launch_bounds__(64) items_fixed(const uint32_t* in, uint32_t* out, uint32_t empty) {
  items<true>(in, out, empty);
}
extern "C" __global__ void __launch_bounds__(64)
    empty_item_does_not_wait(const uint32_t* in, uint32_t* out, uint32_t empty) {
  items<false>(in, out, empty);
}

/// Two load warps fill, a third warp takes.
/// kTwice: the first load warp arrives twice for what it has filled.
template <bool kTwice>
__device__ __forceinline__ void two_fill(const uint32_t* in, uint32_t* out) {
  if (WARP < 2) {
    words[threadIdx.x] = in[threadIdx.x];
    BAR_ARRIVE(1, 96);
    if (kTwice && WARP == 0) BAR_ARRIVE(1, 96);
  } else {
    BAR_SYNC(1, 96);
    for (int i = 0; i < 2; ++i) out[i * 32 + LANE] = words[i * 32 + LANE];
  }
}
extern "C" __global__ void __launch_bounds__(96) two_fill_fixed(const uint32_t* in, uint32_t* out) {
  two_fill<false>(in, out);
}
extern "C" __global__ void __launch_bounds__(96) one_arrives_twice(const uint32_t* in, uint32_t* out) {
  two_fill<true>(in, out);
}

/// The lanes of a warp go two ways, and all warps meet.
/// kInBranches: at a bar.sync, which wants all lanes at one instruction, in each branch.
template <bool kInBranches>
__device__ __forceinline__ void two_branches(const uint32_t* in, uint32_t* out) {
  if (LANE < 16) {
    words[threadIdx.x] = in[threadIdx.x];
    if constexpr (kInBranches) asm volatile("bar.sync 1, 128;  // lanes 0-15" ::: "memory");
  } else {
    words[threadIdx.x] = in[threadIdx.x] + 0;
    if constexpr (kInBranches) asm volatile("bar.sync 1, 128;  // lanes 16-31" ::: "memory");
  }
  if constexpr (!kInBranches) {
    __syncwarp();
    asm volatile("bar.sync 1, 128;" ::: "memory");
  }
  out[threadIdx.x ^ 32] = words[threadIdx.x ^ 32];
}
extern "C" __global__ void __launch_bounds__(128) two_branches_fixed(const uint32_t* in, uint32_t* out) {
  two_branches<false>(in, out);
}
extern "C" __global__ void __launch_bounds__(128) aligned_in_two_branches(const uint32_t* in, uint32_t* out) {
  two_branches<true>(in, out);
}
