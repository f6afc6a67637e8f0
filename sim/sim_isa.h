// SPDX-License-Identifier: Apache-2.0
/// The Isa on the SystemC model: a thin façade for role code.  Each function builds the instruction of its name and
/// hands it to the warp's WarpContext with the lanes that are active and the line of the call.
///
/// What is shape of role code and no instruction stands here: which lanes are active (elected, lanes_below),
/// per-lane arithmetic, arrays of registers.
#pragma once

#include <cmath>
#include <utility>

#include "kernels/isa/isa.h"
#include "kernels/isa/number_formats.h"
#include "kernels/isa/register_count.h"
#include "sim/warp_context.h"

namespace sm100::sim {

class SimIsa {
 public:
  /// @param faults  alters instructions; nullptr: nobody does
  SimIsa(Warp& warp, const models::DeviceProfile& profile, FaultInterceptor* faults = nullptr)
      : context_(warp, profile, faults) {}

  /// From now on a trace point costs what the device recorder's instructions cost, the first one `first` more.
  void charge_recorder(double first) { context_.charge_recorder(first); }

  // ---- special registers and lanes
  int warpid() const { return context_.warp.index; }
  Dim3 ctaid() const { return context_.cta.ctaid(); }
  Dim3 nctaid() const { return context_.cta.kernel().grid; }
  uint32_t cluster_ctarank() const { return context_.cluster_ctarank(); }
  LaneArray<uint32_t, 1> laneid() const {
    LaneArray<uint32_t, 1> ids;
    for (int lane = 0; lane < kWarpLanes; ++lane) ids[lane][0] = uint32_t(lane);
    return ids;
  }
  /// Computed without data too: how many lines a store touches decides its time.
  LaneArray<GlobalAddr, 1> mad_wide_u32(const LaneArray<uint32_t, 1>& a, uint32_t b, GlobalAddr c) {
    context_.charge(context_.issue.alu);
    LaneArray<GlobalAddr, 1> sums;
    for (int lane = 0; lane < kWarpLanes; ++lane) sums[lane][0] = c + uint64_t{a[lane][0]} * b;
    return sums;
  }
  uint32_t div_u32(uint32_t a, uint32_t b) {
    context_.charge(context_.issue.division);
    return b == 0 ? ~uint32_t{0} : a / b;
  }
  template <class F>
  void for_each_lane(int instructions, F&& f, Loc loc = Loc::current()) {
    context_.lane_arithmetic(loc);
    context_.charge_private(context_.issue.alu * instructions);
    if (!context_.sm.with_data) return;
    for (int lane = 0; lane < kWarpLanes; ++lane)
      if (active_ >> lane & 1) f(lane);
  }
  /// Computed without data too, and reads no register that an instruction before it writes.
  template <class F>
  void for_each_lane_address(int instructions, F&& f) {
    context_.charge_private(context_.issue.alu * instructions);
    for (int lane = 0; lane < kWarpLanes; ++lane)
      if (active_ >> lane & 1) f(lane);
  }
  template <class F>
  void elected(F&& f, Loc loc = Loc::current()) {
    with_active(execute(instructions::ElectSync{}, loc), f);
  }
  template <class F>
  void lanes_below(int n, F&& f) {
    context_.charge(context_.issue.alu);
    with_active(n >= 32 ? active_ : active_ & ((1u << n) - 1), f);
  }
  void bar_warp_sync(Loc loc = Loc::current()) { execute(instructions::BarWarpSync{}, loc); }
  void lanes_write(LaneAgreement& agreement, Loc loc = Loc::current()) {
    if (active_ == kAllLanes) return;
    agreement.lanes &= active_, agreement.written = loc;
  }
  /// LN1.
  void lanes_read(const LaneAgreement& agreement, Loc loc = Loc::current()) {
    if ((active_ & ~agreement.lanes) != 0) context_.stale_lanes(active_, agreement, loc);
  }
  static uint32_t cvt_rn_bf16x2_f32(float a, float b) { return sm100::cvt_rn_bf16x2_f32(a, b); }
  static float ex2_approx_ftz_f32(float x) { return std::exp2(x); }
  static float rcp_approx_ftz_f32(float x) { return 1 / x; }
  static float fma_rn_f32(float a, float b, float c) { return std::fma(a, b, c); }
  static uint32_t cvt_rn_f16x2_f32(float a, float b) { return sm100::cvt_rn_f16x2_f32(a, b); }
  static uint32_t cvt_rn_satfinite_e4m3x2_f32(float a, float b) {
    return uint32_t(cvt_rn_satfinite_e4m3_f32(a)) << 8 | cvt_rn_satfinite_e4m3_f32(b);
  }
  static uint32_t cvt_rn_satfinite_e5m2x2_f32(float a, float b) {
    return uint32_t(cvt_rn_satfinite_e5m2_f32(a)) << 8 | cvt_rn_satfinite_e5m2_f32(b);
  }
  static float cvt_f32_f16(uint32_t half) { return decode_f16(uint16_t(half)); }
  static uint32_t cvt_rn_f16x2_e4m3x2(uint32_t pair) {
    return sm100::cvt_rn_f16x2_f32(decode_e4m3(uint8_t(pair >> 8)), decode_e4m3(uint8_t(pair)));
  }
  static uint32_t cvt_rn_f16x2_e5m2x2(uint32_t pair) {
    return sm100::cvt_rn_f16x2_f32(decode_e5m2(uint8_t(pair >> 8)), decode_e5m2(uint8_t(pair)));
  }
  static uint32_t cvt_rn_satfinite_e2m1x2_f32(float a, float b) {
    return uint32_t(cvt_rn_satfinite_e2m1_f32(a)) << 4 | cvt_rn_satfinite_e2m1_f32(b);
  }
  static uint32_t cvt_rp_satfinite_ue8m0x2_f32(float a, float b) {
    return uint32_t(cvt_rp_satfinite_ue8m0_f32(a)) << 8 | cvt_rp_satfinite_ue8m0_f32(b);
  }
  static uint32_t cvt_rn_bf16x2_ue8m0x2(uint32_t pair) {
    return sm100::cvt_rn_bf16x2_f32(decode_ue8m0(uint8_t(pair >> 8)), decode_ue8m0(uint8_t(pair)));
  }
  static float max_nan_f32(float a, float b) { return sm100::max_nan_f32(a, b); }
  static float min_nan_f32(float a, float b) { return sm100::min_nan_f32(a, b); }

  // ---- between lanes
  LaneArray<uint32_t, 1> shfl_sync_bfly_b32(const LaneArray<uint32_t, 1>& values, int lane_mask,
                                            Loc loc = Loc::current()) {
    LaneArray<uint32_t, 1> result = values;
    execute(instructions::ShflSyncBfly{&values, lane_mask, &result}, loc);
    return result;
  }
  LaneArray<uint32_t, 1> redux_sync_max_abs_nan_f32(const LaneArray<uint32_t, 1>& values,
                                                    Loc loc = Loc::current()) {
    LaneArray<uint32_t, 1> result = values;
    execute(instructions::ReduxSyncMaxAbsNanF32{&values, &result}, loc);
    return result;
  }

  // ---- mbarrier
  void mbarrier_init(SmemAddr barrier, uint32_t count, Loc loc = Loc::current()) {
    execute(instructions::MbarrierInit{barrier, count}, loc);
  }
  void mbarrier_arrive(SmemAddr barrier, Scope scope, Loc loc = Loc::current()) {
    execute(instructions::MbarrierArrive{barrier, scope}, loc);
  }
  void mbarrier_arrive(ClusterSmemAddr barrier, Scope scope, Loc loc = Loc::current()) {
    execute(instructions::MbarrierArriveRemote{barrier, scope}, loc);
  }
  void mbarrier_arrive(const LaneArray<ClusterSmemAddr, 1>& barriers, Scope scope, Loc loc = Loc::current()) {
    execute(instructions::MbarrierArriveLanes{barriers, scope}, loc);
  }
  void mbarrier_arrive_expect_tx(SmemAddr barrier, uint32_t bytes, Scope scope, Loc loc = Loc::current()) {
    execute(instructions::MbarrierArriveExpectTx{barrier, bytes, scope}, loc);
  }
  void mbarrier_arrive_expect_tx(const LaneArray<ClusterSmemAddr, 1>& barriers, uint32_t bytes, Scope scope,
                                 Loc loc = Loc::current()) {
    execute(instructions::MbarrierArriveExpectTxLanes{barriers, bytes, scope}, loc);
  }
  void mbarrier_expect_tx(SmemAddr barrier, uint32_t bytes, Scope scope, Loc loc = Loc::current()) {
    execute(instructions::MbarrierExpectTx{barrier, bytes, scope}, loc);
  }
  bool mbarrier_try_wait_parity(SmemAddr barrier, uint32_t parity, Scope scope, Loc loc = Loc::current()) {
    return execute(instructions::MbarrierTryWaitParity{barrier, parity, scope}, loc);
  }
  bool mbarrier_test_wait_parity(SmemAddr barrier, uint32_t parity, Scope scope, Loc loc = Loc::current()) {
    return execute(instructions::MbarrierTestWaitParity{barrier, parity, scope}, loc);
  }
  void mbarrier_inval(SmemAddr barrier, Loc loc = Loc::current()) {
    execute(instructions::MbarrierInval{barrier}, loc);
  }
  void mbarrier_arrive(ClusterSmemAddr barrier, uint32_t count, Scope scope, Loc loc = Loc::current()) {
    execute(instructions::MbarrierArriveCountRemote{barrier, count, scope}, loc);
  }
  LaneArray<MbarrierToken, 1> mbarrier_arrive_state(SmemAddr barrier, uint32_t count, Scope scope,
                                                    Loc loc = Loc::current()) {
    return execute(instructions::MbarrierArriveState{barrier, count, scope}, loc);
  }
  LaneArray<MbarrierToken, 1> mbarrier_arrive_expect_tx_state(SmemAddr barrier, uint32_t bytes, Scope scope,
                                                              Loc loc = Loc::current()) {
    return execute(instructions::MbarrierArriveExpectTxState{barrier, bytes, scope}, loc);
  }
  LaneArray<MbarrierToken, 1> mbarrier_arrive_no_complete(SmemAddr barrier, uint32_t count,
                                                          Loc loc = Loc::current()) {
    return execute(instructions::MbarrierArriveNoComplete{barrier, count}, loc);
  }
  LaneArray<MbarrierToken, 1> mbarrier_arrive_drop(SmemAddr barrier, uint32_t count, Scope scope,
                                                   Loc loc = Loc::current()) {
    return execute(instructions::MbarrierArriveDrop{barrier, count, scope}, loc);
  }
  void mbarrier_arrive_drop(ClusterSmemAddr barrier, uint32_t count, Scope scope, Loc loc = Loc::current()) {
    execute(instructions::MbarrierArriveDropRemote{barrier, count, scope}, loc);
  }
  LaneArray<MbarrierToken, 1> mbarrier_arrive_drop_expect_tx(SmemAddr barrier, uint32_t bytes, Scope scope,
                                                             Loc loc = Loc::current()) {
    return execute(instructions::MbarrierArriveDropExpectTx{barrier, bytes, scope}, loc);
  }
  void mbarrier_arrive_drop_expect_tx(ClusterSmemAddr barrier, uint32_t bytes, Scope scope,
                                      Loc loc = Loc::current()) {
    execute(instructions::MbarrierArriveDropExpectTxRemote{barrier, bytes, scope}, loc);
  }
  LaneArray<MbarrierToken, 1> mbarrier_arrive_drop_no_complete(SmemAddr barrier, uint32_t count,
                                                               Loc loc = Loc::current()) {
    return execute(instructions::MbarrierArriveDropNoComplete{barrier, count}, loc);
  }
  void mbarrier_expect_tx(ClusterSmemAddr barrier, uint32_t bytes, Scope scope, Loc loc = Loc::current()) {
    execute(instructions::MbarrierExpectTxRemote{barrier, bytes, scope}, loc);
  }
  void mbarrier_complete_tx(SmemAddr barrier, uint32_t bytes, Scope scope, Loc loc = Loc::current()) {
    execute(instructions::MbarrierCompleteTx{barrier, bytes, scope}, loc);
  }
  void mbarrier_complete_tx(ClusterSmemAddr barrier, uint32_t bytes, Scope scope, Loc loc = Loc::current()) {
    execute(instructions::MbarrierCompleteTxRemote{barrier, bytes, scope}, loc);
  }
  bool mbarrier_test_wait(SmemAddr barrier, const LaneArray<MbarrierToken, 1>& states, Scope scope,
                          Loc loc = Loc::current()) {
    return execute(instructions::MbarrierTestWait{barrier, states, scope}, loc);
  }
  bool mbarrier_try_wait(SmemAddr barrier, const LaneArray<MbarrierToken, 1>& states, Scope scope,
                         Loc loc = Loc::current()) {
    return execute(instructions::MbarrierTryWait{barrier, states, scope}, loc);
  }
  LaneArray<uint32_t, 1> mbarrier_pending_count(const LaneArray<MbarrierToken, 1>& states,
                                                Loc loc = Loc::current()) {
    return execute(instructions::MbarrierPendingCount{states}, loc);
  }
  void fence_mbarrier_init(Loc loc = Loc::current()) { execute(instructions::FenceMbarrierInit{}, loc); }
  ClusterSmemAddr mapa(SmemAddr address, uint32_t rank, Loc loc = Loc::current()) {
    return execute(instructions::Mapa{address, rank}, loc);
  }
  LaneArray<ClusterSmemAddr, 1> mapa(SmemAddr address, const LaneArray<uint32_t, 1>& ranks,
                                     Loc loc = Loc::current()) {
    return execute(instructions::MapaLanes{address, ranks}, loc);
  }

  // ---- CTA and cluster barriers, fences
  void bar_sync(int id, int threads, Loc loc = Loc::current()) { execute(instructions::BarSync{id, threads}, loc); }
  void bar_arrive(int id, int threads, Loc loc = Loc::current()) {
    execute(instructions::BarArrive{id, threads}, loc);
  }
  void barrier_cluster_arrive(Loc loc = Loc::current()) { execute(instructions::BarrierClusterArrive{}, loc); }
  void barrier_cluster_arrive_relaxed(Loc loc = Loc::current()) {
    execute(instructions::BarrierClusterArriveRelaxed{}, loc);
  }
  void barrier_cluster_wait(Loc loc = Loc::current()) { execute(instructions::BarrierClusterWait{}, loc); }
  void fence_proxy_async_shared_cta(Loc loc = Loc::current()) {
    execute(instructions::FenceProxyAsyncSharedCta{}, loc);
  }

  // ---- programmatic dependent launch
  void griddepcontrol_wait(Loc loc = Loc::current()) { execute(instructions::GriddepcontrolWait{}, loc); }
  void griddepcontrol_launch_dependents(Loc loc = Loc::current()) {
    execute(instructions::GriddepcontrolLaunchDependents{}, loc);
  }

  // ---- registers
  template <int N>
  void setmaxnreg_inc(Loc loc = Loc::current()) {
    static_assert(register_count_allowed(N), "setmaxnreg takes multiples of 8 from 24 to 256");
    execute(instructions::SetmaxnregInc{N}, loc);
  }
  template <int N>
  void setmaxnreg_dec(Loc loc = Loc::current()) {
    static_assert(register_count_allowed(N), "setmaxnreg takes multiples of 8 from 24 to 256");
    execute(instructions::SetmaxnregDec{N}, loc);
  }

  // ---- shared memory
  SmemAddr dynamic_smem() const { return {cluster_ctarank() << kClusterRankShift | kSmemUserBase}; }
  uint32_t ld_shared_u32(SmemAddr address, Loc loc = Loc::current()) {
    return execute(instructions::LdSharedU32{address}, loc);
  }
  ClcResponse ld_shared_b128(SmemAddr address, Loc loc = Loc::current()) {
    return execute(instructions::LdSharedB128{address}, loc);
  }
  LaneArray<uint32_t, 4> ld_shared_v4(const LaneArray<SmemAddr, 1>& addresses, Loc loc = Loc::current()) {
    LaneArray<uint32_t, 4> values;
    execute(instructions::LdSharedV4{&addresses, &values[0][0]}, loc);
    return values;
  }
  LaneArray<uint32_t, 1> ld_shared_b32(const LaneArray<SmemAddr, 1>& addresses, Loc loc = Loc::current()) {
    LaneArray<uint32_t, 1> value;
    execute(instructions::LdSharedB32{&addresses, &value[0][0]}, loc);
    return value;
  }
  LaneArray<uint32_t, 1> ld_shared_b16(const LaneArray<SmemAddr, 1>& addresses, Loc loc = Loc::current()) {
    LaneArray<uint32_t, 1> value;
    execute(instructions::LdSharedB16{&addresses, &value[0][0]}, loc);
    return value;
  }
  void st_shared_b16(const LaneArray<SmemAddr, 1>& addresses, const LaneArray<uint32_t, 1>& values,
                     Loc loc = Loc::current()) {
    execute(instructions::StShared{2, &addresses, &values[0][0]}, loc);
  }
  void st_shared_b32(const LaneArray<SmemAddr, 1>& addresses, const LaneArray<uint32_t, 1>& values,
                     Loc loc = Loc::current()) {
    execute(instructions::StShared{4, &addresses, &values[0][0]}, loc);
  }
  void st_shared_v2(const LaneArray<SmemAddr, 1>& addresses, const LaneArray<uint32_t, 2>& values,
                    Loc loc = Loc::current()) {
    execute(instructions::StShared{8, &addresses, &values[0][0]}, loc);
  }
  void st_shared_v4(const LaneArray<SmemAddr, 1>& addresses, const LaneArray<uint32_t, 4>& values,
                    Loc loc = Loc::current()) {
    execute(instructions::StShared{16, &addresses, &values[0][0]}, loc);
  }
  void st_shared_b128(SmemAddr address, const ClcResponse& value, Loc loc = Loc::current()) {
    execute(instructions::StSharedB128{address, value}, loc);
  }
  void st_shared_v4(SmemAddr address, const UniformWords<4>& words, Loc loc = Loc::current()) {
    execute(instructions::StSharedUniform{address, words}, loc);
  }
  void stmatrix_x2(const LaneArray<SmemAddr, 1>& rows, const LaneArray<uint32_t, 2>& values,
                   Loc loc = Loc::current()) {
    execute(instructions::Stmatrix{&rows, &values[0][0], 2, false}, loc);
  }
  void stmatrix_x4(const LaneArray<SmemAddr, 1>& rows, const LaneArray<uint32_t, 4>& values,
                   Loc loc = Loc::current()) {
    execute(instructions::Stmatrix{&rows, &values[0][0], 4, false}, loc);
  }
  void stmatrix_x2_trans(const LaneArray<SmemAddr, 1>& rows, const LaneArray<uint32_t, 2>& values,
                         Loc loc = Loc::current()) {
    execute(instructions::Stmatrix{&rows, &values[0][0], 2, true}, loc);
  }
  void stmatrix_x4_trans(const LaneArray<SmemAddr, 1>& rows, const LaneArray<uint32_t, 4>& values,
                         Loc loc = Loc::current()) {
    execute(instructions::Stmatrix{&rows, &values[0][0], 4, true}, loc);
  }

  // ---- shared memory of any CTA of the cluster
  LaneArray<uint32_t, 1> ld_shared_b32(const LaneArray<ClusterSmemAddr, 1>& addresses, Loc loc = Loc::current()) {
    LaneArray<uint32_t, 1> values{};
    execute(instructions::LdSharedCluster{4, &addresses, &values[0][0]}, loc);
    return values;
  }
  LaneArray<uint32_t, 4> ld_shared_v4(const LaneArray<ClusterSmemAddr, 1>& addresses, Loc loc = Loc::current()) {
    LaneArray<uint32_t, 4> values{};
    execute(instructions::LdSharedCluster{16, &addresses, &values[0][0]}, loc);
    return values;
  }
  void st_shared_b32(const LaneArray<ClusterSmemAddr, 1>& addresses, const LaneArray<uint32_t, 1>& values,
                     Loc loc = Loc::current()) {
    execute(instructions::StSharedCluster{4, &addresses, &values[0][0]}, loc);
  }
  void st_shared_v2(const LaneArray<ClusterSmemAddr, 1>& addresses, const LaneArray<uint32_t, 2>& values,
                    Loc loc = Loc::current()) {
    execute(instructions::StSharedCluster{8, &addresses, &values[0][0]}, loc);
  }
  void st_shared_v4(const LaneArray<ClusterSmemAddr, 1>& addresses, const LaneArray<uint32_t, 4>& values,
                    Loc loc = Loc::current()) {
    execute(instructions::StSharedCluster{16, &addresses, &values[0][0]}, loc);
  }
  void st_async_b32(const LaneArray<ClusterSmemAddr, 1>& addresses, const LaneArray<uint32_t, 1>& values,
                    const LaneArray<ClusterSmemAddr, 1>& barriers, Loc loc = Loc::current()) {
    execute(instructions::StAsync{4, &addresses, &values[0][0], barriers}, loc);
  }
  void st_async_v2(const LaneArray<ClusterSmemAddr, 1>& addresses, const LaneArray<uint32_t, 2>& values,
                   const LaneArray<ClusterSmemAddr, 1>& barriers, Loc loc = Loc::current()) {
    execute(instructions::StAsync{8, &addresses, &values[0][0], barriers}, loc);
  }
  void st_async_v4(const LaneArray<ClusterSmemAddr, 1>& addresses, const LaneArray<uint32_t, 4>& values,
                   const LaneArray<ClusterSmemAddr, 1>& barriers, Loc loc = Loc::current()) {
    execute(instructions::StAsync{16, &addresses, &values[0][0], barriers}, loc);
  }
  template <ReduceOp kOp, ReduceType kType, class T>
  void red_async(const LaneArray<ClusterSmemAddr, 1>& addresses, const LaneArray<T, 1>& values,
                 const LaneArray<ClusterSmemAddr, 1>& barriers, Loc loc = Loc::current()) {
    static_assert(reduces_shared(kOp, kType), "red.async has no such reduction");
    static_assert(sizeof(T) == bytes_of(kType));
    execute(instructions::RedAsync{kOp, kType, &addresses, &values[0][0], barriers}, loc);
  }

  // ---- global memory
  LaneArray<uint32_t, 1> ld_global_b16(const LaneArray<GlobalAddr, 1>& addresses,
                                       const LaneArray<bool, 1>& predicates, Loc loc = Loc::current()) {
    return ld_global<1>(2, addresses, &predicates, loc);
  }
  LaneArray<uint32_t, 1> ld_global_b32(const LaneArray<GlobalAddr, 1>& addresses,
                                       const LaneArray<bool, 1>& predicates, Loc loc = Loc::current()) {
    return ld_global<1>(4, addresses, &predicates, loc);
  }
  LaneArray<uint32_t, 2> ld_global_v2(const LaneArray<GlobalAddr, 1>& addresses,
                                      const LaneArray<bool, 1>& predicates, Loc loc = Loc::current()) {
    return ld_global<2>(8, addresses, &predicates, loc);
  }
  LaneArray<uint32_t, 4> ld_global_v4(const LaneArray<GlobalAddr, 1>& addresses,
                                      const LaneArray<bool, 1>& predicates, Loc loc = Loc::current()) {
    return ld_global<4>(16, addresses, &predicates, loc);
  }
  LaneArray<uint32_t, 2> ld_global_v2(const LaneArray<GlobalAddr, 1>& addresses, Loc loc = Loc::current()) {
    return ld_global<2>(8, addresses, nullptr, loc);
  }
  void st_global_b8(const LaneArray<GlobalAddr, 1>& addresses, const LaneArray<uint32_t, 1>& values,
                    const LaneArray<bool, 1>& predicates, Loc loc = Loc::current()) {
    execute(instructions::StGlobal{1, &addresses, &predicates, &values[0][0]}, loc);
  }
  void st_global_b16(const LaneArray<GlobalAddr, 1>& addresses, const LaneArray<uint32_t, 1>& values,
                     const LaneArray<bool, 1>& predicates, Loc loc = Loc::current()) {
    execute(instructions::StGlobal{2, &addresses, &predicates, &values[0][0]}, loc);
  }
  void st_global_b32(const LaneArray<GlobalAddr, 1>& addresses, const LaneArray<uint32_t, 1>& values,
                     const LaneArray<bool, 1>& predicates, Loc loc = Loc::current()) {
    execute(instructions::StGlobal{4, &addresses, &predicates, &values[0][0]}, loc);
  }
  void st_global_v2(const LaneArray<GlobalAddr, 1>& addresses, const LaneArray<uint32_t, 2>& values,
                    Loc loc = Loc::current()) {
    execute(instructions::StGlobal{8, &addresses, nullptr, &values[0][0]}, loc);
  }
  void st_global_v4(const LaneArray<GlobalAddr, 1>& addresses, const LaneArray<uint32_t, 4>& values,
                    Loc loc = Loc::current()) {
    execute(instructions::StGlobal{16, &addresses, nullptr, &values[0][0]}, loc);
  }
  void st_global_v8(const LaneArray<GlobalAddr, 1>& addresses, const LaneArray<uint32_t, 8>& values,
                    Loc loc = Loc::current()) {
    execute(instructions::StGlobal{32, &addresses, nullptr, &values[0][0]}, loc);
  }
  uint32_t ld_global_u32(GlobalAddr address, Loc loc = Loc::current()) {
    return execute(instructions::LdGlobalU32{address}, loc);
  }
  UniformWords<4> ld_global_nc_v4(GlobalAddr address, Loc loc = Loc::current()) {
    return execute(instructions::LdGlobalNcV4{address}, loc);
  }
  uint64_t ld_global_nc_b64(GlobalAddr address, Loc loc = Loc::current()) {
    const UniformWords<2> words = execute(instructions::LdGlobalNcB64{address}, loc);
    return uint64_t{words.w[1]} << 32 | words.w[0];
  }
  uint32_t ld_acquire_gpu_global_u32(GlobalAddr address, Loc loc = Loc::current()) {
    return execute(instructions::LdAcquireGpuGlobalU32{address}, loc);
  }
  void st_release_gpu_global_u32(GlobalAddr address, uint32_t value, Loc loc = Loc::current()) {
    execute(instructions::StReleaseGpuGlobalU32{address, value}, loc);
  }

  template <ReduceOp kOp, ReduceType kType, MemorySem kSem, MemoryScope kScope, class T>
  LaneArray<T, 1> atom_global(const LaneArray<GlobalAddr, 1>& addresses, const LaneArray<T, 1>& values,
                              Loc loc = Loc::current()) {
    static_assert(atomic_global(kOp, kType), "atom.global has no such operation");
    static_assert(sizeof(T) == register_bytes(kType));
    LaneArray<T, 1> old{};
    execute(instructions::AtomGlobal{{kOp, kType, kSem, kScope, &addresses, &values[0][0]}, &old[0][0]}, loc);
    return old;
  }
  template <ReduceOp kOp, ReduceType kType, MemorySem kSem, MemoryScope kScope, class T>
  void red_global(const LaneArray<GlobalAddr, 1>& addresses, const LaneArray<T, 1>& values,
                  Loc loc = Loc::current()) {
    static_assert(atomic_global(kOp, kType) && kOp != ReduceOp::exch, "red.global has no such operation");
    static_assert(kSem == MemorySem::relaxed || kSem == MemorySem::release, "red has .relaxed and .release");
    static_assert(sizeof(T) == register_bytes(kType));
    execute(instructions::RedGlobal{{kOp, kType, kSem, kScope, &addresses, &values[0][0]}}, loc);
  }
  template <ReduceType kType, MemorySem kSem, MemoryScope kScope, class T>
  LaneArray<T, 1> atom_cas_global(const LaneArray<GlobalAddr, 1>& addresses, const LaneArray<T, 1>& compare,
                                  const LaneArray<T, 1>& values, Loc loc = Loc::current()) {
    static_assert(kType == ReduceType::b32 || kType == ReduceType::b64, "atom.cas has .b32 and .b64 here");
    static_assert(sizeof(T) == register_bytes(kType));
    LaneArray<T, 1> old{};
    execute(
        instructions::AtomCasGlobal{
            {ReduceOp::exch, kType, kSem, kScope, &addresses, &values[0][0]}, &compare[0][0], &old[0][0]},
        loc);
    return old;
  }

  // ---- copies of threads, not bulk
  void cp_async_cg_shared_global(const LaneArray<SmemAddr, 1>& dst, const LaneArray<GlobalAddr, 1>& src,
                                 Loc loc = Loc::current()) {
    execute(instructions::CpAsyncCgSharedGlobal{&dst, &src}, loc);
  }
  void cp_async_commit_group(Loc loc = Loc::current()) { execute(instructions::CpAsyncCommitGroup{}, loc); }
  template <int N>
  void cp_async_wait_group(Loc loc = Loc::current()) {
    execute(instructions::CpAsyncWaitGroup{N}, loc);
  }
  void cp_async_mbarrier_arrive(SmemAddr barrier, Loc loc = Loc::current()) {
    execute(instructions::CpAsyncMbarrierArrive{barrier, false}, loc);
  }
  void cp_async_mbarrier_arrive_noinc(SmemAddr barrier, Loc loc = Loc::current()) {
    execute(instructions::CpAsyncMbarrierArrive{barrier, true}, loc);
  }

  // ---- tensor copies and bulk groups
  void prefetch_tensormap(TensorMapAddr map) { execute(instructions::PrefetchTensormap{map}, {}); }
  template <int N>
  void cp_async_bulk_tensor_shared_global(SmemAddr dst, TensorMapAddr map, TensorCoords<N> coords, SmemAddr barrier,
                                          int cta_group = 1, Loc loc = Loc::current()) {
    execute(instructions::CpAsyncBulkTensorSharedGlobal{dst, map, coords, barrier, cta_group}, loc);
  }
  template <int N>
  void cp_async_bulk_tensor_shared_global_multicast(SmemAddr dst, TensorMapAddr map, TensorCoords<N> coords,
                                                    SmemAddr barrier, CtaMask mask, int cta_group = 1,
                                                    Loc loc = Loc::current()) {
    execute(instructions::CpAsyncBulkTensorSharedGlobalMulticast{dst, map, coords, barrier, mask, cta_group}, loc);
  }
  template <int N>
  void cp_async_bulk_tensor_global_shared(TensorMapAddr map, TensorCoords<N> coords, SmemAddr src,
                                          Loc loc = Loc::current()) {
    execute(instructions::CpAsyncBulkTensorGlobalShared{map, coords, src}, loc);
  }
  // ---- hints and reductions of tensor copies; a hint changes nothing
  template <int N>
  void cp_async_bulk_tensor_shared_global(SmemAddr dst, const TensorMap* map, TensorCoords<N> coords,
                                          SmemAddr barrier, L2CachePolicy, int cta_group = 1,
                                          Loc loc = Loc::current()) {
    cp_async_bulk_tensor_shared_global(dst, map, coords, barrier, cta_group, loc);
  }
  template <int N>
  void cp_async_bulk_tensor_shared_global_multicast(SmemAddr dst, const TensorMap* map, TensorCoords<N> coords,
                                                    SmemAddr barrier, CtaMask mask, L2CachePolicy,
                                                    int cta_group = 1, Loc loc = Loc::current()) {
    cp_async_bulk_tensor_shared_global_multicast(dst, map, coords, barrier, mask, cta_group, loc);
  }
  template <int N>
  void cp_async_bulk_tensor_global_shared(const TensorMap* map, TensorCoords<N> coords, SmemAddr src, L2CachePolicy,
                                          Loc loc = Loc::current()) {
    cp_async_bulk_tensor_global_shared(map, coords, src, loc);
  }
  template <ReduceOp kOp, int N>
  void cp_reduce_async_bulk_tensor_global_shared(const TensorMap* map, TensorCoords<N> coords, SmemAddr src,
                                                 L2CachePolicy policy = {}, Loc loc = Loc::current()) {
    execute(instructions::CpReduceAsyncBulkTensor{kOp, map, coords, src, policy}, loc);
  }
  template <int N>
  void cp_async_bulk_prefetch_tensor_l2(const TensorMap* map, TensorCoords<N> coords, L2CachePolicy policy = {},
                                        Loc loc = Loc::current()) {
    execute(instructions::CpAsyncBulkPrefetchTensorL2{map, coords, policy}, loc);
  }

  // ---- bulk copies of bytes
  void cp_async_bulk_shared_global(SmemAddr dst, GlobalAddr src, uint32_t bytes, SmemAddr barrier,
                                   L2CachePolicy policy = {}, Loc loc = Loc::current()) {
    execute(instructions::CpAsyncBulkSharedGlobal{dst, src, bytes, barrier, policy}, loc);
  }
  void cp_async_bulk_shared_global_multicast(SmemAddr dst, GlobalAddr src, uint32_t bytes, SmemAddr barrier,
                                             CtaMask mask, L2CachePolicy policy = {}, Loc loc = Loc::current()) {
    execute(instructions::CpAsyncBulkSharedGlobalMulticast{dst, src, bytes, barrier, mask, policy}, loc);
  }
  void cp_async_bulk_global_shared(GlobalAddr dst, SmemAddr src, uint32_t bytes, L2CachePolicy policy = {},
                                   Loc loc = Loc::current()) {
    execute(instructions::CpAsyncBulkGlobalShared{dst, src, bytes, 0xffff, policy}, loc);
  }
  void cp_async_bulk_global_shared_cp_mask(GlobalAddr dst, SmemAddr src, uint32_t bytes, uint16_t byte_mask,
                                           L2CachePolicy policy = {}, Loc loc = Loc::current()) {
    execute(instructions::CpAsyncBulkGlobalShared{dst, src, bytes, byte_mask, policy}, loc);
  }
  void cp_async_bulk_shared_cluster(ClusterSmemAddr dst, SmemAddr src, uint32_t bytes, ClusterSmemAddr barrier,
                                    Loc loc = Loc::current()) {
    execute(instructions::CpAsyncBulkSharedCluster{dst, src, bytes, barrier}, loc);
  }
  template <ReduceOp kOp, ReduceType kType>
  void cp_reduce_async_bulk_global_shared(GlobalAddr dst, SmemAddr src, uint32_t bytes, L2CachePolicy policy = {},
                                          Loc loc = Loc::current()) {
    static_assert(reduces_global(kOp, kType), "cp.reduce.async.bulk to global memory has no such reduction");
    execute(instructions::CpReduceAsyncBulkGlobal{kOp, kType, dst, src, bytes, policy}, loc);
  }
  template <ReduceOp kOp, ReduceType kType>
  void cp_reduce_async_bulk_shared_cluster(ClusterSmemAddr dst, SmemAddr src, uint32_t bytes,
                                           ClusterSmemAddr barrier, Loc loc = Loc::current()) {
    static_assert(reduces_shared(kOp, kType), "cp.reduce.async.bulk to shared memory has no such reduction");
    execute(instructions::CpReduceAsyncBulkSharedCluster{kOp, kType, dst, src, bytes, barrier}, loc);
  }
  void cp_async_bulk_prefetch_l2(GlobalAddr src, uint32_t bytes, L2CachePolicy policy = {},
                                 Loc loc = Loc::current()) {
    execute(instructions::CpAsyncBulkPrefetchL2{src, bytes, policy}, loc);
  }

  void cp_async_bulk_commit_group() { execute(instructions::CpAsyncBulkCommitGroup{}, {}); }
  template <int N>
  void cp_async_bulk_wait_group_read() {
    execute(instructions::CpAsyncBulkWaitGroupRead{N}, {});
  }
  template <int N>
  void cp_async_bulk_wait_group() {
    execute(instructions::CpAsyncBulkWaitGroup{N}, {});
  }

  // ---- edits of tensor maps
  template <class Map>
  void tensormap_replace_global_address(Map map, uint64_t value, Loc loc = Loc::current()) {
    replace_field<TensorMapField::global_address>(map, 0, value, loc);
  }
  template <class Map>
  void tensormap_replace_rank(Map map, uint32_t value, Loc loc = Loc::current()) {
    replace_field<TensorMapField::rank>(map, 0, value, loc);
  }
  template <int kOrdinal, class Map>
  void tensormap_replace_box_dim(Map map, uint32_t value, Loc loc = Loc::current()) {
    static_assert(kOrdinal >= 0 && kOrdinal < int(kTensorMapMaxRank), "a tensor map has five dimensions");
    replace_field<TensorMapField::box_dim>(map, kOrdinal, value, loc);
  }
  template <int kOrdinal, class Map>
  void tensormap_replace_global_dim(Map map, uint32_t value, Loc loc = Loc::current()) {
    static_assert(kOrdinal >= 0 && kOrdinal < int(kTensorMapMaxRank), "a tensor map has five dimensions");
    replace_field<TensorMapField::global_dim>(map, kOrdinal, value, loc);
  }
  template <int kOrdinal, class Map>
  void tensormap_replace_global_stride(Map map, uint64_t value, Loc loc = Loc::current()) {
    static_assert(kOrdinal >= 0 && kOrdinal < int(kTensorMapMaxRank - 1), "a tensor map has five dimensions");
    replace_field<TensorMapField::global_stride>(map, kOrdinal, value, loc);
  }
  template <int kOrdinal, class Map>
  void tensormap_replace_element_stride(Map map, uint32_t value, Loc loc = Loc::current()) {
    static_assert(kOrdinal >= 0 && kOrdinal < int(kTensorMapMaxRank), "a tensor map has five dimensions");
    replace_field<TensorMapField::element_stride>(map, kOrdinal, value, loc);
  }
  template <TensorMapElemtype kValue, class Map>
  void tensormap_replace_elemtype(Map map, Loc loc = Loc::current()) {
    replace_field<TensorMapField::elemtype>(map, 0, uint64_t(kValue), loc);
  }
  template <TensorMapInterleave kValue, class Map>
  void tensormap_replace_interleave_layout(Map map, Loc loc = Loc::current()) {
    replace_field<TensorMapField::interleave_layout>(map, 0, uint64_t(kValue), loc);
  }
  template <TensorMapSwizzleMode kValue, class Map>
  void tensormap_replace_swizzle_mode(Map map, Loc loc = Loc::current()) {
    replace_field<TensorMapField::swizzle_mode>(map, 0, uint64_t(kValue), loc);
  }
  template <TensorMapSwizzleAtomicity kValue, class Map>
  void tensormap_replace_swizzle_atomicity(Map map, Loc loc = Loc::current()) {
    replace_field<TensorMapField::swizzle_atomicity>(map, 0, uint64_t(kValue), loc);
  }
  template <TensorMapOobFill kValue, class Map>
  void tensormap_replace_fill_mode(Map map, Loc loc = Loc::current()) {
    replace_field<TensorMapField::fill_mode>(map, 0, uint64_t(kValue), loc);
  }
  void tensormap_cp_fenceproxy(GlobalAddr to, SmemAddr from, MemoryScope scope, Loc loc = Loc::current()) {
    execute(instructions::TensormapCpFenceproxy{to, from, scope}, loc);
  }
  void fence_proxy_tensormap_release(MemoryScope scope, Loc loc = Loc::current()) {
    execute(instructions::FenceProxyTensormapRelease{scope}, loc);
  }
  void fence_proxy_tensormap_acquire(GlobalAddr map, MemoryScope scope, Loc loc = Loc::current()) {
    execute(instructions::FenceProxyTensormapAcquire{map, scope}, loc);
  }

  // ---- tcgen05
  void tcgen05_alloc(SmemAddr dst, uint32_t columns, int cta_group, Loc loc = Loc::current()) {
    execute(instructions::Tcgen05Alloc{dst, columns, cta_group}, loc);
  }
  void tcgen05_dealloc(TmemAddr address, uint32_t columns, int cta_group, Loc loc = Loc::current()) {
    execute(instructions::Tcgen05Dealloc{address, columns, cta_group}, loc);
  }
  void tcgen05_relinquish_alloc_permit(int cta_group, Loc loc = Loc::current()) {
    execute(instructions::Tcgen05RelinquishAllocPermit{cta_group}, loc);
  }
  /// A: SmemDescriptor or TmemAddr.
  void tcgen05_mma(MmaKind kind, int cta_group, TmemAddr d, instructions::OperandA a, SmemDescriptor b,
                   InstrDescriptor idesc, bool enable_input_d, Loc loc = Loc::current()) {
    execute(instructions::Tcgen05Mma{kind, cta_group, d, a, b, idesc, enable_input_d}, loc);
  }
  void tcgen05_mma_block_scale(MmaKind kind, int cta_group, ScaleVec scale_vec, TmemAddr d,
                               instructions::OperandA a, SmemDescriptor b, InstrDescriptor idesc, TmemAddr sfa,
                               TmemAddr sfb, bool enable_input_d, Loc loc = Loc::current()) {
    execute(
        instructions::Tcgen05MmaBlockScale{{kind, cta_group, d, a, b, idesc, enable_input_d}, scale_vec, sfa, sfb},
        loc);
  }
  void tcgen05_cp(TmemCopyShape shape, int cta_group, TmemAddr to, SmemDescriptor source,
                  TmemDecompression decompression = TmemDecompression::none, Loc loc = Loc::current()) {
    execute(instructions::Tcgen05Cp{shape, cta_group, to, source, decompression}, loc);
  }
  void tcgen05_commit(int cta_group, SmemAddr barrier, Loc loc = Loc::current()) {
    execute(instructions::Tcgen05Commit{cta_group, barrier}, loc);
  }
  void tcgen05_commit_multicast(int cta_group, SmemAddr barrier, CtaMask mask, Loc loc = Loc::current()) {
    execute(instructions::Tcgen05CommitMulticast{cta_group, barrier, mask}, loc);
  }
  template <int R>
  LaneArray<uint32_t, 4 * R> tcgen05_ld_16x256b(TmemAddr address, Loc loc = Loc::current()) {
    static_assert(repeat_allowed(TmemShape::s16x256b, R), "tcgen05.ld.16x256b has .x1 to .x32, powers of two");
    LaneArray<uint32_t, 4 * R> registers;
    execute(instructions::Tcgen05Ld16x256b{R, address, &registers[0][0]}, loc);
    return registers;
  }
  template <int R>
  LaneArray<uint32_t, R> tcgen05_ld_32x32b(TmemAddr address, Loc loc = Loc::current()) {
    static_assert(repeat_allowed(TmemShape::s32x32b, R), "tcgen05.ld.32x32b has .x1 to .x128, powers of two");
    LaneArray<uint32_t, R> registers;
    execute(instructions::Tcgen05Ld32x32b{R, address, &registers[0][0]}, loc);
    return registers;
  }
  /// The number of the warp's last tcgen05.ld, from 1.
  uint32_t last_tmem_load() const { return context_.tmem_loads; }
  /// For front ends that know the registers of each instruction: one of load `n` is read.
  void tmem_register_read(uint32_t n, Loc loc = Loc::current()) { context_.tmem_register_read(n, loc); }
  void tcgen05_wait_ld(Loc loc = Loc::current()) { execute(instructions::Tcgen05WaitLd{}, loc); }
  template <int N>
  void tcgen05_wait_ld(LaneArray<uint32_t, N>&, Loc loc = Loc::current()) {
    tcgen05_wait_ld(loc);
  }
  template <int N>
  void tcgen05_wait_ld(LaneArray<uint32_t, N>&, LaneArray<uint32_t, N>&, Loc loc = Loc::current()) {
    tcgen05_wait_ld(loc);
  }
  template <int N>
  void tcgen05_st_16x256b(TmemAddr address, const LaneArray<uint32_t, N>& values, Loc loc = Loc::current()) {
    static_assert(N % 4 == 0 && repeat_allowed(TmemShape::s16x256b, N / 4),
                  "tcgen05.st.16x256b has .x1 to .x32, powers of two");
    execute(instructions::Tcgen05St16x256b{N / 4, address, &values[0][0]}, loc);
  }
  template <int N>
  void tcgen05_st_32x32b(TmemAddr address, const LaneArray<uint32_t, N>& values, Loc loc = Loc::current()) {
    static_assert(repeat_allowed(TmemShape::s32x32b, N), "tcgen05.st.32x32b has .x1 to .x128, powers of two");
    execute(instructions::Tcgen05St32x32b{N, address, &values[0][0]}, loc);
  }
  void tcgen05_wait_st(Loc loc = Loc::current()) { execute(instructions::Tcgen05WaitSt{}, loc); }
  void tcgen05_fence_before_thread_sync(Loc loc = Loc::current()) {
    execute(instructions::Tcgen05FenceBeforeThreadSync{}, loc);
  }
  void tcgen05_fence_after_thread_sync(Loc loc = Loc::current()) {
    execute(instructions::Tcgen05FenceAfterThreadSync{}, loc);
  }

  // ---- wgmma
  void wgmma_fence(Loc loc = Loc::current()) { execute(instructions::WgmmaFence{}, loc); }
  template <int N>
  void wgmma_fence(LaneArray<float, N>&, Loc loc = Loc::current()) {
    wgmma_fence(loc);
  }
  template <WgmmaForm kForm>
  void wgmma_mma_async(LaneArray<float, wgmma_d_registers(kForm)>& sums, SmemDescriptor a, SmemDescriptor b,
                       bool scale_d, Loc loc = Loc::current()) {
    static_assert(kForm.d == WgmmaD::f32 && !kForm.a_in_registers,
                  "not implemented: role code has D in f32 and A in shared memory");
    auto* const d = reinterpret_cast<uint32_t*>(&sums[0][0]);  // registers of 32 bits, whatever they mean
    execute(instructions::WgmmaMmaAsync{kForm, a, nullptr, b, scale_d, d}, loc);
  }
  void wgmma_commit_group(Loc loc = Loc::current()) { execute(instructions::WgmmaCommitGroup{}, loc); }
  template <int kPending>
  void wgmma_wait_group(Loc loc = Loc::current()) {
    execute(instructions::WgmmaWaitGroup{kPending}, loc);
  }
  template <int kPending, int N>
  void wgmma_wait_group(LaneArray<float, N>&, Loc loc = Loc::current()) {
    wgmma_wait_group<kPending>(loc);
  }

  // ---- cluster launch control
  void clusterlaunchcontrol_try_cancel(SmemAddr response, SmemAddr barrier, Loc loc = Loc::current()) {
    execute(instructions::ClusterlaunchcontrolTryCancel{response, barrier}, loc);
  }
  void clusterlaunchcontrol_try_cancel_multicast(SmemAddr response, SmemAddr barrier, Loc loc = Loc::current()) {
    execute(instructions::ClusterlaunchcontrolTryCancelMulticast{response, barrier}, loc);
  }
  bool clusterlaunchcontrol_query_cancel_is_canceled(const ClcResponse& response, Loc loc = Loc::current()) {
    return execute(instructions::ClusterlaunchcontrolQueryCancelIsCanceled{response}, loc);
  }
  Dim3 clusterlaunchcontrol_query_cancel_get_first_ctaid(const ClcResponse& response, Loc loc = Loc::current()) {
    return execute(instructions::ClusterlaunchcontrolQueryCancelGetFirstCtaid{response}, loc);
  }

  // ---- trace points
  void trace_begin(TraceEvent event, const TraceArgs& args) { context_.trace_begin(event, args); }
  void trace_end() { context_.trace_end(); }

 protected:
  template <class F>
  void with_active(uint32_t lanes, F& f) {
    const uint32_t outer = active_;
    active_ = lanes;
    if (lanes != 0) f();
    active_ = outer;
  }

 private:
  template <class I>
  Result<I> execute(const I& instruction, Loc loc) {
    return context_.execute(instruction, active_, loc);
  }
  template <TensorMapField kField>
  void replace_field(SmemAddr map, uint32_t ordinal, uint64_t value, Loc loc) {
    execute(instructions::TensormapReplace<kField>{map, {}, false, ordinal, value}, loc);
  }
  template <TensorMapField kField>
  void replace_field(GlobalAddr map, uint32_t ordinal, uint64_t value, Loc loc) {
    execute(instructions::TensormapReplace<kField>{{}, map, true, ordinal, value}, loc);
  }
  template <int N>
  LaneArray<uint32_t, N> ld_global(uint32_t bytes, const LaneArray<GlobalAddr, 1>& addresses,
                                   const LaneArray<bool, 1>* predicates, Loc loc) {
    LaneArray<uint32_t, N> values;
    execute(instructions::LdGlobal{bytes, &addresses, predicates, &values[0][0]}, loc);
    return values;
  }

  WarpContext context_;
  uint32_t active_ = kAllLanes;
};

static_assert(Isa<SimIsa>);

}  // namespace sm100::sim
