// SPDX-License-Identifier: Apache-2.0
/// Scheduler warp: asks the launch hardware for the cluster's next tile, one request per tile begun.
#pragma once

#include "kernels/isa/isa.h"

namespace sm100 {

template <Isa I, class Config, class Scheduler>
SM100_KERNEL void scheduler_warp(I& isa, const Config& cfg, Scheduler& scheduler) {
  if (cfg.pdl) isa.griddepcontrol_wait();  // take no tiles while the kernel ahead still runs
  auto work = scheduler.request_iterator();
  for (; work.has_work(); work.next()) {
    TraceSpan tile_span{isa, TraceEvent::tile};
    work.signal_and_request();
  }
  work.drain();  // the last readers' arrivals must find our barriers alive
}

}  // namespace sm100
