// SPDX-License-Identifier: Apache-2.0
// What warps' stores to global memory and an SM's copy engine take of each other, in SM cycles: a stream of boxes
// that are loaded out of L2 while four warps store, for the stores' patterns of store_costs.cu
// (docs/accuracy-h200.md, section 2).
//
//   port_costs [--json FILE]
#include "costs.cuh"

namespace {

constexpr int kDepth = 8, kBoxes = 256, kSlot = 16384, kRows = 128, kLineColumns = 64, kWarps = 4;
constexpr uint64_t kBytesOfWarp = 256 << 10;  // rewritten again and again: in L2

struct Pattern {
  const char* name;
  int bytes;
  uint32_t pitch, step;
};

__device__ void store(uint64_t address, int bytes, uint32_t value) {
  if (bytes == 4) asm volatile("st.global.b32 [%0], %1;" ::"l"(address), "r"(value) : "memory");
  if (bytes == 16) asm volatile("st.global.v4.b32 [%0], {%1, %1, %1, %1};" ::"l"(address), "r"(value) : "memory");
}

/// Warp 0 loads kBoxes boxes of 128 rows of 128 bytes; warps 1 to 4 store until it has.  With `turns` they store so
/// often instead, and nobody loads.  Reported: 0 cycles of a box, 1 cycles of the SM for each store of a warp.
__global__ void port_kernel(int64_t* out, const __grid_constant__ TensorMap map, uint8_t* data, Pattern p,
                            bool loads, bool stores, int reported) {
  __shared__ volatile int done;
  Device isa;
  const SmemAddr smem = isa.dynamic_smem(), bar = smem + kDepth * kSlot;
  if (threadIdx.x == 0) done = 0;
  init_barriers(isa, bar, kDepth);
  const uint64_t begin = clock_now();
  if (isa.warpid() == 0) {
    if (!loads) return;
    int x = 0, y = int(blockIdx.x % 32) * kRows;
    const auto next = [&] {
      const TensorCoords at{x, y};
      x += kLineColumns;
      if (x >= 15 * kLineColumns) x = 0, y = (y + kRows) % (32 * kRows);
      return at;
    };
    const BoxStream<kDepth> stream{&map, smem, kSlot, uint32_t(kRows * 128)};
    stream.load(isa, bar, kBoxes, next);
    if (reported == 0) report_boxes(isa, out, begin, kBoxes, 0);
    done = 1;
    return;
  }
  if (!stores) return;
  const uint32_t lane = threadIdx.x % 32;
  const uint64_t base = uint64_t(data) +
                        (uint64_t(blockIdx.x) * kWarps + uint32_t(isa.warpid() - 1)) * kBytesOfWarp +
                        uint64_t(lane) * p.pitch;
  int count = 0;
  uint32_t at = 0;
  while (loads ? done == 0 : count < 4096) {
#pragma unroll 8
    for (int i = 0; i < 8; ++i) {
      store(base + at, p.bytes, uint32_t(i));
      at = (at + p.step) & uint32_t(kBytesOfWarp - 1);
    }
    count += 8;
  }
  if (reported == 1) report_boxes(isa, out, begin, count * kWarps, 1);
}

}  // namespace

int main(int argc, char** argv) {
  const int sms = open_device();
  void* const matrix = allocate_matrix();
  uint8_t* data = nullptr;
  constexpr uint64_t kSpare = 8 << 20;
  CHECK_CUDA(cudaMalloc(&data, uint64_t(sms) * kWarps * kBytesOfWarp + kSpare));
  constexpr int kSmem = kDepth * kSlot + 1024;
  CHECK_CUDA(cudaFuncSetAttribute(port_kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, kSmem));
  const TensorMap map = encode(matrix, kLineColumns, kRows, CU_TENSOR_MAP_SWIZZLE_128B);
  std::printf("boxes of 128 rows of 128 bytes, %d in flight, and stores of %d warps (cycles per box, per store)\n",
              kDepth, kWarps);
  for (const Pattern& p :
       {Pattern{"32 x 4 B in 1 line", 4, 4, 128}, Pattern{"32 x 16 B in 4 lines", 16, 16, 512},
        Pattern{"32 x 4 B in 32 lines", 4, 512, 4}, Pattern{"32 x 16 B in 32 lines", 16, 512, 16},
        Pattern{"32 x 16 B in 32 lines, rows of 8 KiB", 16, 8192, 16}})
    for (const int ctas : {1, 8, 32, sms})
      for (const int what : {1, 2, 3})
        for (const int result : {0, 1})
          if (what >> result & 1)
            report(std::string(p.name) + ", " + std::to_string(ctas) + " CTAs, " +
                       (what == 3 ? "both: " : "alone: ") + (result == 0 ? "box" : "store"),
                   measure(ctas, [&](int) {
                     port_kernel<<<unsigned(ctas), 32 * (kWarps + 1), kSmem>>>(
                         results, map, data, p, (what & 1) != 0, (what & 2) != 0, result);
                   }));
  return write_json(argc, argv);
}
