// SPDX-License-Identifier: Apache-2.0
// C = A B^T in bf16 on sm_90a: a producer warpgroup whose first thread loads, two consumer warpgroups with 64 rows
// of a 128 x 128 tile each, a ring of four stages, persistent CTAs.  gemm.ptx is what nvcc makes of it:
//
//   nvcc -std=c++17 -O3 -arch=compute_90a -lineinfo -ptx gemm.cu
#include <cuda.h>
#include <cuda_bf16.h>

#include <cstdint>

namespace {

constexpr int kTile = 128, kTileK = 64, kStages = 4, kSteps = kTileK / 16;
constexpr uint32_t kOperandBytes = kTile * kTileK * 2, kStageBytes = 2 * kOperandBytes;
constexpr int kConsumers = 2, kWarpgroup = 128;

__device__ uint32_t shared_address(const void* p) { return static_cast<uint32_t>(__cvta_generic_to_shared(p)); }

__device__ void mbarrier_init(uint32_t barrier, uint32_t count) {
  asm volatile("mbarrier.init.shared::cta.b64 [%0], %1;" ::"r"(barrier), "r"(count) : "memory");
}
__device__ void arrive(uint32_t barrier) {
  asm volatile("mbarrier.arrive.shared::cta.b64 _, [%0];" ::"r"(barrier) : "memory");
}
__device__ void arrive_expect_tx(uint32_t barrier, uint32_t bytes) {
  asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(barrier), "r"(bytes) : "memory");
}
__device__ void wait(uint32_t barrier, uint32_t parity) {
  asm volatile(
      "{\n.reg .pred done;\nWAIT:\n"
      "mbarrier.try_wait.parity.shared::cta.b64 done, [%0], %1;\n"
      "@!done bra WAIT;\n}" ::"r"(barrier),
      "r"(parity)
      : "memory");
}
__device__ void load(uint32_t to, const CUtensorMap& map, int k, int row, uint32_t barrier) {
  asm volatile(
      "cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes [%0], [%1, {%2, %3}], "
      "[%4];" ::"r"(to),
      "l"(&map), "r"(k), "r"(row), "r"(barrier)
      : "memory");
}

// K-major, 128-byte swizzle: rows of 128 bytes, eight of them in 1,024.
__device__ uint64_t descriptor(uint32_t address) {
  return (uint64_t{address} & 0x3ffff) >> 4 | uint64_t{1} << 16 | uint64_t{1024 >> 4} << 32 | uint64_t{1} << 62;
}

__device__ void wgmma(float (&d)[64], uint64_t a, uint64_t b, bool accumulate) {
  asm volatile(
      "{\n.reg .pred p;\nsetp.ne.b32 p, %66, 0;\n"
      "wgmma.mma_async.sync.aligned.m64n128k16.f32.bf16.bf16 {"
      "%0, %1, %2, %3, %4, %5, %6, %7, "
      "%8, %9, %10, %11, %12, %13, %14, %15, "
      "%16, %17, %18, %19, %20, %21, %22, %23, "
      "%24, %25, %26, %27, %28, %29, %30, %31, "
      "%32, %33, %34, %35, %36, %37, %38, %39, "
      "%40, %41, %42, %43, %44, %45, %46, %47, "
      "%48, %49, %50, %51, %52, %53, %54, %55, "
      "%56, %57, %58, %59, %60, %61, %62, %63}, "
      "%64, %65, p, 1, 1, 0, 0;\n}"
      : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3]), "+f"(d[4]), "+f"(d[5]), "+f"(d[6]), "+f"(d[7]), "+f"(d[8]),
        "+f"(d[9]), "+f"(d[10]), "+f"(d[11]), "+f"(d[12]), "+f"(d[13]), "+f"(d[14]), "+f"(d[15]), "+f"(d[16]),
        "+f"(d[17]), "+f"(d[18]), "+f"(d[19]), "+f"(d[20]), "+f"(d[21]), "+f"(d[22]), "+f"(d[23]), "+f"(d[24]),
        "+f"(d[25]), "+f"(d[26]), "+f"(d[27]), "+f"(d[28]), "+f"(d[29]), "+f"(d[30]), "+f"(d[31]), "+f"(d[32]),
        "+f"(d[33]), "+f"(d[34]), "+f"(d[35]), "+f"(d[36]), "+f"(d[37]), "+f"(d[38]), "+f"(d[39]), "+f"(d[40]),
        "+f"(d[41]), "+f"(d[42]), "+f"(d[43]), "+f"(d[44]), "+f"(d[45]), "+f"(d[46]), "+f"(d[47]), "+f"(d[48]),
        "+f"(d[49]), "+f"(d[50]), "+f"(d[51]), "+f"(d[52]), "+f"(d[53]), "+f"(d[54]), "+f"(d[55]), "+f"(d[56]),
        "+f"(d[57]), "+f"(d[58]), "+f"(d[59]), "+f"(d[60]), "+f"(d[61]), "+f"(d[62]), "+f"(d[63])
      : "l"(a), "l"(b), "r"(int(accumulate)));
}

}  // namespace

extern "C" __global__ void __launch_bounds__(384, 1)
    gemm(const __grid_constant__ CUtensorMap map_a, const __grid_constant__ CUtensorMap map_b, __nv_bfloat16* c,
         int m, int n, int k) {
  extern __shared__ __align__(1024) uint8_t stages[];
  __shared__ __align__(8) uint64_t full[kStages], empty[kStages];
  const int group = threadIdx.x / kWarpgroup, thread = threadIdx.x % kWarpgroup;
  if (threadIdx.x == 0) {
    for (int s = 0; s < kStages; ++s) {
      mbarrier_init(shared_address(&full[s]), 1);
      mbarrier_init(shared_address(&empty[s]), kConsumers);
    }
    asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
  }
  __syncthreads();

  const int tiles_n = n / kTile, tiles = m / kTile * tiles_n, k_tiles = k / kTileK;
  if (group == 0) {
    asm volatile("setmaxnreg.dec.sync.aligned.u32 40;");
    if (thread != 0) return;
    int stage = 0;
    uint32_t parity = 1;  // the first round finds every stage empty
    for (int tile = blockIdx.x; tile < tiles; tile += gridDim.x)
      for (int kt = 0; kt < k_tiles; ++kt) {
        const uint32_t barrier = shared_address(&full[stage]), to = shared_address(stages) + stage * kStageBytes;
        wait(shared_address(&empty[stage]), parity);
        arrive_expect_tx(barrier, kStageBytes);
        load(to, map_a, kt * kTileK, tile / tiles_n * kTile, barrier);
        load(to + kOperandBytes, map_b, kt * kTileK, tile % tiles_n * kTile, barrier);
        if (++stage == kStages) stage = 0, parity ^= 1;
      }
    return;
  }

  asm volatile("setmaxnreg.inc.sync.aligned.u32 232;");
  int stage = 0;
  uint32_t parity = 0;
  for (int tile = blockIdx.x; tile < tiles; tile += gridDim.x) {
    float d[64];
    int before = -1;  // the stage whose wgmmas may still run
    for (int kt = 0; kt < k_tiles; ++kt) {
      const uint32_t a = shared_address(stages) + stage * kStageBytes + (group - 1) * (kOperandBytes / 2),
                     b = shared_address(stages) + stage * kStageBytes + kOperandBytes;
      wait(shared_address(&full[stage]), parity);
      asm volatile("wgmma.fence.sync.aligned;" ::: "memory");
#pragma unroll
      for (int step = 0; step < kSteps; ++step)
        wgmma(d, descriptor(a + step * 32), descriptor(b + step * 32), kt > 0 || step > 0);
      asm volatile("wgmma.commit_group.sync.aligned;" ::: "memory");
      asm volatile("wgmma.wait_group.sync.aligned 1;" ::: "memory");
      if (before >= 0 && thread == 0) arrive(shared_address(&empty[before]));
      before = stage;
      if (++stage == kStages) stage = 0, parity ^= 1;
    }
    asm volatile("wgmma.wait_group.sync.aligned 0;" ::: "memory");
#pragma unroll
    for (float& x : d) asm volatile("" : "+f"(x)::"memory");
    if (thread == 0) arrive(shared_address(&empty[before]));

    const int row = tile / tiles_n * kTile + (group - 1) * 64 + thread / 32 * 16 + thread % 32 / 4;
    const int column = tile % tiles_n * kTile + thread % 4 * 2;
#pragma unroll
    for (int r = 0; r < 64; r += 2)
      *reinterpret_cast<__nv_bfloat162*>(&c[size_t(row + 8 * (r >> 1 & 1)) * n + column + 8 * (r >> 2)]) =
          __floats2bfloat162_rn(d[r], d[r + 1]);
  }
}
