// SPDX-License-Identifier: Apache-2.0
// What an SM's copy engine takes for the rows of a box, in SM cycles: rows of 16 to 128 bytes that begin on a line
// of 128 bytes or at some distance from one, loads alone, stores alone, and both side by side
// (docs/accuracy-h200.md, section 2).
//
//   tma_costs [--json FILE]
#include "costs.cuh"

namespace {

constexpr int kDepth = 4, kBoxes = 256, kSlot = 16384, kRows = 128, kLineColumns = 64;

/// Boxes of one CTA, one after the other across 15 lines of a row and down its rows, four loads and four stores in
/// flight; each begins `apart` bytes behind a line.  Warp 0 loads, warp 1 stores, far from what is loaded.
__global__ void boxes_kernel(int64_t* out, const __grid_constant__ TensorMap map, int row_bytes, int apart,
                             bool loads, bool stores, int reported_warp) {
  Device isa;
  const SmemAddr smem = isa.dynamic_smem(), bar = smem + 2 * kDepth * kSlot;
  init_barriers(isa, bar, kDepth);
  if (isa.warpid() == 0 ? !loads : !stores) return;
  int x = apart / 2, y = 0;
  const auto next = [&](int rows_behind) {
    const TensorCoords at{x, y + rows_behind};
    x += kLineColumns;
    if (x >= 15 * kLineColumns) x = apart / 2, y = (y + kRows) % (4 * kRows);
    return at;
  };
  const uint64_t begin = clock_now();
  const BoxStream<kDepth> stream{&map, smem + uint32_t(isa.warpid()) * kDepth * kSlot, kSlot,
                                 uint32_t(kRows * row_bytes)};
  if (isa.warpid() == 0)
    stream.load(isa, bar, kBoxes, [&] { return next(0); });
  else
    stream.store(isa, kBoxes, [&] { return next(1 << 17); });
  report_boxes(isa, out, begin, kBoxes, reported_warp);
}

}  // namespace

int main(int argc, char** argv) {
  open_device();
  void* const data = allocate_matrix();
  constexpr int kSmem = 2 * kDepth * kSlot + 1024;
  CHECK_CUDA(cudaFuncSetAttribute(boxes_kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, kSmem));
  std::printf("boxes of %d rows, four loads and four stores in flight, input and output in L2 (cycles per row)\n",
              kRows);
  for (const int row_bytes : {128, 96, 80, 64, 48, 32, 16}) {
    const CUtensorMapSwizzle swizzle = row_bytes == 128  ? CU_TENSOR_MAP_SWIZZLE_128B
                                       : row_bytes == 64 ? CU_TENSOR_MAP_SWIZZLE_64B
                                       : row_bytes == 32 ? CU_TENSOR_MAP_SWIZZLE_32B
                                                         : CU_TENSOR_MAP_SWIZZLE_NONE;
    const TensorMap map = encode(data, row_bytes / 2, kRows, swizzle);
    for (const int apart : {0, 16, 32, 48, 64, 80, 96, 112})
      for (const int what : {1, 2, 3})
        for (const int result : {0, 1})
          if (what >> result & 1)
            report(std::to_string(row_bytes) + " B, " + std::to_string(apart) + " B behind a line, " +
                       (what == 3 ? "both: " : "") + (result == 0 ? "loads" : "stores"),
                   measure(1, [&](int) {
                     boxes_kernel<<<1, 64, kSmem>>>(results, map, row_bytes, apart, (what & 1) != 0,
                                                    (what & 2) != 0, result);
                   }) / kRows);
  }
  return write_json(argc, argv);
}
