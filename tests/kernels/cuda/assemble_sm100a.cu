// SPDX-License-Identifier: Apache-2.0
// Every seam function that only sm_100a has, for both CTA groups: a wrong spelling fails the build.
#include "kernels/isa/sm100.cuh"
#include "kernels/micro/tma_tiles.h"
#include "kernels/micro/umma_batches.h"

namespace sm100 {

template <int R>
__device__ void load(Sm100<>& isa, TmemAddr address, uint32_t* out) {
  const LaneArray<uint32_t, 4 * R> values = isa.tcgen05_ld_16x256b<R>(address);
  isa.tcgen05_wait_ld();
  for (int i = 0; i < 4 * R; ++i) out[i] = values[0][i];
}
template <int R>
__device__ void load_rows(Sm100<>& isa, TmemAddr address, uint32_t* out) {
  const LaneArray<uint32_t, R> values = isa.tcgen05_ld_32x32b<R>(address);
  isa.tcgen05_wait_ld();
  for (int i = 0; i < R; ++i) out[i] = values[0][i];
}
__global__ void tensor_memory_loads(uint32_t* out, TmemAddr address) {
  Sm100<> isa;
  load<1>(isa, address, out);
  load<2>(isa, address, out);
  load<4>(isa, address, out);
  load<8>(isa, address, out);
  load<16>(isa, address, out);
  load<32>(isa, address, out);
  load_rows<1>(isa, address, out);
  load_rows<2>(isa, address, out);
  load_rows<4>(isa, address, out);
  load_rows<8>(isa, address, out);
  load_rows<16>(isa, address, out);
  load_rows<32>(isa, address, out);
  load_rows<64>(isa, address, out);
  load_rows<128>(isa, address, out);
}

__global__ void wide_stores(uint32_t* out) {
  Sm100<> isa;
  LaneArray<uint32_t, 8> values{};
  isa.st_global_v8(isa.mad_wide_u32(isa.laneid(), 32, GlobalAddr{reinterpret_cast<uint64_t>(out)}), values);
}

__global__ void narrow_formats(uint32_t* out) {
  Sm100<> isa;
  const LaneArray<uint32_t, 1> lane = isa.laneid();
  isa.for_each_lane(1, [&](int i) {
    out[i] = isa.cvt_rn_satfinite_e2m1x2_f32(float(i), 2.f) ^ isa.cvt_rp_satfinite_ue8m0x2_f32(float(i), 2.f) ^
             isa.cvt_rn_bf16x2_ue8m0x2(uint32_t(i));
  });
  out[32 + lane[0][0]] = isa.redux_sync_max_abs_nan_f32(lane)[0][0];
}

/// A copy in every source format.
template <TmemCopyShape kShape, int kCtaGroup>
__device__ void copies(Sm100<>& isa, TmemAddr to, SmemDescriptor source) {
  isa.tcgen05_cp(kShape, kCtaGroup, to, source);
  isa.tcgen05_cp(kShape, kCtaGroup, to, source, TmemDecompression::b6x16_p32);
  isa.tcgen05_cp(kShape, kCtaGroup, to, source, TmemDecompression::b4x16_p64);
}
template <int kCtaGroup>
__global__ void tensor_memory_copies(TmemAddr to, SmemDescriptor source) {
  Sm100<> isa;
  copies<TmemCopyShape::s128x256b, kCtaGroup>(isa, to, source);
  copies<TmemCopyShape::s128x128b, kCtaGroup>(isa, to, source);
  copies<TmemCopyShape::s4x256b, kCtaGroup>(isa, to, source);
  copies<TmemCopyShape::s64x128b_warpx2_02_13, kCtaGroup>(isa, to, source);
  copies<TmemCopyShape::s64x128b_warpx2_01_23, kCtaGroup>(isa, to, source);
  copies<TmemCopyShape::s32x128b_warpx4, kCtaGroup>(isa, to, source);
}
template __global__ void tensor_memory_copies<1>(TmemAddr, SmemDescriptor);
template __global__ void tensor_memory_copies<2>(TmemAddr, SmemDescriptor);

template <int kCtaGroup>
__global__ void tensor_cores(SmemDescriptor a, SmemDescriptor b, InstrDescriptor idesc, bool accumulate) {
  Sm100<> isa;
  const SmemAddr smem = isa.dynamic_smem();
  isa.tcgen05_alloc(smem, 512, kCtaGroup);
  isa.tcgen05_relinquish_alloc_permit(kCtaGroup);
  const TmemAddr d{isa.ld_shared_u32(smem)};
  isa.tcgen05_fence_after_thread_sync();
  isa.elected([&] {
    isa.tcgen05_mma(MmaKind::f16, kCtaGroup, d, a, b, idesc, accumulate);
    isa.tcgen05_mma(MmaKind::tf32, kCtaGroup, d, a, b, idesc, true);
    isa.tcgen05_mma(MmaKind::f8f6f4, kCtaGroup, d, a, b, idesc, true);
    isa.tcgen05_mma(MmaKind::i8, kCtaGroup, d, a, b, idesc, true);
    const TmemAddr in_tmem = d.plus_columns(256), sfa = d.plus_columns(288), sfb = d.plus_columns(320);
    isa.tcgen05_mma(MmaKind::f16, kCtaGroup, d, in_tmem, b, idesc, accumulate);
    isa.tcgen05_mma(MmaKind::tf32, kCtaGroup, d, in_tmem, b, idesc, true);
    isa.tcgen05_mma(MmaKind::f8f6f4, kCtaGroup, d, in_tmem, b, idesc, true);
    isa.tcgen05_mma(MmaKind::i8, kCtaGroup, d, in_tmem, b, idesc, true);
    isa.tcgen05_mma_block_scale(MmaKind::mxf8f6f4, kCtaGroup, ScaleVec::x1, d, a, b, idesc, sfa, sfb, accumulate);
    isa.tcgen05_mma_block_scale(MmaKind::mxf4, kCtaGroup, ScaleVec::x2, d, a, b, idesc, sfa, sfb, true);
    isa.tcgen05_mma_block_scale(MmaKind::mxf4nvf4, kCtaGroup, ScaleVec::x2, d, a, b, idesc, sfa, sfb, true);
    isa.tcgen05_mma_block_scale(MmaKind::mxf4nvf4, kCtaGroup, ScaleVec::x4, d, a, b, idesc, sfa, sfb, true);
    isa.tcgen05_mma_block_scale(MmaKind::mxf8f6f4, kCtaGroup, ScaleVec::x1, d, in_tmem, b, idesc, sfa, sfb, true);
    isa.tcgen05_mma_block_scale(MmaKind::mxf4, kCtaGroup, ScaleVec::x2, d, in_tmem, b, idesc, sfa, sfb, true);
    isa.tcgen05_mma_block_scale(MmaKind::mxf4nvf4, kCtaGroup, ScaleVec::x2, d, in_tmem, b, idesc, sfa, sfb, true);
    isa.tcgen05_mma_block_scale(MmaKind::mxf4nvf4, kCtaGroup, ScaleVec::x4, d, in_tmem, b, idesc, sfa, sfb, true);
    isa.tcgen05_commit(kCtaGroup, smem + 8);
  });
  isa.tcgen05_fence_before_thread_sync();
  isa.tcgen05_dealloc(d, 512, kCtaGroup);
}
template __global__ void tensor_cores<1>(SmemDescriptor, SmemDescriptor, InstrDescriptor, bool);
template __global__ void tensor_cores<2>(SmemDescriptor, SmemDescriptor, InstrDescriptor, bool);

// The microbenchmarks are the same source here and in the simulator.
struct Batches : UmmaBatchesConfig {
  static constexpr MmaKind kind = MmaKind::f16;
  static constexpr DataType dtype = DataType::bf16;
  static constexpr int m = 256, n = 128, cta_group = 2, depth = 4, batches = 8;
  static constexpr bool a_in_tmem = false;
};
__global__ void umma_batches() {
  Sm100<> isa;
  umma_batches_kernel(isa, Batches{});
}
__global__ void tma_tiles(const __grid_constant__ TmaTilesParams params) {
  Sm100<> isa;
  TmaTilesConfig cfg;
  cfg.multicast = cfg.sync = true;
  cfg.cluster = cfg.sharers = 2;
  tma_tiles_kernel(isa, cfg, params);
}

__global__ void swizzle_atomicity(uint64_t map) {
  Sm100<> isa;
  isa.tensormap_replace_swizzle_atomicity<TensorMapSwizzleAtomicity::b32>(isa.dynamic_smem());
  isa.tensormap_replace_swizzle_atomicity<TensorMapSwizzleAtomicity::b32>(GlobalAddr{map});
}

__global__ void cluster_launch_control(Dim3* out) {
  Sm100<> isa;
  const SmemAddr smem = isa.dynamic_smem();
  isa.clusterlaunchcontrol_try_cancel(smem, smem + 16);
  isa.clusterlaunchcontrol_try_cancel_multicast(smem, smem + 16);
  const ClcResponse response = isa.ld_shared_b128(smem);
  if (isa.clusterlaunchcontrol_query_cancel_is_canceled(response))
    *out = isa.clusterlaunchcontrol_query_cancel_get_first_ctaid(response);
}

__global__ void masked_bulk_copies(uint8_t* memory) {
  Sm100<> isa;
  const GlobalAddr to{reinterpret_cast<uint64_t>(memory)};
  isa.cp_async_bulk_global_shared_cp_mask(to, isa.dynamic_smem(), 64, uint16_t{0x00ff});
  isa.cp_async_bulk_global_shared_cp_mask(to, isa.dynamic_smem(), 64, uint16_t{0x00ff}, kEvictFirst);
}

__global__ void hinted_pair_copies(const __grid_constant__ TensorMap map) {
  Sm100<> isa;
  const SmemAddr smem = isa.dynamic_smem();
  isa.cp_async_bulk_tensor_shared_global(smem, &map, TensorCoords{0, 1}, smem, kEvictLast, 2);
  isa.cp_async_bulk_tensor_shared_global_multicast(smem, &map, TensorCoords{0, 1}, smem, CtaMask{3}, kEvictLast, 2);
}

}  // namespace sm100
