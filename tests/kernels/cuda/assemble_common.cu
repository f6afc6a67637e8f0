// SPDX-License-Identifier: Apache-2.0
// Every seam function that sm_90a and sm_100a share, one kernel per family: a wrong spelling fails the build.
// Scopes and groups are template parameters, as role code has them; results are stored so that nothing is dropped.
#include <type_traits>
#include <utility>

#include "kernels/isa/device_recorder.cuh"
#include "kernels/isa/sm100.cuh"

namespace sm100 {

__global__ void lanes(uint32_t* out) {
  Sm100<> isa;
  const Dim3 id = isa.ctaid(), grid = isa.nctaid();
  const LaneArray<uint32_t, 1> lane = isa.laneid();
  isa.for_each_lane(1, [&](int i) {
    out[i] = isa.cvt_rn_bf16x2_f32(float(i), 2.f) ^ isa.cvt_rn_f16x2_f32(float(i), 2.f) ^
             isa.cvt_rn_satfinite_e4m3x2_f32(float(i), 2.f) ^ isa.cvt_rn_satfinite_e5m2x2_f32(float(i), 2.f) ^
             isa.cvt_rn_f16x2_e4m3x2(uint32_t(i)) ^ isa.cvt_rn_f16x2_e5m2x2(uint32_t(i)) ^
             as_bits(isa.cvt_f32_f16(uint32_t(i))) ^ as_bits(isa.max_nan_f32(float(i), 2.f)) ^
             as_bits(isa.min_nan_f32(float(i), 2.f));
  });
  isa.elected([&] { out[32] = id.x + grid.y; });
  isa.lanes_below(3, [&] { out[33 + lane[0][0]] = isa.cluster_ctarank(); });
  isa.bar_warp_sync();
  out[65 + lane[0][0]] = isa.shfl_sync_bfly_b32(lane, 8)[0][0];
  out[64] = uint32_t(isa.warpid());
}

template <Scope kScope>
__global__ void mbarriers(uint32_t* out) {
  Sm100<> isa;
  const SmemAddr barrier = isa.dynamic_smem();
  isa.mbarrier_init(barrier, 1);
  isa.fence_mbarrier_init();
  isa.mbarrier_arrive(barrier, kScope);
  isa.mbarrier_arrive(isa.mapa(barrier, 1u), kScope);
  isa.mbarrier_arrive(isa.mapa(barrier, isa.laneid()), kScope);
  isa.mbarrier_arrive_expect_tx(barrier, 16, kScope);
  isa.mbarrier_expect_tx(barrier, 16, kScope);
  isa.mbarrier_arrive_expect_tx(isa.mapa(barrier, isa.laneid()), 16, kScope);
  while (!isa.mbarrier_try_wait_parity(barrier, out[0] & 1, kScope)) {}
  out[1] = isa.mbarrier_test_wait_parity(barrier, out[0] & 1, kScope);
}
template __global__ void mbarriers<Scope::cta>(uint32_t*);
template <Scope kScope>
__global__ void mbarrier_states(uint32_t* out) {
  Sm100<> isa;
  const SmemAddr barrier = isa.dynamic_smem();
  const ClusterSmemAddr remote = isa.mapa(barrier, 1u);
  isa.mbarrier_init(barrier, 9);
  isa.mbarrier_arrive(remote, 2u, kScope);
  out[0] = isa.mbarrier_pending_count(isa.mbarrier_arrive_no_complete(barrier, 1))[0][0];
  out[1] = isa.mbarrier_pending_count(isa.mbarrier_arrive_drop_no_complete(barrier, 1))[0][0];
  isa.mbarrier_arrive_drop(remote, 1, kScope);
  isa.mbarrier_arrive_drop_expect_tx(remote, 16, kScope);
  isa.mbarrier_expect_tx(remote, 16, kScope);
  isa.mbarrier_complete_tx(remote, 16, kScope);
  isa.mbarrier_complete_tx(barrier, 16, kScope);
  const auto dropped = isa.mbarrier_arrive_drop(barrier, 1, kScope);
  out[2] = isa.mbarrier_test_wait(barrier, dropped, kScope);
  out[3] = isa.mbarrier_test_wait(barrier, isa.mbarrier_arrive_drop_expect_tx(barrier, 16, kScope), kScope);
  out[4] = isa.mbarrier_test_wait(barrier, isa.mbarrier_arrive_expect_tx_state(barrier, 16, kScope), kScope);
  while (!isa.mbarrier_try_wait(barrier, isa.mbarrier_arrive_state(barrier, 2, kScope), kScope)) {}
  isa.mbarrier_inval(barrier);
}
template __global__ void mbarrier_states<Scope::cta>(uint32_t*);
template __global__ void mbarrier_states<Scope::cluster>(uint32_t*);
template __global__ void mbarriers<Scope::cluster>(uint32_t*);

__global__ void barriers() {
  Sm100<> isa;
  isa.bar_arrive(1, 64);
  isa.bar_sync(1, 64);
  isa.barrier_cluster_arrive();
  isa.barrier_cluster_wait();
  isa.barrier_cluster_arrive_relaxed();
  isa.barrier_cluster_wait();
  isa.fence_proxy_async_shared_cta();
  isa.griddepcontrol_wait();
  isa.griddepcontrol_launch_dependents();
}

__global__ void global_memory(uint32_t* out) {
  Sm100<> isa;
  const LaneArray<uint32_t, 1> lane = isa.laneid();
  LaneArray<GlobalAddr, 1> addresses;
  LaneArray<bool, 1> predicates;
  addresses[0][0] = GlobalAddr{reinterpret_cast<uint64_t>(out)} + 4 * lane[0][0];
  predicates[0][0] = lane[0][0] < 7;
  isa.st_global_b32(addresses, isa.ld_global_b16(addresses, predicates), predicates);
  isa.st_global_b32(addresses, isa.ld_global_b32(addresses, predicates), predicates);
  isa.st_global_v2(addresses, isa.ld_global_v2(addresses, predicates));
  isa.st_global_v4(addresses, isa.ld_global_v4(addresses, predicates));
  LaneArray<uint32_t, 1> sum{};
  for (uint32_t word : isa.ld_global_v4(addresses, predicates)[0]) sum[0][0] += word;
  isa.st_global_b32(addresses, sum, predicates);
  sum[0][0] = isa.ld_global_u32(addresses[0][0]);
  isa.st_global_b32(addresses, sum, predicates);
  isa.st_global_b8(addresses, lane, predicates);
  isa.st_global_b16(addresses, lane, predicates);
  isa.st_global_b32(addresses, lane, predicates);
}

__global__ void copies_of_threads(const uint32_t* in) {
  Sm100<> isa;
  const SmemAddr base = isa.dynamic_smem();
  LaneArray<SmemAddr, 1> to;
  LaneArray<GlobalAddr, 1> from;
  to[0][0] = base + 16 * isa.laneid()[0][0];
  from[0][0] = GlobalAddr{reinterpret_cast<uint64_t>(in)} + 16 * isa.laneid()[0][0];
  isa.cp_async_cg_shared_global(to, from);
  isa.cp_async_commit_group();
  isa.cp_async_wait_group<0>();
  isa.cp_async_mbarrier_arrive(base);
  isa.cp_async_mbarrier_arrive_noinc(base);
}

__global__ void shared_memory(uint32_t* out) {
  Sm100<> isa;
  const SmemAddr base = isa.dynamic_smem();
  LaneArray<SmemAddr, 1> rows;
  rows[0][0] = base + 16 * isa.laneid()[0][0];
  LaneArray<uint32_t, 4> v4 = isa.ld_shared_v4(rows);
  LaneArray<uint32_t, 2> v2;
  v2[0][0] = isa.ld_shared_u32(base);
  v2[0][1] = uint32_t(isa.ld_shared_b128(base).hi);
  isa.st_shared_v2(rows, v2);
  isa.st_shared_v4(rows, v4);
  isa.st_shared_b128(base, isa.ld_shared_b128(base));
  isa.st_shared_b16(rows, isa.laneid());
  isa.st_shared_b16(rows, isa.ld_shared_b16(rows));
  isa.st_shared_b32(rows, isa.ld_shared_b32(rows));
  isa.stmatrix_x2_trans(rows, v2);
  isa.stmatrix_x4_trans(rows, v4);
  isa.stmatrix_x2(rows, v2);
  isa.stmatrix_x4(rows, v4);
  out[0] = v4[0][3];
}

template <class... C>
__device__ void copies(Sm100<>& isa, const TensorMap& map, C... c) {
  const SmemAddr tile = isa.dynamic_smem(), barrier = tile + 1024;
  isa.cp_async_bulk_tensor_shared_global(tile, &map, TensorCoords{c...}, barrier);
  isa.cp_async_bulk_tensor_shared_global_multicast(tile, &map, TensorCoords{c...}, barrier, CtaMask{3});
  isa.cp_async_bulk_tensor_global_shared(&map, TensorCoords{c...}, tile);
}
__global__ void tensor_copies(const __grid_constant__ TensorMap map, int x) {
  Sm100<> isa;
  isa.prefetch_tensormap(&map);
  copies(isa, map, x);
  copies(isa, map, x, 1);
  copies(isa, map, x, 1, 2);
  copies(isa, map, x, 1, 2, 3);
  copies(isa, map, x, 1, 2, 3, 4);
  isa.cp_async_bulk_commit_group();
  isa.cp_async_bulk_wait_group_read<1>();
  isa.cp_async_bulk_wait_group<0>();
}

__global__ void map_edits(const __grid_constant__ TensorMap map, uint64_t global, uint32_t value) {
  Sm100<> isa;
  const SmemAddr s = isa.dynamic_smem();
  const GlobalAddr g{global};
  isa.tensormap_replace_global_address(s, global);
  isa.tensormap_replace_global_address(g, global);
  isa.tensormap_replace_rank(s, value);
  isa.tensormap_replace_rank(g, value);
  isa.tensormap_replace_box_dim<1>(s, value);
  isa.tensormap_replace_box_dim<1>(g, value);
  isa.tensormap_replace_global_dim<4>(s, value);
  isa.tensormap_replace_global_dim<4>(g, value);
  isa.tensormap_replace_global_stride<3>(s, global);
  isa.tensormap_replace_global_stride<3>(g, global);
  isa.tensormap_replace_element_stride<0>(s, value);
  isa.tensormap_replace_element_stride<0>(g, value);
  isa.tensormap_replace_elemtype<TensorMapElemtype::bf16>(s);
  isa.tensormap_replace_elemtype<TensorMapElemtype::bf16>(g);
  isa.tensormap_replace_interleave_layout<TensorMapInterleave::none>(s);
  isa.tensormap_replace_interleave_layout<TensorMapInterleave::none>(g);
  isa.tensormap_replace_swizzle_mode<TensorMapSwizzleMode::b128>(s);
  isa.tensormap_replace_swizzle_mode<TensorMapSwizzleMode::b128>(g);
  isa.tensormap_replace_fill_mode<TensorMapOobFill::none>(s);
  isa.tensormap_replace_fill_mode<TensorMapOobFill::none>(g);
  isa.tensormap_cp_fenceproxy(g, s, MemoryScope::cta);
  isa.tensormap_cp_fenceproxy(g, s, MemoryScope::cluster);
  isa.tensormap_cp_fenceproxy(g, s, MemoryScope::gpu);
  isa.tensormap_cp_fenceproxy(g, s, MemoryScope::sys);
  isa.fence_proxy_tensormap_release(MemoryScope::cta);
  isa.fence_proxy_tensormap_release(MemoryScope::cluster);
  isa.fence_proxy_tensormap_release(MemoryScope::gpu);
  isa.fence_proxy_tensormap_release(MemoryScope::sys);
  isa.fence_proxy_tensormap_acquire(g, MemoryScope::cta);
  isa.fence_proxy_tensormap_acquire(g, MemoryScope::cluster);
  isa.fence_proxy_tensormap_acquire(g, MemoryScope::gpu);
  isa.fence_proxy_tensormap_acquire(g, MemoryScope::sys);
  isa.cp_async_bulk_tensor_shared_global(s, g, TensorCoords{1, 2}, s + 1024);
  isa.cp_async_bulk_tensor_global_shared(g, TensorCoords{1, 2}, s);
  isa.st_shared_v4(s, isa.ld_global_nc_v4(g));
  isa.st_shared_v4(s, UniformWords<4>{{uint32_t(isa.ld_global_nc_b64(g)), 1, 2, 3}});
}

__global__ void recorder(const __grid_constant__ DeviceTrace trace, int stage) {
  Sm100<DeviceRecorder> isa{DeviceRecorder{trace}};
  static_assert(Isa<Sm100<DeviceRecorder>>);
  TraceSpan span{isa, TraceEvent::wait, {.barrier = isa.dynamic_smem(), .stage = stage, .phase = 3, .bytes = 16}};
}

__global__ void bulk_copies(uint8_t* memory) {
  Sm100<> isa;
  const SmemAddr smem = isa.dynamic_smem();
  const ClusterSmemAddr remote = isa.mapa(smem, 1u);
  const GlobalAddr global{reinterpret_cast<uint64_t>(memory)};
  isa.cp_async_bulk_shared_global(smem, global, 64, smem);
  isa.cp_async_bulk_shared_global(smem, global, 64, smem, kEvictFirst);
  isa.cp_async_bulk_shared_global_multicast(smem, global, 64, smem, CtaMask{3});
  isa.cp_async_bulk_shared_global_multicast(smem, global, 64, smem, CtaMask{3}, kEvictLast);
  isa.cp_async_bulk_global_shared(global, smem, 64);
  isa.cp_async_bulk_global_shared(global, smem, 64, kEvictNormal);
  isa.cp_async_bulk_shared_cluster(remote, smem, 64, remote);
  isa.cp_async_bulk_prefetch_l2(global, 64);
  isa.cp_async_bulk_prefetch_l2(global, 64, kEvictLast);
}

template <int N>
__device__ void tensor_forms(const Sm100<>& isa, const TensorMap* map, const TensorCoords<N>& at) {
  const SmemAddr smem = isa.dynamic_smem();
  isa.cp_async_bulk_tensor_shared_global(smem, map, at, smem, kEvictFirst);
  isa.cp_async_bulk_tensor_shared_global_multicast(smem, map, at, smem, CtaMask{3}, kEvictFirst);
  isa.cp_async_bulk_tensor_global_shared(map, at, smem, kEvictFirst);
  isa.cp_reduce_async_bulk_tensor_global_shared<ReduceOp::add>(map, at, smem);
  isa.cp_reduce_async_bulk_tensor_global_shared<ReduceOp::min>(map, at, smem);
  isa.cp_reduce_async_bulk_tensor_global_shared<ReduceOp::max>(map, at, smem);
  isa.cp_reduce_async_bulk_tensor_global_shared<ReduceOp::inc>(map, at, smem);
  isa.cp_reduce_async_bulk_tensor_global_shared<ReduceOp::dec>(map, at, smem);
  isa.cp_reduce_async_bulk_tensor_global_shared<ReduceOp::bit_and>(map, at, smem);
  isa.cp_reduce_async_bulk_tensor_global_shared<ReduceOp::bit_or>(map, at, smem);
  isa.cp_reduce_async_bulk_tensor_global_shared<ReduceOp::bit_xor>(map, at, smem, kEvictLast);
  isa.cp_async_bulk_prefetch_tensor_l2(map, at);
  isa.cp_async_bulk_prefetch_tensor_l2(map, at, kEvictLast);
}
__global__ void tensor_forms(const __grid_constant__ TensorMap map) {
  Sm100<> isa;
  tensor_forms<1>(isa, &map, {0});
  tensor_forms<2>(isa, &map, {0, 1});
  tensor_forms<3>(isa, &map, {0, 1, 2});
  tensor_forms<4>(isa, &map, {0, 1, 2, 3});
  tensor_forms<5>(isa, &map, {0, 1, 2, 3, 4});
}

/// Every pair of operation and type that the tables of kernels/isa/reduction.h allow.
template <uint32_t kPair>
__device__ void reductions(const Sm100<>& isa, GlobalAddr global, SmemAddr smem, ClusterSmemAddr remote) {
  constexpr ReduceOp kOp = ReduceOp(kPair % 9);
  constexpr ReduceType kType = ReduceType(kPair / 9);
  using Register = std::conditional_t<register_bytes(kType) == 8, uint64_t, uint32_t>;
  LaneArray<Register, 1> value;
  value[0][0] = Register(isa.laneid()[0][0]);
  LaneArray<GlobalAddr, 1> addresses;
  addresses[0][0] = global;
  LaneArray<ClusterSmemAddr, 1> remotes;
  remotes[0][0] = remote;
  if constexpr (kType == ReduceType::none || kType == ReduceType::f32_ftz) {
  } else {
    if constexpr (reduces_global(kOp, kType)) {
      isa.template cp_reduce_async_bulk_global_shared<kOp, kType>(global, smem, 64);
      isa.template cp_reduce_async_bulk_global_shared<kOp, kType>(global, smem, 64, kEvictFirst);
    }
    if constexpr (reduces_shared(kOp, kType)) {
      isa.template cp_reduce_async_bulk_shared_cluster<kOp, kType>(remote, smem, 64, remote);
      isa.template red_async<kOp, kType>(remotes, value, remotes);
    }
    if constexpr (atomic_global(kOp, kType)) {
      value = isa.template atom_global<kOp, kType, MemorySem::acq_rel, MemoryScope::gpu>(addresses, value);
      if constexpr (kOp != ReduceOp::exch)
        isa.template red_global<kOp, kType, MemorySem::release, MemoryScope::sys>(addresses, value);
    }
  }
}
template <uint32_t... kPairs>
__device__ void all_reductions(const Sm100<>& isa, GlobalAddr global, SmemAddr smem, ClusterSmemAddr remote,
                               std::integer_sequence<uint32_t, kPairs...>) {
  (reductions<kPairs>(isa, global, smem, remote), ...);
}
__global__ void reductions(uint32_t* memory) {
  Sm100<> isa;
  constexpr uint32_t kTypes = uint32_t(ReduceType::bf16x2) + 1;
  all_reductions(isa, GlobalAddr{reinterpret_cast<uint64_t>(memory)}, isa.dynamic_smem(),
                 isa.mapa(isa.dynamic_smem(), 1u), std::make_integer_sequence<uint32_t, 9 * kTypes>());
}

__global__ void atomics(uint32_t* memory) {
  Sm100<> isa;
  LaneArray<GlobalAddr, 1> at;
  at[0][0] = GlobalAddr{reinterpret_cast<uint64_t>(memory)};
  const LaneArray<uint32_t, 1> lane = isa.laneid();
  LaneArray<uint32_t, 1> old =
      isa.atom_global<ReduceOp::add, ReduceType::u32, MemorySem::relaxed, MemoryScope::cta>(at, lane);
  old = isa.atom_global<ReduceOp::add, ReduceType::u32, MemorySem::acquire, MemoryScope::cluster>(at, old);
  old = isa.atom_global<ReduceOp::add, ReduceType::u32, MemorySem::release, MemoryScope::sys>(at, old);
  old = isa.atom_cas_global<ReduceType::b32, MemorySem::acq_rel, MemoryScope::gpu>(at, lane, old);
  LaneArray<uint64_t, 1> wide;
  wide[0][0] = old[0][0];
  wide = isa.atom_cas_global<ReduceType::b64, MemorySem::relaxed, MemoryScope::gpu>(at, wide, wide);
  isa.red_global<ReduceOp::add, ReduceType::u64, MemorySem::relaxed, MemoryScope::gpu>(at, wide);
}

__global__ void cluster_memory() {
  Sm100<> isa;
  const LaneArray<ClusterSmemAddr, 1> to = isa.mapa(isa.dynamic_smem(), isa.laneid());
  LaneArray<uint32_t, 2> two;
  two[0][0] = two[0][1] = isa.ld_shared_b32(to)[0][0];
  const LaneArray<uint32_t, 4> four = isa.ld_shared_v4(to);
  isa.st_shared_b32(to, isa.laneid());
  isa.st_shared_v2(to, two);
  isa.st_shared_v4(to, four);
  isa.st_async_b32(to, isa.laneid(), to);
  isa.st_async_v2(to, two, to);
  isa.st_async_v4(to, four, to);
}

}  // namespace sm100
