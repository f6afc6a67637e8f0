// SPDX-License-Identifier: Apache-2.0
// What warps of an SM and CTAs of the chip take from one another on this GPU, in SM cycles: boxes of short rows
// that all SMs load and store, and trace points of many warps (models/profiles/h200.toml, trace.store_cycles).
//
//   sharing_costs [--json FILE]
#include "costs.cuh"

namespace {

/// Boxes of 64 short rows, `row_bytes` wide, as pipeline_copy walks over tiles of 64 rows and 128 columns: warp 0
/// loads and warp 1 stores, four boxes in flight each, side by side; `turns` tiles of each CTA, again and again.
__global__ void short_rows_kernel(int64_t* out, const __grid_constant__ Maps maps, int row_bytes, bool loads,
                                  bool stores, int turns, int reported_warp) {
  Device isa;
  constexpr int kDepth = 4, kBoxes = 512, kRows = 64, kColumns = 128;
  const SmemAddr smem = isa.dynamic_smem(), bar = smem + 2 * kDepth * 4096;
  init_barriers(isa, bar, kDepth);
  if (isa.warpid() == 0 ? !loads : !stores) return;
  const TensorMap* map = row_bytes == 64 ? &maps.narrow : &maps.narrowest;
  const int step = row_bytes / 2;
  // Where a box lies; the next one by additions alone: a division costs as much as a box.
  struct Place {
    int x, y, tile;
  };
  Place place{int(isa.ctaid().x) % 16 * kColumns, int(isa.ctaid().x) / 16 * kRows, int(isa.ctaid().x)};
  const auto advance = [&](Place& place) {
    place.x += step;
    if (place.x % kColumns != 0) return;
    place.tile += int(gridDim.x);
    if (place.tile >= turns * int(gridDim.x)) place.tile = int(isa.ctaid().x);
    place.x = place.tile % 16 * kColumns;
    place.y = place.tile / 16 * kRows;
  };
  const auto next = [&](int rows_behind) {
    const TensorCoords at{place.x, place.y + rows_behind};
    advance(place);
    return at;
  };
  const uint64_t begin = clock_now();
  const BoxStream<kDepth> stream{map, smem + uint32_t(isa.warpid()) * kDepth * 4096, 4096,
                                 uint32_t(kRows * row_bytes)};
  if (isa.warpid() == 0)
    stream.load(isa, bar, kBoxes, [&] { return next(0); });
  else
    stream.store(isa, kBoxes, [&] { return next(1 << 17); });  // far from what is loaded
  report_boxes(isa, out, begin, kBoxes, reported_warp);
}

/// Trace points of every warp at once, `pause` cycles of dependent work behind each pair: what warps of an SM, and
/// CTAs of the chip, take from one another.
__global__ void recording_kernel(int64_t* out, int pause, DeviceTrace trace) {
  DeviceRecorder recorder{trace};
  __syncthreads();
  uint32_t chain = uint32_t(pause);
  const int64_t each = cost(kTimes, [&] {
    recorder.begin(TraceEvent::wait, {.barrier = 64, .stage = 1, .phase = int(chain)});
    for (int i = 0; i < pause / 4; ++i) asm volatile("mad.lo.u32 %0, %0, 3, 1;" : "+r"(chain));
    recorder.end();
  });
  if (threadIdx.x == 0) out[size_t{8} * blockIdx.x] = each;
}

}  // namespace

int main(int argc, char** argv) {
  const int sms = open_device();
  const Maps maps = encode_maps();
  std::printf("streams of boxes of 64 short rows, four in flight, input and output in L2 (cycles per box)\n");
  for (const int row_bytes : {32, 64})
    for (const int ctas : {1, sms, 2 * sms})
      for (const int what : {1, 2, 3}) {
        const std::string shape = "64 x " + std::to_string(row_bytes) + " B, " + std::to_string(ctas) + " CTAs, ";
        for (const int result : {0, 1})
          if (what >> result & 1)
            report(shape + (what == 3 ? "both: " : "") + (result == 0 ? "loads" : "stores"),
                   measure(ctas, [&](int) {
                     short_rows_kernel<<<unsigned(ctas), 64, 40 * 1024>>>(results, maps, row_bytes, (what & 1) != 0,
                                                                          (what & 2) != 0, 4, result);
                   }));
      }
  std::printf("recording, every warp of a CTA (cycles for a begin, dependent instructions and an end)\n");
  constexpr uint32_t kRecordingWarps = 16;
  DeviceTrace many{.records = nullptr, .headers = nullptr, .capacity = 256, .warps_per_cta = kRecordingWarps};
  CHECK_CUDA(cudaMalloc(&many.records, sizeof(DeviceTraceRecord) * 2 * sms * kRecordingWarps * many.capacity));
  CHECK_CUDA(cudaMalloc(&many.headers, sizeof(DeviceTraceHeader) * 2 * sms * kRecordingWarps));
  for (const int pause : {0, 64, 192})
    for (const int ctas : {1, sms, 2 * sms})
      for (const int warps : {1, 4, 5, 8, 10, 16})
        report(std::to_string(warps) + " warps, " + std::to_string(ctas) + " CTAs, " + std::to_string(pause / 4) +
                   " dependent instructions",
               measure(ctas, [&](int) {
                 recording_kernel<<<unsigned(ctas), 32U * unsigned(warps)>>>(results, pause, many);
               }));
  return write_json(argc, argv);
}
