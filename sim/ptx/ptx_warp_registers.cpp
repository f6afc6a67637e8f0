// SPDX-License-Identifier: Apache-2.0
// What a warp that executes PTX knows of itself: special registers, and the spans that traces show.
#include <optional>
#include <utility>

#include "sim/ptx/ptx_warp.h"
#include "sim/ptx/special_values.h"

namespace sm100::sim {

using ptx::Instr;

// ---------------------------------------------------------------- spans

void PtxWarp::does(TraceEvent event, const TraceArgs& args) {
  if (!context.cta.observer().recorder() || (doing_ == event && event != TraceEvent::wait)) return;
  has_waited();
  context.derived_span(event, args);
  doing_ = event;
}

void PtxWarp::waits_for(SmemAddr barrier, uint32_t parity) {
  if (!context.cta.observer().recorder()) return;
  const models::Mbarrier::State* state = context.own.mbarrier.find(barrier.offset());
  const BarrierName name = barrier_name(context.cta.kernel(), barrier.offset());
  const int64_t phase = state ? WaitHistory::named(parity, state->phase) : -1;
  const bool goes_on =
      doing_ == TraceEvent::wait && context.given_up && context.given_up->barrier.offset() == barrier.offset();
  if (!goes_on)
    does(TraceEvent::wait, {.barrier = barrier, .stage = name.array ? name.stage : -1, .phase = int(phase)});
}

/// Whatever the warp was doing is over.
void PtxWarp::has_waited() {
  if (std::exchange(doing_, std::nullopt)) context.end_derived_span();
}

// ---------------------------------------------------------------- special registers

/// Clocks, as they are now.
void PtxWarp::fill_changing(const Instr&) {
  settle_alu();
  fill_clocks(file, code.program(), context.issue_cycle(), context.profile.device.sm_clock_ghz);
}

}  // namespace sm100::sim
