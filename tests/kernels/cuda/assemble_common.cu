// SPDX-License-Identifier: Apache-2.0
// Every seam function that sm_90a and sm_100a share, one kernel per family: a wrong spelling fails the build.
// Scopes and groups are template parameters, as role code has them; results are stored so that nothing is dropped.
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
             as_bits(isa.cvt_f32_f16(uint32_t(i)));
  });
  isa.elected([&] { out[32] = id.x + grid.y; });
  isa.lanes_below(3, [&] { out[33 + lane[0][0]] = isa.cluster_ctarank(); });
  isa.bar_warp_sync();
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
  isa.st_shared_b32(rows, isa.laneid());
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

__global__ void recorder(const __grid_constant__ DeviceTrace trace, int stage) {
  Sm100<DeviceRecorder> isa{DeviceRecorder{trace}};
  static_assert(Isa<Sm100<DeviceRecorder>>);
  TraceSpan span{isa, TraceEvent::wait, {.barrier = isa.dynamic_smem(), .stage = stage, .phase = 3, .bytes = 16}};
}

}  // namespace sm100
