// SPDX-License-Identifier: Apache-2.0
/// The store path of a strip in shared memory: publish what the warps wrote, TMA store by one lane, and when the
/// buffer may be written again.
///
/// Strip i of a tile uses buffer i mod 2.  Buffer 0 is written again in strip 2; by then strip 1's wait has seen
/// the store of strip 0 finish reading and strip 1's barrier has told everybody.  So only strip 0 may skip that
/// barrier, and the last strip drains everything, which frees both buffers for the next tile.
#pragma once

#include "kernels/pipeline/warp_group.h"

namespace sm100 {

inline constexpr int kOutputBuffers = 2;  ///< strips in shared memory

/// All warps of the group: what they wrote is visible to the async proxy.
template <Isa I>
SM100_KERNEL void publish_strip(I& isa, const WarpGroup& group, Loc loc = Loc::current()) {
  // Each writer makes its generic writes visible to the async proxy before the barrier.
  isa.fence_proxy_async_shared_cta();
  group.sync(isa, loc);
}

/// One warp: one lane stores the strip, or its part of it, as a bulk group of its own.
template <Isa I, class Map, int N>
SM100_KERNEL void store_strip(I& isa, Map map, TensorCoords<N> coords, SmemAddr strip, int buffer,
                              Loc loc = Loc::current()) {
  TraceSpan span{isa, TraceEvent::store_issue, {.stage = buffer}};
  isa.elected([&] {
    isa.cp_async_bulk_tensor_global_shared(map, coords, strip, loc);
    isa.cp_async_bulk_commit_group();
  });
}

/// All warps of the group: the buffer of strip i + 1 may be written; after the last strip both may.
template <Isa I>
SM100_KERNEL void wait_for_strip_buffer(I& isa, const WarpGroup& group, int i, bool last,
                                        Loc loc = Loc::current()) {
  // Bulk groups belong to the thread that issued them; the others learn from the barrier.
  TraceSpan span{isa, TraceEvent::store_wait, {.stage = i % kOutputBuffers}};
  if (last) {
    isa.template cp_async_bulk_wait_group_read<0>();
  } else {
    isa.template cp_async_bulk_wait_group_read<1>();
  }
  if (i != 0 || last) group.sync(isa, loc);
}

}  // namespace sm100
