// SPDX-License-Identifier: Apache-2.0
/// The reduction kernel: each warp loads a strip of every partial sum, adds them in their order and stores the
/// strip.
///
/// With PDL nothing is read before griddepcontrol.wait: the partial sums are what launches ahead write.
#pragma once

#include "kernels/isa/isa.h"
#include "kernels/isa/trace.h"
#include "kernels/reduce/config.h"
#include "kernels/reduce/params.h"

namespace sm100 {

/// Address of each lane's part of a strip.
template <Isa I>
SM100_KERNEL LaneArray<GlobalAddr, 1> strip_addresses(I& isa, GlobalAddr base, int64_t first,
                                                      uint32_t element_bytes) {
  return isa.mad_wide_u32(isa.laneid(), kReduceLaneElements * element_bytes,
                          base + uint64_t(first) * element_bytes);
}

/// Four elements of D per lane.
template <Isa I, class Config>
SM100_KERNEL void store_strip(I& isa, const Config& cfg, const ReduceParams& params, int64_t first,
                              const LaneArray<uint32_t, kReduceLaneElements>& sums) {
  TraceSpan span{isa, TraceEvent::store_issue};
  if (cfg.output == DataType::f32) {
    isa.st_global_v4(strip_addresses(isa, params.sum, first, 4), sums);
    return;
  }
  LaneArray<uint32_t, 2> packed;
  isa.for_each_lane(2, [&](int lane) {
    packed[lane][0] = isa.cvt_rn_bf16x2_f32(as_float(sums[lane][1]), as_float(sums[lane][0]));
    packed[lane][1] = isa.cvt_rn_bf16x2_f32(as_float(sums[lane][3]), as_float(sums[lane][2]));
  });
  isa.st_global_v2(strip_addresses(isa, params.sum, first, 2), packed);
}

/// @param first  the strip's first element
template <Isa I, class Config>
SM100_KERNEL void reduce_strip(I& isa, const Config& cfg, const ReduceParams& params, int64_t first) {
  LaneArray<uint32_t, kReduceLaneElements> sums;
  {
    TraceSpan span{isa, TraceEvent::reduce, {.bytes = int64_t(cfg.slices) * kReduceStripElements * 4}};
    LaneArray<bool, 1> all;
    isa.for_each_lane(1, [&](int lane) { all[lane][0] = true; });
    sums = isa.ld_global_v4(strip_addresses(isa, params.partial[0], first, 4), all);
    for (int slice = 1; slice < cfg.slices; ++slice) {
      const auto partial = isa.ld_global_v4(strip_addresses(isa, params.partial[slice], first, 4), all);
      isa.for_each_lane(kReduceLaneElements, [&](int lane) {
        for (int i = 0; i < kReduceLaneElements; ++i)
          sums[lane][i] = as_bits(as_float(sums[lane][i]) + as_float(partial[lane][i]));
      });
    }
  }
  store_strip(isa, cfg, params, first, sums);
}

template <Isa I, class Config>
SM100_KERNEL void reduce_kernel(I& isa, const Config& cfg, const ReduceParams& params) {
  if (cfg.pdl) {
    isa.griddepcontrol_wait();
    isa.griddepcontrol_launch_dependents();
  }
  const int64_t own = (int64_t(isa.ctaid().x) * kReduceWarps + isa.warpid()) * kReduceWarpElements;
  for (int strip = 0; strip < kReduceWarpStrips; ++strip) {
    const int64_t first = own + int64_t(strip) * kReduceStripElements;
    if (first < params.elements) reduce_strip(isa, cfg, params, first);
  }
}

}  // namespace sm100
