// SPDX-License-Identifier: Apache-2.0
// What an SM's copy engine takes for the rows of a box, in SM cycles: rows of 32, 64 and 128 bytes that begin on a
// line of 128 bytes or at some distance from one, loads alone, stores alone, and both side by side
// (docs/accuracy-h200.md, section 2).
//
//   tma_costs [--json FILE]
#include "costs.cuh"

namespace {

struct Shape {
  int row_bytes, rows;
};

constexpr int kDepth = 4, kBoxes = 256, kSlot = 16384;

/// Boxes one after the other across 15 of a tensor's columns of boxes and down its rows, four loads and four stores
/// in flight; each begins `apart` bytes behind a line.  Warp 0 loads, warp 1 stores, far from what is loaded.
__global__ void boxes_kernel(int64_t* out, const __grid_constant__ TensorMap map, Shape shape, int apart,
                             bool loads, bool stores, int reported_warp) {
  Device isa;
  const SmemAddr smem = isa.dynamic_smem(), bar = smem + 2 * kDepth * kSlot;
  if (isa.warpid() == 0)
    isa.elected([&] {
      for (int i = 0; i < kDepth; ++i) isa.mbarrier_init(bar + 8 * i, 1);
    });
  isa.fence_mbarrier_init();
  __syncthreads();
  if (isa.warpid() == 0 ? !loads : !stores) return;
  const int step = shape.row_bytes / 2, first_row = int(isa.ctaid().x) * 4 * shape.rows;
  int x = apart / 2, y = first_row;
  const auto advance = [&] {
    x += step;
    if (x < 15 * 64) return;
    x = apart / 2, y += shape.rows;
    if (y == first_row + 4 * shape.rows) y = first_row;
  };
  const uint64_t begin = clock_now();
  if (isa.warpid() == 0) {
    const auto issue = [&](int box) {
      isa.elected([&] {
        const SmemAddr full = bar + 8 * uint32_t(box % kDepth);
        isa.mbarrier_arrive_expect_tx(full, uint32_t(shape.rows * shape.row_bytes), Scope::cta);
        isa.cp_async_bulk_tensor_shared_global(smem + uint32_t(box % kDepth) * kSlot, &map, TensorCoords{x, y},
                                               full);
      });
      advance();
    };
    for (int box = 0; box < kDepth; ++box) issue(box);
    for (int box = 0; box < kBoxes; ++box) {
      while (!isa.mbarrier_try_wait_parity(bar + 8 * uint32_t(box % kDepth), uint32_t(box / kDepth) & 1,
                                           Scope::cta)) {}
      if (box + kDepth < kBoxes) issue(box + kDepth);
    }
  } else {
    for (int box = 0; box < kBoxes; ++box) {
      const TensorCoords to{x, y + (1 << 17)};
      advance();
      isa.elected([&] {
        isa.cp_async_bulk_tensor_global_shared(&map, to, smem + uint32_t(kDepth + box % kDepth) * kSlot);
        isa.cp_async_bulk_commit_group();
      });
      isa.cp_async_bulk_wait_group_read<kDepth - 1>();
    }
    isa.cp_async_bulk_wait_group<0>();
  }
  int64_t each = int64_t(clock_now() - begin) * 16 / kBoxes;
  for (int lane = 0; lane < 32; ++lane) each = max(each, __shfl_sync(~0u, each, lane));
  if (threadIdx.x % 32 == 0 && isa.warpid() == reported_warp) out[size_t{8} * blockIdx.x] = each;
}

}  // namespace

int main(int argc, char** argv) {
  const int sms = open_device();
  const Maps maps = encode_maps();
  constexpr int kSmem = 2 * kDepth * kSlot + 1024;
  CHECK_CUDA(cudaFuncSetAttribute(boxes_kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, kSmem));
  std::printf("boxes, four loads and four stores in flight, input and output in L2 (cycles per row)\n");
  for (const Shape shape : {Shape{128, 128}, Shape{64, 64}, Shape{32, 64}})
    for (const int ctas : {1, 4, sms})
      for (const int apart : {0, 16, 32, 48, 64, 80, 96, 112})
        for (const int what : {1, 2, 3}) {
          if (shape.row_bytes < 128 && apart > 32) continue;
          const TensorMap& map = shape.row_bytes == 128  ? maps.wide
                                 : shape.row_bytes == 64 ? maps.narrow
                                                         : maps.narrowest;
          for (const int result : {0, 1})
            if (what >> result & 1)
              report(std::to_string(shape.row_bytes) + " B, " + std::to_string(apart) + " B behind a line, " +
                         std::to_string(ctas) + " CTAs, " + (what == 3 ? "both: " : "") +
                         (result == 0 ? "loads" : "stores"),
                     measure(ctas, [&](int) {
                       boxes_kernel<<<unsigned(ctas), 64, kSmem>>>(results, map, shape, apart, (what & 1) != 0,
                                                                   (what & 2) != 0, result);
                     }) / shape.rows);
        }
  return write_json(argc, argv);
}
