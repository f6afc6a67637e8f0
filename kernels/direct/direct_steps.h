// SPDX-License-Identifier: Apache-2.0
/// What the direct kernels do for a tile: k steps of loads and of MMAs, the commits that hand the accumulator over,
/// and the stores of its rows.
///
/// Of a pair, both CTAs' copies complete on the first one's barriers; it alone issues MMAs; its commits go to both.
#pragma once

#include "kernels/direct/operand_slabs.h"
#include "kernels/direct/params.h"
#include "kernels/direct/shared_storage.h"
#include "kernels/epilogue/global_writer.h"
#include "kernels/epilogue/lane_costs.h"
#include "kernels/pipeline/input_ring.h"
#include "kernels/pipeline/set_up.h"

namespace sm100 {

template <Isa I, class Config>
class DirectSteps {
 protected:
  using Stage = typename InputRing<I, OperandTiles>::Stage;

  SM100_KERNEL DirectSteps(I& isa, const Config& cfg, const DirectParams& params)
      : isa_(isa),
        cfg_(cfg),
        params_(params),
        smem_(storage_at<DirectStorage>(cfg, isa.dynamic_smem())),
        rank_(cfg.cta_group == 2 ? isa.cluster_ctarank() : 0),
        tile_(tile_of(int(isa.ctaid().x))),
        steps_(params.k / cfg.block_k),
        ring_(isa, smem_.input, cfg.stages, smem_.tiles, scope(),
              {.cta_group = cfg.cta_group, .loaders = {0b11}, .multicast = cfg.cta_group == 2}) {}

  SM100_KERNEL DirectTile tile_of(int i) const {
    return direct_tile(cfg_, i, params_.n / cfg_.block_n,
                       [&](uint32_t a, uint32_t b) { return isa_.div_u32(a, b); });
  }
  SM100_HD Scope scope() const { return cfg_.cta_group == 2 ? Scope::cluster : Scope::cta; }
  SM100_HD TraceArgs at() const { return {.tile_m = tile_.m, .tile_n = tile_.n}; }
  SM100_HD TraceArgs at(int k) const { return {.tile_m = tile_.m, .tile_n = tile_.n, .k = k}; }
  SM100_HD TraceArgs at(int k, int stage) const {
    return {.stage = stage, .tile_m = tile_.m, .tile_n = tile_.n, .k = k};
  }

  /// Barriers and tensor memory.  Returns the first accumulator's address.
  SM100_KERNEL TmemAddr set_up() {
    TraceSpan span{isa_, TraceEvent::setup, at()};
    if (isa_.warpid() == kDirectLoadWarp) {
      isa_.elected([&] {
        prefetch_tensormaps(isa_, params_.a, params_.b);
        init_barriers(isa_, cfg_, smem_);
      });
      isa_.fence_mbarrier_init();
    }
    // The peer of a pair's alloc must have been launched and not have exited (PTX 9.7.16.7).  CTAs of a cluster are
    // launched together and the peer has its own alloc still before it, so no barrier has to come first.
    if (isa_.warpid() == kDirectMmaWarp) {
      isa_.tcgen05_alloc(smem_.tmem_address, direct_tmem_columns(cfg_), cfg_.cta_group);
      isa_.tcgen05_fence_before_thread_sync();
    }
    if (cfg_.cta_group == 2)
      meet_cluster(isa_);  // neither CTA may signal the other before that has initialised its barriers
    else
      isa_.bar_sync(kDirectBarrier, direct_threads(cfg_));
    isa_.tcgen05_fence_after_thread_sync();
    return {isa_.ld_shared_u32(smem_.tmem_address)};
  }

  // ---- k steps of the tile

  /// @param lap  the ring's at this step
  SM100_KERNEL void load_step(int k, int lap) {
    const Stage stage = ring_.producer_acquire(at(k));
    {
      TraceArgs what = at(k, stage.index);
      what.phase = lap, what.bytes = ring_.armed_bytes();
      TraceSpan span{isa_, TraceEvent::load_issue, what};
      isa_.elected([&] { issue_copies(stage, k * cfg_.block_k); });
    }
    ring_.producer_step();
  }

  SM100_KERNEL void multiply_step(int k, TmemAddr accumulator) {
    const Stage stage = ring_.consumer_wait(at(k));
    {
      TraceSpan span{isa_, TraceEvent::mma_issue, at(k, stage.index)};
      isa_.elected([&] {
        issue_mmas(stage, accumulator, k == 0);
        ring_.consumer_release(stage);
      });
    }
    ring_.consumer_step();
  }

  /// One lane.
  SM100_KERNEL void issue_copies(const Stage& stage, int k) {
    SmemAddr barrier = stage.full();
    if (rank_ == 0) {
      ring_.arm(stage);
    } else {
      const LaneArray<uint32_t, 1> first{};  // rank 0
      isa_.mbarrier_arrive_expect_tx(isa_.mapa(barrier, first), ring_.armed_bytes(), Scope::cluster);
      barrier = {barrier.offset()};
    }
    load_slabs(isa_, cfg_, stage.a(0), &params_.a, tile_.m * kDirectBlockM, k, barrier);
    load_slabs(isa_, cfg_, stage.b(0), &params_.b, tile_.n * cfg_.block_n + int(rank_) * direct_b_rows(cfg_), k,
               barrier);
  }

  /// One lane.
  SM100_KERNEL void issue_mmas(const Stage& stage, TmemAddr accumulator, bool first) {
    isa_.tcgen05_fence_after_thread_sync();
    const InstrDescriptor idesc = make_instr_descriptor(MmaKind::f16, DataType::bf16, DataType::bf16, DataType::f32,
                                                        direct_mma_m(cfg_), cfg_.block_n);
    for (int i = 0; i < cfg_.block_k / kDirectMmaK; ++i)
      isa_.tcgen05_mma(MmaKind::f16, cfg_.cta_group, accumulator, operand_descriptor(stage.a(0), i),
                       operand_descriptor(stage.b(0), i), idesc, !first || i > 0);
  }

  /// One lane: an arrival, in both CTAs of a pair, when its MMAs so far have finished.
  SM100_KERNEL void commit(SmemAddr barrier) {
    if (cfg_.cta_group == 2)
      isa_.tcgen05_commit_multicast(2, barrier, CtaMask{0b11});
    else
      isa_.tcgen05_commit(1, barrier);
  }

  // ---- epilogue

  /// Thread t of the warp whose rows begin at 32w has row 32w + t: 8 or 16 columns at a time to registers, rounded,
  /// and as 16 or 32 bytes to global memory.
  SM100_KERNEL void store_tile(TmemAddr accumulator, int quarter) {
    if (cfg_.store_bytes == 32)
      store_rows<16>(accumulator, quarter);
    else
      store_rows<8>(accumulator, quarter);
  }

  /// The next `releases` of the last lap, which no copy waits for: the last at the end, the others while MMAs run.
  /// No trace points, as the kernels that this one follows have none.
  SM100_KERNEL void drain(int releases) {
    for (int i = 0; i < releases; ++i) {
      const SmemAddr barrier = ring_.empty(ring_.producer_stage());
      while (!isa_.mbarrier_try_wait_parity(barrier, ring_.producer_parity(), scope())) {}
      ring_.producer_step();
    }
  }

  I& isa_;
  const Config& cfg_;
  const DirectParams& params_;
  DirectStorage smem_;
  uint32_t rank_;  ///< in the pair; 0 without
  DirectTile tile_;
  int steps_;  ///< k steps
  InputRing<I, OperandTiles> ring_;

 private:
  template <int kColumns>
  SM100_KERNEL void store_rows(TmemAddr accumulator, int quarter) {
    const int first_row = tile_.m * kDirectBlockM + 32 * quarter;
    const TmemAddr rows = accumulator.plus_lanes(32u * uint32_t(quarter));
    const GlobalMatrix c{params_.c, params_.m, params_.n};
    for (int i = 0; i < cfg_.block_n; i += kColumns) {
      LaneArray<uint32_t, kColumns> sums =
          isa_.template tcgen05_ld_32x32b<kColumns>(rows.plus_columns(uint32_t(i)));
      isa_.tcgen05_wait_ld(sums);
      const LaneArray<GlobalAddr, 1> address =
          isa_.mad_wide_u32(isa_.laneid(), uint32_t(params_.n) * 2, c.at(first_row, tile_.n * cfg_.block_n + i, 2));
      LaneArray<uint32_t, kColumns / 2> rounded;
      isa_.for_each_lane(lane_cost::kGlobalRow * kColumns / 8, [&](int lane) {
        for (int j = 0; j < kColumns / 2; ++j)
          rounded[lane][j] = isa_.cvt_rn_bf16x2_f32(as_float(sums[lane][2 * j + 1]), as_float(sums[lane][2 * j]));
      });
      if constexpr (kColumns == 16)
        isa_.st_global_v8(address, rounded);
      else
        isa_.st_global_v4(address, rounded);
    }
  }
};

}  // namespace sm100
