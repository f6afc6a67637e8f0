// SPDX-License-Identifier: Apache-2.0
/// Recorder behind Sm100's trace points: lane 0 of each warp writes the layout of device_trace.h.
///
/// An event costs the warp a clock read (24 cycles on an H200) and, in one lane, one (end) or two (begin) 16-byte
/// stores that nothing waits for.  Reading %globaltimer costs as much again, so only every kClockSampleInterval-th
/// record holds it.  The stores are predicated, not branched around: a branch would split the warp and join it
/// again. No store is needed to keep the count: the records number themselves, and only records past the capacity
/// touch the header.
#pragma once

#include "kernels/isa/device_trace.h"
#include "kernels/isa/lane_array.h"
#include "kernels/isa/trace.h"

namespace sm100 {

#if defined(SM100_NO_TRACE_POINTS)
// Such a build is looked at for its plain entries alone (tests/kernels/cuda); traced ones would double its time.
struct NoRecorder;
using DeviceRecorder = NoRecorder;
#else
class DeviceRecorder {
 public:
  using Params = DeviceTrace;

  /// By all threads of the warp.
  SM100_KERNEL explicit DeviceRecorder(const DeviceTrace& trace) : capacity_(trace.capacity) {
    const uint32_t cta = blockIdx.x + gridDim.x * (blockIdx.y + gridDim.y * blockIdx.z);
    const uint32_t warp = threadIdx.x / kWarpLanes;
    const uint64_t region = uint64_t{cta} * trace.warps_per_cta + warp;
    header_ = trace.headers + region;
    record_ = trace.records + region * capacity_;
    if (!is_writer()) return;
    uint32_t rank, smid, slot;
    uint64_t ns, cycles;
    asm("mov.u32 %0, %%cluster_ctarank;" : "=r"(rank));
    asm volatile("mov.u32 %0, %%smid;" : "=r"(smid));
    asm volatile("mov.u32 %0, %%warpid;" : "=r"(slot));
    asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(ns)::"memory");
    asm volatile("mov.u64 %0, %%clock64;" : "=l"(cycles)::"memory");
    *header_ = {.magic = kDeviceTraceMagic,
                .cta = cta,
                .warp = warp,
                .cluster_ctarank = rank,
                .smid = smid,
                .records_wanted = 0,
                .version = kDeviceTraceVersion,
                .hardware_warpid = slot,
                .clock = cycles,
                .globaltimer_ns = ns};
  }

  /// Outside `elected` and `lanes_below`, by a converged warp, as is end().
  SM100_KERNEL void begin(TraceEvent event, const TraceArgs& args) {
    sample_clock();
    // The clock's word first: the other order cost 11 cycles more per event on an H200.
    store(0, clock(), count_ + 1, device_trace_head(DeviceTraceKind::begin, event, args.stage),
          device_trace_wait(args.barrier, args.phase));
    store(1, uint32_t(args.tile_m), uint32_t(args.tile_n), uint32_t(args.k), uint32_t(args.bytes));
    step();
  }
  SM100_KERNEL void end() {
    sample_clock();
    store(0, clock(), count_ + 1, device_trace_head(DeviceTraceKind::end, TraceEvent{}, -1), 0);
    step();
  }

 private:
  SM100_KERNEL void sample_clock() {
    if (count_ % kClockSampleInterval != 0) return;
    uint64_t ns;
    asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(ns)::"memory");
    store(0, clock(), count_ + 1, device_trace_head(DeviceTraceKind::clock, TraceEvent{}, -1), 0);
    store(1, uint32_t(ns), uint32_t(ns >> 32), 0, 0);
    step();
  }
  SM100_KERNEL static uint32_t clock() {
    uint32_t cycles;
    asm volatile("mov.u32 %0, %%clock;" : "=r"(cycles)::"memory");
    return cycles;
  }
  SM100_KERNEL void step() {
    ++count_;
    ++record_;  // never dereferenced past the capacity
    if (count_ > capacity_ && is_writer()) header_->records_wanted = count_;
  }
  /// 16 bytes of the current record, by the writer, if the record lies within the capacity.
  /// volatile: the order against the instructions that the event brackets is the point.
  SM100_KERNEL void store(int word, uint32_t x, uint32_t y, uint32_t z, uint32_t w) const {
    asm volatile(
        "{\n\t"
        ".reg .pred p;\n\t"
        "setp.ne.u32 p, %5, 0;\n\t"
        "@p st.global.v4.b32 [%0], {%1, %2, %3, %4};\n\t"
        "}" ::"l"(__cvta_generic_to_global(reinterpret_cast<uint4*>(record_) + word)),
        "r"(x), "r"(y), "r"(z), "r"(w), "r"(uint32_t(is_writer() && count_ < capacity_))
        : "memory");
  }
  SM100_KERNEL static bool is_writer() { return threadIdx.x % kWarpLanes == 0; }

  DeviceTraceHeader* header_;
  DeviceTraceRecord* record_;  ///< where the next record goes
  uint32_t capacity_;
  uint32_t count_ = 0;
};
#endif

}  // namespace sm100
