// SPDX-License-Identifier: Apache-2.0
/// umma_batches: the tensor core alone.  Batches of MMAs, each batch with one commit that all warps wait for.
///
/// One thread issues `depth` MMAs back to back on the same A, B and D (the first ignores D, the others accumulate),
/// commits, and every warp of the CTA, or of the pair, waits: what public microbenchmarks of tcgen05.mma measure
/// (docs/measurements.md).  Operands are whatever lies in shared and tensor memory, so there is no result.
#pragma once

#include "kernels/isa/instr_descriptor.h"
#include "kernels/isa/smem_descriptor.h"
#include "kernels/pipeline/set_up.h"

namespace sm100 {

struct UmmaBatchesConfig {
  MmaKind kind = MmaKind::f16;
  DataType dtype = DataType::bf16;  ///< of A and B
  int m = 128, n = 128;             ///< of the MMA: over both CTAs of a pair
  int cta_group = 1;
  bool a_in_tmem = false;
  int depth = 1;      ///< MMAs of a batch
  int batches = 100;  ///< one after the other

  constexpr bool operator==(const UmmaBatchesConfig&) const = default;
};

inline constexpr int kUmmaBatchesWarps = 4;
inline constexpr int kUmmaBatchesBarrier = 0;  ///< named barrier of the whole CTA

/// Role of a warp, for reports and traces: all wait, but warp 0 issues.
constexpr const char* umma_batches_role(int warp) { return warp == 0 ? "mma" : "waiter"; }

/// Columns of tensor memory: D, then A, then the scale factors.
inline constexpr uint32_t kUmmaBatchesA = 256, kUmmaBatchesSfa = 288, kUmmaBatchesSfb = 320;

struct UmmaBatchesStorage {
  SmemAddr a, b;  ///< 32 bytes of K of each row, in core matrices of 8 rows x 16 bytes, without swizzle
  SmemAddr done;  ///< mbarrier: the MMAs of a batch have finished
  SmemAddr tmem_address;
  uint32_t end = 0;  ///< first address past the storage

  template <class C, class Layout>
  SM100_HD static constexpr void place(UmmaBatchesStorage& s, const C& c, Layout& layout) {
    layout.bytes(s.a, uint32_t(c.m / c.cta_group) * 32, 128);
    layout.bytes(s.b, uint32_t(c.n / c.cta_group) * 32, 128);
    layout.barriers(s.done, {.name = "done",
                             .stages = 1,
                             .count = 1,
                             .arrives = "mma",
                             .arrives_with = "tcgen05.commit",
                             .waits = "mma, waiter"});
    layout.bytes(s.tmem_address, 4, 4);
  }
};

/// The MMAs of a batch and their commit; one lane.
template <Isa I, class Config>
SM100_KERNEL void issue_batch(I& isa, const Config& cfg, const UmmaBatchesStorage& smem, TmemAddr tmem) {
  const InstrDescriptor idesc =
      make_instr_descriptor(cfg.kind, cfg.dtype, cfg.dtype, DataType::f32, cfg.m, cfg.n);  // i8: s32
  // K-major core matrices of 128 bytes: the two of a row along K are neighbours, 8 rows further is the next pair.
  const SmemDescriptor a = make_smem_descriptor(smem.a, 128, 256, Swizzle::none),
                       b = make_smem_descriptor(smem.b, 128, 256, Swizzle::none);
  const TmemAddr a_tmem = tmem.plus_columns(kUmmaBatchesA), sfa = tmem.plus_columns(kUmmaBatchesSfa),
                 sfb = tmem.plus_columns(kUmmaBatchesSfb);
  for (int i = 0; i < cfg.depth; ++i) {
    if (is_block_scaled(cfg.kind) && cfg.a_in_tmem)
      isa.tcgen05_mma_block_scale(cfg.kind, cfg.cta_group, usual_scale_vec(cfg.kind), tmem, a_tmem, b, idesc, sfa,
                                  sfb, i > 0);
    else if (is_block_scaled(cfg.kind))
      isa.tcgen05_mma_block_scale(cfg.kind, cfg.cta_group, usual_scale_vec(cfg.kind), tmem, a, b, idesc, sfa, sfb,
                                  i > 0);
    else if (cfg.a_in_tmem)
      isa.tcgen05_mma(cfg.kind, cfg.cta_group, tmem, a_tmem, b, idesc, i > 0);
    else
      isa.tcgen05_mma(cfg.kind, cfg.cta_group, tmem, a, b, idesc, i > 0);
  }
  if (cfg.cta_group == 2)
    isa.tcgen05_commit_multicast(2, smem.done, CtaMask{0b11});
  else
    isa.tcgen05_commit(1, smem.done);
}

template <Isa I, class Config>
SM100_KERNEL void umma_batches_kernel(I& isa, const Config& cfg) {
  const UmmaBatchesStorage smem = storage_at<UmmaBatchesStorage>(cfg, isa.dynamic_smem());
  const int warp = isa.warpid();
  {
    TraceSpan span{isa, TraceEvent::setup};
    if (warp == 0) {
      isa.elected([&] { init_barriers(isa, cfg, smem); });
      isa.fence_mbarrier_init();
      isa.bar_warp_sync();
      isa.tcgen05_alloc(smem.tmem_address, kTmemColumns, cfg.cta_group);
      isa.tcgen05_fence_before_thread_sync();
    }
    isa.bar_sync(kUmmaBatchesBarrier, 32 * kUmmaBatchesWarps);
    isa.tcgen05_fence_after_thread_sync();
    meet_cluster(isa);  // the commits of a pair arrive at both CTAs
  }
  const TmemAddr tmem{isa.ld_shared_u32(smem.tmem_address)};
  for (int i = 0; i < cfg.batches; ++i) {
    TraceSpan span{isa, TraceEvent::tile, {.k = i}};
    if (warp == 0 && isa.cluster_ctarank() == 0) isa.elected([&] { issue_batch(isa, cfg, smem, tmem); });
    while (!isa.mbarrier_try_wait_parity(smem.done, uint32_t(i) & 1, Scope::cluster)) {}
  }
  meet_cluster(isa);  // both CTAs have seen the last commit
  if (warp == 0) {
    isa.tcgen05_fence_after_thread_sync();
    isa.tcgen05_relinquish_alloc_permit(cfg.cta_group);
    isa.tcgen05_dealloc(tmem, kTmemColumns, cfg.cta_group);
  }
}

}  // namespace sm100
