// SPDX-License-Identifier: Apache-2.0
/// What the block-scaled matmul issues on a stage: its scales to tensor memory, then the MMAs that read them there.
///
/// A ring stage has scale columns of its own, so the commit that releases the stage protects them as well as the
/// tiles: the next copy into them comes after a wait for a stage that was filled after that commit.  PTX does not
/// order a tcgen05.cp behind an MMA that reads what it overwrites; it orders an MMA behind a copy of the same
/// thread.
#pragma once

#include "kernels/block_scaled/tiles.h"
#include "kernels/epilogue/lane_costs.h"
#include "kernels/matmul/mma_warp.h"

namespace sm100 {

template <class Config>
class ScaledMmas {
 public:
  SM100_HD explicit ScaledMmas(const Config& cfg) : cfg_(cfg) {}

  template <Isa I, class Stage>
  SM100_KERNEL void issue(I& isa, const Stage& stage, const MmaWork& work, bool first_of_tile) const {
    const TmemAddr sfa = work.tmem.plus_columns(sfa_column(cfg_, stage.index)),
                   sfb = work.tmem.plus_columns(sfb_column(cfg_, stage.index));
    if (!(first_of_tile && begins_early())) copy_scales(isa, stage.sfa, sfa);
    if (!stores_sfb(cfg_) && !(first_of_tile && begins_early())) copy_scales(isa, stage.sfb, sfb);

    // A tile may begin inside an atom (MMA_N 64 and 192): its first scales are then some columns further.
    const TmemAddr tile_sfb =
        stores_sfb(cfg_) ? sfb
                         : sfb.plus_columns(uint32_t(work.tile.n * cfg_.mma_n % kScaleAtomRows / kScaleColumnRows));
    const SmemDescriptor a = operand_descriptor(stage.a(0)), b = operand_descriptor(stage.b(0));
    bool accumulate = !first_of_tile;  // only the tile's very first MMA ignores what tensor memory holds
    for (int k = 0; k < mmas_per_k_tile(cfg_); ++k) {
      const uint32_t along = kMmaKBytes * uint32_t(k);
      const int scale = k * scales_per_mma(cfg_);  // of the tile's scales along K, the MMA's first
      const int atom = scale / kScaleAtomScales, byte_of_cell = scale % kScaleAtomScales;
      isa.tcgen05_mma_block_scale(mma_kind(cfg_), cfg_.cta_group, scale_vec(cfg_), work.accumulator,
                                  advance(a, along), advance(b, along), descriptor(uint32_t(byte_of_cell)),
                                  sfa.plus_columns(stage.sfa.shape.column(0, atom)),
                                  tile_sfb.plus_columns(sfb_slot(cfg_).column(0, atom)), accumulate);
      accumulate = true;
    }
  }

  /// Whether begin() has copied the scales of a tile's first stage when issue() comes to it.
  SM100_HD bool begins_early() const { return copies_scales_early(cfg_); }
  template <Isa I, class Stage>
  SM100_KERNEL void begin(I& isa, const Stage& stage, TmemAddr tmem) const {
    copy_scales(isa, stage.sfa, tmem.plus_columns(sfa_column(cfg_, stage.index)));
    copy_scales(isa, stage.sfb, tmem.plus_columns(sfb_column(cfg_, stage.index)));
  }

 private:
  /// Of a pair, each CTA's atoms go from its own shared memory to its own tensor memory.
  template <Isa I>
  SM100_KERNEL void copy_scales(I& isa, const ScaleTile& tile, TmemAddr to, Loc loc = Loc::current()) const {
    for (int k_atom = 0; k_atom < tile.shape.k_atoms; ++k_atom)
      for (int group = 0; group < tile.shape.groups; ++group) {
        isa.for_each_lane_address(lane_cost::kScaleAtom, [](int) {});
        isa.tcgen05_cp(TmemCopyShape::s32x128b_warpx4, cfg_.cta_group,
                       to.plus_columns(tile.shape.column(group, k_atom)),
                       scale_atom_descriptor(tile.atom(group, k_atom)), TmemDecompression::none, loc);
      }
  }

  /// @param scale_id  which byte of its cells an MMA's first scale is
  SM100_HD InstrDescriptor descriptor(uint32_t scale_id) const {
    return make_block_scaled_instr_descriptor(mma_kind(cfg_), cfg_.dtype, cfg_.dtype,
                                              cfg_.scale_type == ScaleType::ue8m0, cfg_.mma_m, cfg_.mma_n, false,
                                              false, false, false, scale_id, scale_id);
  }

  const Config& cfg_;
};

}  // namespace sm100
