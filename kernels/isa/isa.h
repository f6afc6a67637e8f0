// SPDX-License-Identifier: Apache-2.0
/// The seam: one function per PTX instruction, named after it.  Role code calls nothing else.
///
/// Two families implement it: inline PTX on the device, and SimIsa on the SystemC model, where each
/// instruction is a value (kernels/isa/instructions/).  Semantics, operand rules and undefined behaviour of each:
/// PTX ISA 9.x, sections in the comments.
///
/// Conventions
///   * One call is one warp-level instruction.  Warp-uniform operands are plain values, per-lane ones
///   LaneArrays.
///   * Inside `elected` one lane is active, inside `lanes_below(n)` n lanes, elsewhere 32; an arrive counts
///   once per
///     active lane, as on hardware.
///   * An overload on the address type selects the state space: SmemAddr is `.shared::cta`, ClusterSmemAddr
///   is
///     `.shared::cluster`.
///   * `loc` defaults to the line of the call; pipelines pass their caller's, so that reports name the role's
///   line.
#pragma once

#include <concepts>

#include "kernels/isa/address.h"
#include "kernels/isa/clc_response.h"
#include "kernels/isa/instr_descriptor.h"
#include "kernels/isa/lane_array.h"
#include "kernels/isa/mbarrier_token.h"
#include "kernels/isa/memory_order.h"
#include "kernels/isa/reduction.h"
#include "kernels/isa/smem_descriptor.h"
#include "kernels/isa/tensor_map.h"
#include "kernels/isa/tensor_map_edit.h"
#include "kernels/isa/tmem_copy.h"
#include "kernels/isa/trace.h"
#include "kernels/isa/wgmma.h"

namespace sm100 {

/// `.sem.scope` of mbarrier arrives and waits (PTX 9.7.13.15).  `unstated` leaves both out, as CUTLASS does on all
/// of them: by the letter that is `.cta`, on barriers of other CTAs, too.
enum class Scope : uint8_t { cta, cluster, unstated };

/// Registers with the same values in all lanes.
template <int N>
struct UniformWords {
  uint32_t w[N];
};

/// Element coordinates of a tensor copy, innermost dimension first (PTX 5.5).
template <int N>
struct TensorCoords {
  int32_t c[N];
};
template <class... T>
TensorCoords(T...) -> TensorCoords<int(sizeof...(T))>;

/// CTA ranks of a cluster that a multicast reaches: bit r is %cluster_ctarank r.
struct CtaMask {
  uint16_t bits = 0;
};

template <class I>
concept Isa = requires(I& isa, SmemAddr smem, ClusterSmemAddr remote, TmemAddr tmem, const TensorMap* map,
                       TensorCoords<2> coords, SmemDescriptor sdesc, InstrDescriptor idesc, ClcResponse response,
                       LaneArray<SmemAddr, 1> rows, LaneArray<GlobalAddr, 1> globals, LaneArray<bool, 1> p,
                       LaneArray<uint32_t, 1> r1, LaneArray<uint32_t, 2> r2, LaneArray<uint32_t, 4> r4,
                       LaneArray<uint32_t, 8> r8, LaneArray<ClusterSmemAddr, 1> remotes,
                       LaneArray<uint64_t, 1> wide, L2CachePolicy policy, LaneArray<MbarrierToken, 1> states,
                       LaneArray<float, 64> sums, LaneAgreement agreement, uint32_t u, int i, void (*body)(),
                       void (*lane_body)(int)) {
  // Special registers and lanes.
  { isa.warpid() } -> std::same_as<int>;   // %tid.x / 32
  { isa.ctaid() } -> std::same_as<Dim3>;   // %ctaid
  { isa.nctaid() } -> std::same_as<Dim3>;  // %nctaid
  { isa.cluster_ctarank() } -> std::same_as<uint32_t>;
  { isa.laneid() } -> std::same_as<LaneArray<uint32_t, 1>>;
  isa.for_each_lane(i, lane_body);                                // per-lane arithmetic; i = instructions per lane
  isa.for_each_lane_address(i, lane_body);                        // of a store's addresses and predicates: where
                                                                  // it goes decides its time, with data or without
  isa.elected(body);                                              // elect.sync and its branch (9.7.14)
  isa.lanes_below(i, body);                                       // branch taken by lanes 0 ... i-1
  { isa.cvt_rn_bf16x2_f32(1.f, 2.f) } -> std::same_as<uint32_t>;  // per lane, inside for_each_lane (9.7.9.21)
  { isa.ex2_approx_ftz_f32(1.f) } -> std::same_as<float>;
  { isa.rcp_approx_ftz_f32(1.f) } -> std::same_as<float>;
  { isa.fma_rn_f32(1.f, 2.f, 3.f) } -> std::same_as<float>;  // 1 * 2 + 3, rounded once
  { isa.cvt_rn_f16x2_f32(1.f, 2.f) } -> std::same_as<uint32_t>;
  { isa.cvt_rn_satfinite_e4m3x2_f32(1.f, 2.f) } -> std::same_as<uint32_t>;  // in the lower 16 bits
  { isa.cvt_rn_satfinite_e5m2x2_f32(1.f, 2.f) } -> std::same_as<uint32_t>;
  { isa.cvt_f32_f16(u) } -> std::same_as<float>;             // of the lower 16 bits
  { isa.cvt_rn_f16x2_e4m3x2(u) } -> std::same_as<uint32_t>;  // of the lower 16 bits
  { isa.cvt_rn_f16x2_e5m2x2(u) } -> std::same_as<uint32_t>;
  { isa.cvt_rn_satfinite_e2m1x2_f32(1.f, 2.f) } -> std::same_as<uint32_t>;  // in the lower 8 bits; sm_100a
  { isa.cvt_rp_satfinite_ue8m0x2_f32(1.f, 2.f) } -> std::same_as<uint32_t>;
  { isa.cvt_rn_bf16x2_ue8m0x2(u) } -> std::same_as<uint32_t>;  // of the lower 16 bits
  { isa.max_nan_f32(1.f, 2.f) } -> std::same_as<float>;        // NaN if one of them is
  { isa.min_nan_f32(1.f, 2.f) } -> std::same_as<float>;
  // Between lanes (9.7.9.6, 9.7.13.4); all 32 take part.
  { isa.shfl_sync_bfly_b32(r1, i) } -> std::same_as<LaneArray<uint32_t, 1>>;       // that of lane ^ i
  { isa.redux_sync_max_abs_nan_f32(r1) } -> std::same_as<LaneArray<uint32_t, 1>>;  // sm_100a
  isa.bar_warp_sync();                                                             // bar.warp.sync
  // No instructions: the active lanes change, or use, what role code takes for the same in all lanes.
  isa.lanes_write(agreement);
  isa.lanes_read(agreement);

  // mbarrier (9.7.13.15).  The waits return when the phase of the parity has completed.
  isa.mbarrier_init(smem, u);
  isa.mbarrier_arrive(smem, Scope::cta);
  isa.mbarrier_arrive(remote, Scope::cluster);
  isa.mbarrier_arrive(isa.mapa(smem, isa.laneid()), Scope::cluster);  // each lane once, on its own address
  isa.mbarrier_arrive_expect_tx(smem, u, Scope::cta);
  isa.mbarrier_arrive_expect_tx(isa.mapa(smem, isa.laneid()), u, Scope::cluster);
  isa.mbarrier_expect_tx(smem, u, Scope::cta);  // .relaxed; no arrival
  { isa.mbarrier_try_wait_parity(smem, u, Scope::cta) } -> std::same_as<bool>;
  { isa.mbarrier_test_wait_parity(smem, u, Scope::cta) } -> std::same_as<bool>;  // answers at once
  isa.mbarrier_inval(smem);
  isa.mbarrier_arrive(remote, u,
                      Scope::cluster);  // with a count; the state forms return what each lane's arrival found
  { isa.mbarrier_arrive_state(smem, u, Scope::cta) } -> std::same_as<LaneArray<MbarrierToken, 1>>;
  { isa.mbarrier_arrive_expect_tx_state(smem, u, Scope::cta) } -> std::same_as<LaneArray<MbarrierToken, 1>>;
  { isa.mbarrier_arrive_no_complete(smem, u) } -> std::same_as<LaneArray<MbarrierToken, 1>>;  // .noComplete
  { isa.mbarrier_arrive_drop(smem, u, Scope::cta) } -> std::same_as<LaneArray<MbarrierToken, 1>>;
  isa.mbarrier_arrive_drop(remote, u, Scope::cluster);
  { isa.mbarrier_arrive_drop_expect_tx(smem, u, Scope::cta) } -> std::same_as<LaneArray<MbarrierToken, 1>>;
  isa.mbarrier_arrive_drop_expect_tx(remote, u, Scope::cluster);
  { isa.mbarrier_arrive_drop_no_complete(smem, u) } -> std::same_as<LaneArray<MbarrierToken, 1>>;
  isa.mbarrier_expect_tx(remote, u, Scope::cluster);
  isa.mbarrier_complete_tx(smem, u, Scope::cta);  // .relaxed
  isa.mbarrier_complete_tx(remote, u, Scope::cluster);
  { isa.mbarrier_test_wait(smem, states, Scope::cta) } -> std::same_as<bool>;  // by state
  { isa.mbarrier_try_wait(smem, states, Scope::cta) } -> std::same_as<bool>;
  { isa.mbarrier_pending_count(states) } -> std::same_as<LaneArray<uint32_t, 1>>;
  isa.fence_mbarrier_init();  // fence.mbarrier_init.release.cluster
  { isa.mapa(smem, u) } -> std::same_as<ClusterSmemAddr>;
  { isa.mapa(smem, isa.laneid()) } -> std::same_as<LaneArray<ClusterSmemAddr, 1>>;  // a rank per lane

  // CTA and cluster barriers (9.7.13.1, .4), fences.
  isa.bar_sync(i, i);
  isa.bar_arrive(i, i);
  isa.barrier_cluster_arrive();  // .release; by each thread of the cluster, not .aligned
  isa.barrier_cluster_arrive_relaxed();
  isa.barrier_cluster_wait();
  isa.fence_proxy_async_shared_cta();

  // Programmatic dependent launch (9.7.13.13).
  isa.griddepcontrol_wait();
  isa.griddepcontrol_launch_dependents();

  // Registers of a thread, by all warps of a warpgroup (Miscellaneous Instructions: setmaxnreg).
  isa.template setmaxnreg_inc<232>();  // waits until the CTA's pool has enough
  isa.template setmaxnreg_dec<24>();

  // Shared memory.
  {
    isa.dynamic_smem()
    } -> std::same_as<SmemAddr>;  // start of the CTA's dynamic shared memory (cvta of its symbol)
  { isa.ld_shared_u32(smem) } -> std::same_as<uint32_t>;
  { isa.ld_shared_b128(smem) } -> std::same_as<ClcResponse>;
  { isa.ld_shared_v4(rows) } -> std::same_as<LaneArray<uint32_t, 4>>;   // ld.shared.v4.b32
  isa.st_shared_b128(smem, response);                                   // st.shared.v2.b64
  { isa.ld_shared_b16(rows) } -> std::same_as<LaneArray<uint32_t, 1>>;  // the upper half is 0
  { isa.ld_shared_b32(rows) } -> std::same_as<LaneArray<uint32_t, 1>>;
  isa.st_shared_b16(rows, isa.laneid());  // the lower half of a register
  isa.st_shared_b32(rows, isa.laneid());
  isa.st_shared_v2(rows, r2);
  isa.st_shared_v4(rows, r4);
  isa.st_shared_v4(smem, UniformWords<4>{});  // one address; there in runs without data too
  isa.stmatrix_x2(rows, r2);                  // stmatrix.sync.aligned.m8n8.x2.shared.b16
  isa.stmatrix_x4(rows, r4);
  isa.stmatrix_x2_trans(rows, r2);  // .trans: each 8x8 matrix is stored transposed
  isa.stmatrix_x4_trans(rows, r4);

  // Shared memory of any CTA of the cluster.
  { isa.ld_shared_b32(remotes) } -> std::same_as<LaneArray<uint32_t, 1>>;
  { isa.ld_shared_v4(remotes) } -> std::same_as<LaneArray<uint32_t, 4>>;
  isa.st_shared_b32(remotes, r1);
  isa.st_shared_v2(remotes, r2);
  isa.st_shared_v4(remotes, r4);
  isa.st_async_b32(remotes, r1, remotes);  // each lane's value, then complete_tx at its mbarrier in the same CTA
  isa.st_async_v2(remotes, r2, remotes);
  isa.st_async_v4(remotes, r4, remotes);
  isa.template red_async<ReduceOp::add, ReduceType::u32>(remotes, r1, remotes);
  isa.template red_async<ReduceOp::add, ReduceType::u64>(remotes, wide, remotes);

  // Global memory, generic proxy (9.7.9.11): each lane whose predicate holds stores to its own address.
  { isa.ld_global_b16(globals, p) } -> std::same_as<LaneArray<uint32_t, 1>>;  // 0 where the predicate is false
  { isa.ld_global_b32(globals, p) } -> std::same_as<LaneArray<uint32_t, 1>>;
  { isa.ld_global_v2(globals, p) } -> std::same_as<LaneArray<uint32_t, 2>>;  // ld.global.v2.b32
  { isa.ld_global_v4(globals, p) } -> std::same_as<LaneArray<uint32_t, 4>>;
  isa.st_global_b8(globals, r1, p);   // lowest byte of the register
  isa.st_global_b16(globals, r1, p);  // lower half
  isa.st_global_b32(globals, r1, p);
  { isa.ld_global_v2(globals) } -> std::same_as<LaneArray<uint32_t, 2>>;
  isa.st_global_v2(globals, r2);
  isa.st_global_v4(globals, r4);
  isa.st_global_v8(globals, r8);                                                                  // sm_100
  { isa.mad_wide_u32(isa.laneid(), u, GlobalAddr{}) } -> std::same_as<LaneArray<GlobalAddr, 1>>;  // mad.wide.u32
  { isa.div_u32(u, u) } -> std::same_as<uint32_t>;                // div.u32 of values that all lanes share
  { isa.ld_global_u32(GlobalAddr{}) } -> std::same_as<uint32_t>;  // ld.global.u32, one address
  // ld.global.nc, of one address: tables that the roles' walk depends on; there in runs without data too.
  { isa.ld_global_nc_v4(GlobalAddr{}) } -> std::same_as<UniformWords<4>>;
  { isa.ld_global_nc_b64(GlobalAddr{}) } -> std::same_as<uint64_t>;
  { isa.ld_acquire_gpu_global_u32(GlobalAddr{}) } -> std::same_as<uint32_t>;  // ld.acquire.gpu.global.u32
  isa.st_release_gpu_global_u32(GlobalAddr{}, u);
  // Atomics of each lane on its own address; 64-bit types have LaneArray<uint64_t, 1>.
  {
    isa.template atom_global<ReduceOp::add, ReduceType::u32, MemorySem::acq_rel, MemoryScope::gpu>(globals, r1)
    } -> std::same_as<LaneArray<uint32_t, 1>>;
  {
    isa.template atom_global<ReduceOp::exch, ReduceType::b64, MemorySem::relaxed, MemoryScope::gpu>(globals, wide)
    } -> std::same_as<LaneArray<uint64_t, 1>>;
  {
    isa.template atom_cas_global<ReduceType::b32, MemorySem::acquire, MemoryScope::gpu>(globals, r1, r1)
    } -> std::same_as<LaneArray<uint32_t, 1>>;  // address, compare, value
  isa.template red_global<ReduceOp::add, ReduceType::f32, MemorySem::release, MemoryScope::gpu>(globals, r1);

  // Copies of threads, not bulk (9.7.9.25.3): 16 bytes from each lane's address to its other one, groups of a
  // thread.
  isa.cp_async_cg_shared_global(rows, globals);  // cp.async.cg.shared.global ..., 16
  isa.cp_async_commit_group();
  isa.template cp_async_wait_group<0>();
  isa.cp_async_mbarrier_arrive(smem);  // raises the pending count now, arrives when the lane's copies have landed
  isa.cp_async_mbarrier_arrive_noinc(smem);  // .noinc: one of the arrivals that init counts

  // Tensor copies and bulk groups (9.7.9.25, .27).  A map lies in a kernel parameter or in global memory.
  isa.prefetch_tensormap(map);
  isa.cp_async_bulk_tensor_shared_global(smem, map, coords, smem);  // load, mbarrier completion
  isa.cp_async_bulk_tensor_shared_global_multicast(smem, map, coords, smem, CtaMask{});  // .multicast::cluster
  isa.cp_async_bulk_tensor_shared_global(smem, map, coords, smem,
                                         i);  // cta_group 2: the mbarrier may be the peer's
  isa.cp_async_bulk_tensor_shared_global_multicast(smem, map, coords, smem, CtaMask{}, i);
  isa.cp_async_bulk_tensor_global_shared(map, coords, smem);  // store, bulk group
  isa.cp_async_bulk_tensor_shared_global(smem, map, coords, smem,
                                         policy);  // .L2::cache_hint, also of the multicast
  isa.cp_async_bulk_tensor_shared_global_multicast(smem, map, coords, smem, CtaMask{}, policy);
  isa.cp_async_bulk_tensor_global_shared(map, coords, smem, policy);
  isa.template cp_reduce_async_bulk_tensor_global_shared<ReduceOp::add>(map, coords, smem);  // type by the map
  isa.cp_async_bulk_prefetch_tensor_l2(map, coords);
  isa.cp_async_bulk_tensor_shared_global(smem, GlobalAddr{}, coords, smem, i);
  isa.cp_async_bulk_tensor_global_shared(GlobalAddr{}, coords, smem);
  isa.cp_async_bulk_commit_group();
  isa.template cp_async_bulk_wait_group_read<0>();
  isa.template cp_async_bulk_wait_group<0>();

  // Bulk copies of bytes (9.7.9.25): loads and copies between CTAs complete at an mbarrier, stores are of a bulk
  // group. The last operand may be an L2CachePolicy.
  isa.cp_async_bulk_shared_global(smem, GlobalAddr{}, u, smem);
  isa.cp_async_bulk_shared_global_multicast(smem, GlobalAddr{}, u, smem, CtaMask{});
  isa.cp_async_bulk_global_shared(GlobalAddr{}, smem, u);
  isa.cp_async_bulk_global_shared_cp_mask(GlobalAddr{}, smem, u, uint16_t{0xffff});  // bytes of each 16
  isa.cp_async_bulk_shared_cluster(remote, smem, u, remote);
  isa.template cp_reduce_async_bulk_global_shared<ReduceOp::add, ReduceType::f32>(GlobalAddr{}, smem, u);
  isa.template cp_reduce_async_bulk_shared_cluster<ReduceOp::add, ReduceType::u32>(remote, smem, u, remote);
  isa.cp_async_bulk_prefetch_l2(GlobalAddr{}, u);
  // Edits of tensor maps in shared or global memory, and the tensormap proxy (9.7.9.27, 9.7.13).
  isa.tensormap_replace_global_address(smem, uint64_t{});
  isa.tensormap_replace_global_address(GlobalAddr{}, uint64_t{});
  isa.tensormap_replace_rank(smem, u);  // rank - 1
  isa.tensormap_replace_rank(GlobalAddr{}, u);
  isa.template tensormap_replace_box_dim<0>(smem, u);
  isa.template tensormap_replace_box_dim<0>(GlobalAddr{}, u);
  isa.template tensormap_replace_global_dim<4>(smem, u);
  isa.template tensormap_replace_global_dim<4>(GlobalAddr{}, u);
  isa.template tensormap_replace_global_stride<3>(smem, uint64_t{});  // bytes, of dimension 4
  isa.template tensormap_replace_global_stride<3>(GlobalAddr{}, uint64_t{});
  isa.template tensormap_replace_element_stride<0>(smem, u);
  isa.template tensormap_replace_element_stride<0>(GlobalAddr{}, u);
  isa.template tensormap_replace_elemtype<TensorMapElemtype::bf16>(smem);
  isa.template tensormap_replace_elemtype<TensorMapElemtype::bf16>(GlobalAddr{});
  isa.template tensormap_replace_interleave_layout<TensorMapInterleave::none>(smem);
  isa.template tensormap_replace_interleave_layout<TensorMapInterleave::none>(GlobalAddr{});
  isa.template tensormap_replace_swizzle_mode<TensorMapSwizzleMode::b128>(smem);
  isa.template tensormap_replace_swizzle_mode<TensorMapSwizzleMode::b128>(GlobalAddr{});
  isa.template tensormap_replace_swizzle_atomicity<TensorMapSwizzleAtomicity::b32>(smem);
  isa.template tensormap_replace_swizzle_atomicity<TensorMapSwizzleAtomicity::b32>(GlobalAddr{});
  isa.template tensormap_replace_fill_mode<TensorMapOobFill::none>(smem);
  isa.template tensormap_replace_fill_mode<TensorMapOobFill::none>(GlobalAddr{});
  isa.tensormap_cp_fenceproxy(GlobalAddr{}, smem, MemoryScope::gpu);  // 128 bytes to global memory, released
  isa.fence_proxy_tensormap_release(MemoryScope::gpu);
  isa.fence_proxy_tensormap_acquire(GlobalAddr{}, MemoryScope::gpu);  // of 128 bytes

  // tcgen05 (9.7.16).
  isa.tcgen05_alloc(smem, u, i);  // columns, cta_group
  isa.tcgen05_dealloc(tmem, u, i);
  isa.tcgen05_relinquish_alloc_permit(i);
  isa.tcgen05_mma(MmaKind::f16, i, tmem, sdesc, sdesc, idesc, true);  // D, A, B, idesc, enable-input-d
  isa.tcgen05_mma(MmaKind::f16, i, tmem, tmem, sdesc, idesc, true);   // A from tensor memory
  isa.tcgen05_mma_block_scale(MmaKind::mxf8f6f4, i, ScaleVec::x1, tmem, sdesc, sdesc, idesc, tmem, tmem,
                              true);  // ..., SFA, SFB, ...
  isa.tcgen05_mma_block_scale(MmaKind::mxf4nvf4, i, ScaleVec::x4, tmem, tmem, sdesc, idesc, tmem, tmem, true);
  isa.tcgen05_cp(TmemCopyShape::s32x128b_warpx4, i, tmem, sdesc);  // shape, cta_group, taddr, source
  isa.tcgen05_cp(TmemCopyShape::s128x256b, i, tmem, sdesc, TmemDecompression::b4x16_p64);
  isa.tcgen05_commit(i, smem);
  isa.tcgen05_commit_multicast(i, smem, CtaMask{});  // .multicast::cluster
  { isa.template tcgen05_ld_16x256b<1>(tmem) } -> std::same_as<LaneArray<uint32_t, 4>>;
  { isa.template tcgen05_ld_16x256b<4>(tmem) } -> std::same_as<LaneArray<uint32_t, 16>>;
  { isa.template tcgen05_ld_32x32b<8>(tmem) } -> std::same_as<LaneArray<uint32_t, 8>>;
  isa.tcgen05_wait_ld();
  isa.tcgen05_wait_ld(r4);  // names the registers that are defined from here on
  isa.tcgen05_wait_ld(r4, r4);
  isa.tcgen05_st_16x256b(tmem, r4);
  isa.tcgen05_st_32x32b(tmem, r4);
  isa.tcgen05_wait_st();
  isa.tcgen05_fence_before_thread_sync();
  isa.tcgen05_fence_after_thread_sync();

  // wgmma of sm_90a (Asynchronous warpgroup level matrix instructions): by all four warps of a warpgroup.  The sums
  // are not to be touched between the first wgmma.mma_async and a wait that covers the last one.
  isa.wgmma_fence();
  isa.wgmma_fence(sums);
  isa.template wgmma_mma_async<WgmmaForm{.n = 128}>(sums, sdesc, sdesc, true);  // scale-d: adds to the sums
  isa.wgmma_commit_group();
  isa.template wgmma_wait_group<0>();
  isa.template wgmma_wait_group<0>(sums);

  // Cluster launch control (9.7.13.17, .18).
  isa.clusterlaunchcontrol_try_cancel(smem, smem);            // response, mbarrier
  isa.clusterlaunchcontrol_try_cancel_multicast(smem, smem);  // .multicast::cluster::all
  { isa.clusterlaunchcontrol_query_cancel_is_canceled(response) } -> std::same_as<bool>;
  { isa.clusterlaunchcontrol_query_cancel_get_first_ctaid(response) } -> std::same_as<Dim3>;

  // Trace points.
  isa.trace_begin(TraceEvent::tile, TraceArgs{});
  isa.trace_end();
};

}  // namespace sm100
