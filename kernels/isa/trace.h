// SPDX-License-Identifier: Apache-2.0
/// Trace points in role code: what a warp is doing, with the coordinates that let two traces be aligned by
/// meaning. Every build emits the same points in the same order; an Isa that does not record compiles them to
/// nothing.
#pragma once

#include "kernels/isa/address.h"

namespace sm100 {

enum class TraceEvent : uint8_t {
  wait,         ///< blocked on, or polling, an mbarrier; args.barrier says which
  load_issue,   ///< arming the stage and issuing its copies
  mma_issue,    ///< issuing the MMAs of a stage and their commit
  mma_commit,   ///< committing a finished accumulator
  tmem_load,    ///< tcgen05.ld of a strip, wait included
  smem_read,    ///< a tile from shared memory to registers
  smem_write,   ///< registers to the swizzled strip, and the functor where it works on that
  store_issue,  ///< TMA store of a strip, or a warp's own stores of its rows
  store_wait,   ///< until the strip buffer may be overwritten
  lock_wait,    ///< split-K: until the splits before have added their k tiles (args.k of them)
  reduce,       ///< split-K: partial sums to, or from, the workspace
  clc_request,  ///< clusterlaunchcontrol.try_cancel
  clc_fetch,    ///< decoding a CLC response
  tile,         ///< one work tile
  setup,        ///< barrier initialisation up to the cluster barrier
  drain,        ///< waits of the exit protocol
  map_edit,     ///< a group's tensor maps: edited, released and acquired; args.stage is their place in the ring
};

/// -1 (or a null address) means "does not apply".
struct TraceArgs {
  SmemAddr barrier{};
  int stage = -1;
  int phase = -1;  ///< phase index, counted from 0
  int tile_m = -1, tile_n = -1;
  int k = -1;
  int64_t bytes = -1;
};

#if defined(SM100_NO_TRACE_POINTS)
/// A build without any trace point: what tests/kernels/cuda compares an Isa that does not record with.
template <class I>
class TraceSpan {
 public:
  SM100_HD TraceSpan(I&, TraceEvent, const TraceArgs& = {}) {}
};
#else
/// Span that ends with its scope.
template <class I>
class TraceSpan {
 public:
  SM100_HD TraceSpan(I& isa, TraceEvent event, const TraceArgs& args = {}) : isa_(isa) {
    isa_.trace_begin(event, args);
  }
  SM100_HD ~TraceSpan() { isa_.trace_end(); }
  TraceSpan(const TraceSpan&) = delete;
  TraceSpan& operator=(const TraceSpan&) = delete;

 private:
  I& isa_;
};
#endif

}  // namespace sm100
