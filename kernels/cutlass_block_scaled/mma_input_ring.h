// SPDX-License-Identifier: Apache-2.0
/// The input ring as the MMA warp has it: a tile's first stage is asked for twice, for its scales before the
/// accumulator is there and for its MMAs, and waited for once.
#pragma once

#include "kernels/cutlass_block_scaled/tiles.h"
#include "kernels/matmul/rings.h"

namespace sm100 {

template <Isa I>
class MmaInputRing : public InputRing<I, CutlassTiles> {
 public:
  using Base = InputRing<I, CutlassTiles>;
  using Stage = typename Base::Stage;

  SM100_HD explicit MmaInputRing(const Base& base) : Base(base) {}

  SM100_KERNEL Stage consumer_wait(Loc loc = Loc::current()) {
    if (awaited_) return this->at(this->consumer_stage());
    awaited_ = true;
    return Base::consumer_wait(loc);
  }
  SM100_KERNEL void consumer_step(Loc loc = Loc::current()) {
    awaited_ = false;
    Base::consumer_step(loc);
  }

 private:
  bool awaited_ = false;
};

/// As the dense matmul's (kernels/matmul/rings.h).
template <Isa I, CutlassArranged Config>
SM100_KERNEL MmaInputRing<I> mma_input(I& isa, const Config& cfg, const CutlassStorage& smem,
                                       const ClusterPlace& place) {
  return MmaInputRing<I>{input_ring(isa, cfg, smem, place)};
}

}  // namespace sm100
