// SPDX-License-Identifier: Apache-2.0
// The kernel of driver_api.cpp: a tile comes by tensor map, and is written transposed.
#include <cstdint>

constexpr int kTile = 32;

struct alignas(64) TensorMap {
  uint64_t words[16];
};

__device__ uint32_t shared_address(const void* pointer) { return uint32_t(__cvta_generic_to_shared(pointer)); }

extern "C" __global__ void transpose_tiles(const __grid_constant__ TensorMap map, float* to, uint32_t height) {
  __shared__ alignas(128) float tile[kTile][kTile];
  __shared__ uint64_t arrived;
  const uint32_t barrier = shared_address(&arrived), column = blockIdx.x * kTile, row = blockIdx.y * kTile;
  if (threadIdx.x == 0) {
    asm volatile("mbarrier.init.shared::cta.b64 [%0], 1;" ::"r"(barrier));
    asm volatile("fence.mbarrier_init.release.cluster;");
  }
  __syncthreads();
  if (threadIdx.x == 0) {
    asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(barrier),
                 "r"(uint32_t(sizeof tile)));
    asm volatile(
        "cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes [%0], [%1, {%2, %3}], "
        "[%4];" ::"r"(shared_address(tile)),
        "l"(&map), "r"(column), "r"(row), "r"(barrier)
        : "memory");
  }
  asm volatile(
      "{\n.reg .pred done;\nWAIT:\nmbarrier.try_wait.parity.shared::cta.b64 done, [%0], 0;\n@!done bra WAIT;\n}" ::
          "r"(barrier)
      : "memory");
  for (int i = int(threadIdx.x); i < kTile * kTile; i += int(blockDim.x))
    to[(column + i / kTile) * height + row + i % kTile] = tile[i % kTile][i / kTile];
}
