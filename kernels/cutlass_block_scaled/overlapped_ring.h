// SPDX-License-Identifier: Apache-2.0
/// Accumulators in tensor memory, two of which may share columns.
///
/// Two accumulators that overlap are one stage of the ring: tile t is in accumulator t mod 2, the parity of the
/// stage's phase.  The second begins overlap_columns before the first ends.  The epilogue reads the shared columns
/// first and releases the stage then: the MMAs of the next tile overwrite them, and nothing else of what is still
/// unread. Tile t + 2, which overwrites all of tile t, waits for the release of tile t + 1, which comes after the
/// last read of tile t.
#pragma once

#include "kernels/cutlass_block_scaled/tiles.h"
#include "kernels/matmul/rings.h"

namespace sm100 {

struct OverlappedStage : AccumulatorStage {
  bool second = false;  ///< of the two accumulators that overlap
};

template <Isa I>
class OverlappedRing : public OutputRing<I> {
 public:
  using Base = OutputRing<I>;

  /// @param stride  columns from the first accumulator to the second; 0: a stage is an accumulator
  SM100_HD OverlappedRing(const Base& base, int stride) : Base(base), stride_(stride) {}

  SM100_KERNEL OverlappedStage producer_acquire(Loc loc = Loc::current()) {
    return placed(Base::producer_acquire(loc), this->producer_parity() ^ 1);  // a producer begins at parity 1
  }
  SM100_KERNEL OverlappedStage consumer_wait(Loc loc = Loc::current()) {
    return placed(Base::consumer_wait(loc), this->consumer_parity());
  }

 private:
  SM100_HD OverlappedStage placed(AccumulatorStage stage, uint32_t parity) const {
    const bool second = stride_ > 0 && parity == 1;
    if (second) stage.accumulator = stage.accumulator.plus_columns(uint32_t(stride_));
    return {stage, second};
  }

  int stride_;
};

/// As the dense matmul's (kernels/matmul/rings.h).
template <Isa I, CutlassArranged Config, class Storage>
SM100_KERNEL OverlappedRing<I> output_ring(I& isa, const Config& cfg, const Storage& smem, TmemAddr tmem,
                                           Scope wait_scope, CtaMask group = {}) {
  const OutputRing<I> ring{isa,
                           smem.accum,
                           cfg.accum_stages,
                           {tmem, accum_stride_columns(cfg)},
                           wait_scope,
                           {.cta_group = cfg.cta_group, .group = group}};
  return {ring, overlaps(cfg) ? accum_stride_columns(cfg) : 0};
}

/// Epilogue load warp to epilogue warps.
template <Isa I>
SM100_KERNEL InputRing<I, ResidualStrips> residual_ring(I& isa, int stages, const CutlassTiles& tiles) {
  return {isa, tiles.residual_ring, stages, tiles.residual, Scope::cta};
}

}  // namespace sm100
