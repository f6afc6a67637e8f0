// SPDX-License-Identifier: Apache-2.0
/// The rings of the matmul, as each warp that takes part makes them for itself.
#pragma once

#include "kernels/matmul/cluster_share.h"
#include "kernels/matmul/shared_storage.h"
#include "kernels/pipeline/input_ring.h"
#include "kernels/pipeline/output_ring.h"

namespace sm100 {

/// Load to MMA warp.
template <Isa I, class Config, class Tiles>
SM100_KERNEL InputRing<I, Tiles> input_ring(I& isa, const Config& cfg, const MatmulStorage<Tiles>& smem,
                                            const ClusterPlace& place) {
  return {isa,
          smem.input,
          ring_stages(cfg),
          smem.tiles,
          cluster_size(cfg) > 1 ? Scope::cluster : Scope::cta,
          {.armed_ctas = cfg.cta_group,
           .cta_group = cfg.cta_group,
           .loaders = release_mask(cfg, place),
           .multicast = cluster_size(cfg) > 1}};
}

/// What the MMA warp waits for; a kernel whose MMAs read what other warps bring has its own.
template <Isa I, class Config, class Tiles>
SM100_KERNEL InputRing<I, Tiles> mma_input(I& isa, const Config& cfg, const MatmulStorage<Tiles>& smem,
                                           const ClusterPlace& place) {
  return input_ring(isa, cfg, smem, place);
}

/// MMA to epilogue warps.
/// @param wait_scope  cluster where arrivals of the other side may come from the peer
/// @param group       CTAs that the MMA warp tells of a full accumulator
template <Isa I, class Config, class Storage>
SM100_KERNEL OutputRing<I> output_ring(I& isa, const Config& cfg, const Storage& smem, TmemAddr tmem,
                                       Scope wait_scope, CtaMask group = {}) {
  return {isa,
          smem.accum,
          cfg.accum_stages,
          {tmem, accum_stride_columns(cfg)},
          wait_scope,
          {.cta_group = cfg.cta_group, .group = group}};
}

}  // namespace sm100
