/// Recorder behind Sm100's trace points: lane 0 of each warp writes the layout of device_trace.h.
///
/// Cost of an event: two clock reads, and by one lane two (end) or three (begin) 16-byte stores that nothing
/// waits for.  No other store is needed to keep the count: the records number themselves, and only events past
/// the capacity touch the header.
#pragma once

#include "kernels/isa/device_trace.h"
#include "kernels/isa/lane_array.h"
#include "kernels/isa/trace.h"

namespace sm100 {

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
    if (is_writer()) {
      store(header_, kDeviceTraceMagic, cta, warp, special_cluster_ctarank());
      store(reinterpret_cast<uint4*>(header_) + 1, special_smid(), special_warpid(), 0, kDeviceTraceVersion);
    }
  }

  /// Outside `elected` and `lanes_below`, by a converged warp, as is end().
  SM100_KERNEL void begin(TraceEvent event, const TraceArgs& args) {
    if (is_writer()) {
      if (count_ < capacity_) {
        const uint32_t head = uint32_t(DeviceTraceKind::begin) | uint32_t(event) << 8 | uint32_t(args.stage) << 16;
        write_time();
        store(words() + 1, count_ + 1, head, uint32_t(args.phase), args.barrier.offset());
        store(words() + 2, uint32_t(args.tile_m), uint32_t(args.tile_n), uint32_t(args.k), uint32_t(args.bytes));
      } else {
        header_->events_wanted = count_ + 1;
      }
    }
    step();
  }
  SM100_KERNEL void end() {
    if (is_writer()) {
      if (count_ < capacity_) {
        write_time();
        store(words() + 1, count_ + 1, uint32_t(DeviceTraceKind::end), 0, 0);
      } else {
        header_->events_wanted = count_ + 1;
      }
    }
    step();
  }

 private:
  SM100_KERNEL uint4* words() const { return reinterpret_cast<uint4*>(record_); }
  SM100_KERNEL void step() {
    ++count_;
    ++record_;  // never dereferenced past the capacity
  }
  SM100_KERNEL void write_time() const {
    uint64_t ns, cycles;
    asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(ns)::"memory");
    asm volatile("mov.u64 %0, %%clock64;" : "=l"(cycles)::"memory");
    store(words(), uint32_t(ns), uint32_t(ns >> 32), uint32_t(cycles), uint32_t(cycles >> 32));
  }
  /// volatile: the order against the instructions that the event brackets is the point.
  SM100_KERNEL static void store(void* to, uint32_t x, uint32_t y, uint32_t z, uint32_t w) {
    asm volatile("st.global.v4.b32 [%0], {%1, %2, %3, %4};" ::"l"(__cvta_generic_to_global(to)), "r"(x), "r"(y),
                 "r"(z), "r"(w)
                 : "memory");
  }

  SM100_KERNEL static bool is_writer() { return threadIdx.x % kWarpLanes == 0; }
  SM100_KERNEL static uint32_t special_cluster_ctarank() {
    uint32_t value;
    asm("mov.u32 %0, %%cluster_ctarank;" : "=r"(value));
    return value;
  }
  SM100_KERNEL static uint32_t special_smid() {
    uint32_t value;
    asm volatile("mov.u32 %0, %%smid;" : "=r"(value));
    return value;
  }
  SM100_KERNEL static uint32_t special_warpid() {
    uint32_t value;
    asm volatile("mov.u32 %0, %%warpid;" : "=r"(value));
    return value;
  }

  DeviceTraceHeader* header_;
  DeviceTraceRecord* record_;  ///< where the next event goes
  uint32_t capacity_;
  uint32_t count_ = 0;
};

}  // namespace sm100
