// SPDX-License-Identifier: Apache-2.0
/// The Isa on the SystemC model: each function charges the instruction's issue cycles to its warp and hands
/// the operands, as the hardware would get them, to the unit that executes it.
///
/// One SimIsa per warp and CTA.  Instructions that only enqueue (copies, MMAs, commits) pass their issue
/// cycle along and let the warp run ahead; instructions that others can see at once first let the gathered
/// cycles pass. With data = none per-lane arithmetic and data accesses are skipped: the protocol never
/// depends on them.
#pragma once

#include <cmath>
#include <deque>
#include <functional>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

#include "kernels/isa/isa.h"
#include "kernels/isa/number_formats.h"
#include "kernels/isa/register_count.h"
#include "models/profiles/profile.h"
#include "models/time.h"
#include "sim/cta.h"
#include "sim/hazards/hazard_checker.h"
#include "sim/wait_history.h"
#include "sim/warp.h"

namespace sm100::sim {

class SimIsa {
 public:
  SimIsa(Warp& warp, const models::DeviceProfile& profile)
      : warp_(warp),
        cta_(warp.cta),
        own_(warp.cta.context()),
        sm_(warp.cta.sm()),
        issue_(profile.issue),
        profile_(profile) {}

  /// From now on a trace point costs what the device recorder's instructions cost, the first one `first` more.
  void charge_recorder(double first) {
    trace_begin_cycles_ = profile_.trace.begin;
    trace_end_cycles_ = profile_.trace.end;
    trace_first_cycles_ = first;
  }

  // ---- special registers and lanes
  int warpid() const { return warp_.index; }
  Dim3 ctaid() const { return cta_.ctaid(); }
  Dim3 nctaid() const { return cta_.kernel().grid; }
  uint32_t cluster_ctarank() const { return cta_.cluster_rank(); }
  LaneArray<uint32_t, 1> laneid() const {
    LaneArray<uint32_t, 1> ids;
    for (int lane = 0; lane < kWarpLanes; ++lane) ids[lane][0] = uint32_t(lane);
    return ids;
  }
  /// Computed without data too: how many lines a store touches decides its time.
  LaneArray<GlobalAddr, 1> mad_wide_u32(const LaneArray<uint32_t, 1>& a, uint32_t b, GlobalAddr c) {
    charge(issue_.alu);
    LaneArray<GlobalAddr, 1> sums;
    for (int lane = 0; lane < kWarpLanes; ++lane) sums[lane][0] = c + uint64_t{a[lane][0]} * b;
    return sums;
  }
  template <class F>
  void for_each_lane(int instructions, F&& f, Loc loc = Loc::current()) {
    lane_arithmetic(loc);
    charge(issue_.alu * instructions);
    if (!sm_.with_data) return;
    for (int lane = 0; lane < kWarpLanes; ++lane)
      if (active_ >> lane & 1) f(lane);
  }
  /// The lowest active lane is elected, as hardware does (reference isa.md 6.3).
  template <class F>
  void elected(F&& f, Loc loc = Loc::current()) {
    charge(issue_.elect);
    if (converged("elect.sync", loc)) with_active(active_ & -active_, f);
  }
  template <class F>
  void lanes_below(int n, F&& f) {
    charge(issue_.alu);
    with_active(n >= 32 ? active_ : active_ & ((1u << n) - 1), f);
  }
  void bar_warp_sync(Loc loc = Loc::current()) {
    charge(issue_.warp_sync);
    converged("bar.warp.sync", loc);
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

  // ---- mbarrier
  void mbarrier_init(SmemAddr barrier, uint32_t count, Loc loc = Loc::current());
  void mbarrier_arrive(SmemAddr barrier, Scope, Loc loc = Loc::current());
  void mbarrier_arrive(ClusterSmemAddr barrier, Scope, Loc loc = Loc::current());
  void mbarrier_arrive(const LaneArray<ClusterSmemAddr, 1>& barriers, Scope, Loc loc = Loc::current());
  void mbarrier_arrive_expect_tx(SmemAddr barrier, uint32_t bytes, Scope, Loc loc = Loc::current());
  void mbarrier_arrive_expect_tx(const LaneArray<ClusterSmemAddr, 1>& barriers, uint32_t bytes, Scope,
                                 Loc loc = Loc::current());
  /// Suspends until the phase has completed, or until the time limit: false then.  Who asks again at once, as a loop does,
  /// goes on waiting as if nothing had happened, and the repeated instruction costs nothing.
  bool mbarrier_try_wait_parity(SmemAddr barrier, uint32_t parity, Scope, Loc loc = Loc::current());
  /// Answers at once, as a try_wait outside of a loop may.
  bool mbarrier_test_wait_parity(SmemAddr barrier, uint32_t parity, Scope, Loc loc = Loc::current());
  void fence_mbarrier_init(Loc loc = Loc::current()) {
    charge(issue_.fence);
    if (HazardChecker* h = hazards()) h->fence_mbarrier_init(thread(loc));
  }
  ClusterSmemAddr mapa(SmemAddr address, uint32_t rank, Loc loc = Loc::current());
  LaneArray<ClusterSmemAddr, 1> mapa(SmemAddr address, const LaneArray<uint32_t, 1>& ranks,
                                     Loc loc = Loc::current());

  // ---- CTA and cluster barriers, fences
  void bar_sync(int id, int threads, Loc loc = Loc::current());
  void bar_arrive(int id, int threads, Loc loc = Loc::current());
  void barrier_cluster_arrive(Loc loc = Loc::current()) { cluster_arrive(true, loc); }
  void barrier_cluster_arrive_relaxed(Loc loc = Loc::current()) { cluster_arrive(false, loc); }
  void barrier_cluster_wait(Loc loc = Loc::current());
  void fence_proxy_async_shared_cta(Loc loc = Loc::current()) {
    charge(issue_.fence);
    if (HazardChecker* h = hazards()) h->fence_proxy_async(thread(loc));
  }

  // ---- programmatic dependent launch
  void griddepcontrol_wait(Loc loc = Loc::current());
  void griddepcontrol_launch_dependents(Loc loc = Loc::current());

  // ---- registers
  template <int N>
  void setmaxnreg_inc(Loc loc = Loc::current()) {
    static_assert(register_count_allowed(N), "setmaxnreg takes multiples of 8 from 24 to 256");
    set_registers(true, N, loc);
  }
  template <int N>
  void setmaxnreg_dec(Loc loc = Loc::current()) {
    static_assert(register_count_allowed(N), "setmaxnreg takes multiples of 8 from 24 to 256");
    set_registers(false, N, loc);
  }

  // ---- shared memory
  SmemAddr dynamic_smem() const { return {cluster_ctarank() << kClusterRankShift | kSmemUserBase}; }
  uint32_t ld_shared_u32(SmemAddr address, Loc loc = Loc::current());
  ClcResponse ld_shared_b128(SmemAddr address, Loc loc = Loc::current());
  LaneArray<uint32_t, 4> ld_shared_v4(const LaneArray<SmemAddr, 1>& addresses, Loc loc = Loc::current());
  void st_shared_v4(const LaneArray<SmemAddr, 1>& addresses, const LaneArray<uint32_t, 4>& values,
                    Loc loc = Loc::current());
  void st_shared_b16(const LaneArray<SmemAddr, 1>& addresses, const LaneArray<uint32_t, 1>& values,
                     Loc loc = Loc::current());
  void st_shared_b32(const LaneArray<SmemAddr, 1>& addresses, const LaneArray<uint32_t, 1>& values,
                     Loc loc = Loc::current());
  void st_shared_v2(const LaneArray<SmemAddr, 1>& addresses, const LaneArray<uint32_t, 2>& values,
                    Loc loc = Loc::current());
  void stmatrix_x2(const LaneArray<SmemAddr, 1>& rows, const LaneArray<uint32_t, 2>& values,
                   Loc loc = Loc::current());
  void stmatrix_x4(const LaneArray<SmemAddr, 1>& rows, const LaneArray<uint32_t, 4>& values,
                   Loc loc = Loc::current());
  void stmatrix_x2_trans(const LaneArray<SmemAddr, 1>& rows, const LaneArray<uint32_t, 2>& values,
                         Loc loc = Loc::current()) {
    stmatrix(rows, &values[0][0], 2, true, loc);
  }
  void stmatrix_x4_trans(const LaneArray<SmemAddr, 1>& rows, const LaneArray<uint32_t, 4>& values,
                         Loc loc = Loc::current()) {
    stmatrix(rows, &values[0][0], 4, true, loc);
  }

  // ---- global memory
  LaneArray<uint32_t, 1> ld_global_b16(const LaneArray<GlobalAddr, 1>& addresses,
                                       const LaneArray<bool, 1>& predicates, Loc loc = Loc::current()) {
    LaneArray<uint32_t, 1> values;
    load_global(addresses, &values[0][0], 1, &predicates, 2, "ld.global.b16", loc);
    return values;
  }
  LaneArray<uint32_t, 1> ld_global_b32(const LaneArray<GlobalAddr, 1>& addresses,
                                       const LaneArray<bool, 1>& predicates, Loc loc = Loc::current()) {
    LaneArray<uint32_t, 1> values;
    load_global(addresses, &values[0][0], 1, &predicates, 4, "ld.global.b32", loc);
    return values;
  }
  LaneArray<uint32_t, 2> ld_global_v2(const LaneArray<GlobalAddr, 1>& addresses,
                                      const LaneArray<bool, 1>& predicates, Loc loc = Loc::current()) {
    LaneArray<uint32_t, 2> values;
    load_global(addresses, &values[0][0], 2, &predicates, 8, "ld.global.v2.b32", loc);
    return values;
  }
  LaneArray<uint32_t, 4> ld_global_v4(const LaneArray<GlobalAddr, 1>& addresses,
                                      const LaneArray<bool, 1>& predicates, Loc loc = Loc::current()) {
    LaneArray<uint32_t, 4> values;
    load_global(addresses, &values[0][0], 4, &predicates, 16, "ld.global.v4.b32", loc);
    return values;
  }
  void st_global_b16(const LaneArray<GlobalAddr, 1>& addresses, const LaneArray<uint32_t, 1>& values,
                     const LaneArray<bool, 1>& predicates, Loc loc = Loc::current()) {
    store_global(addresses, &values[0][0], 1, &predicates, 2, "st.global.b16", loc);
  }
  void st_global_b32(const LaneArray<GlobalAddr, 1>& addresses, const LaneArray<uint32_t, 1>& values,
                     const LaneArray<bool, 1>& predicates, Loc loc = Loc::current()) {
    store_global(addresses, &values[0][0], 1, &predicates, 4, "st.global.b32", loc);
  }
  LaneArray<uint32_t, 2> ld_global_v2(const LaneArray<GlobalAddr, 1>& addresses, Loc loc = Loc::current()) {
    LaneArray<uint32_t, 2> values;
    load_global(addresses, &values[0][0], 2, nullptr, 8, "ld.global.v2.b32", loc);
    return values;
  }
  void st_global_v2(const LaneArray<GlobalAddr, 1>& addresses, const LaneArray<uint32_t, 2>& values,
                    Loc loc = Loc::current()) {
    store_global(addresses, &values[0][0], 2, nullptr, 8, "st.global.v2.b32", loc);
  }
  void st_global_v4(const LaneArray<GlobalAddr, 1>& addresses, const LaneArray<uint32_t, 4>& values,
                    Loc loc = Loc::current()) {
    pass_stores(addresses, 16, loc);
    store_global(addresses, &values[0][0], 4, nullptr, 16, "st.global.v4.b32", loc);
  }
  /// Polls of a word that stays the same from one code line do not run one by one: the warp sleeps until the word is
  /// written, and goes on when its next poll would have seen it.
  uint32_t ld_acquire_gpu_global_u32(GlobalAddr address, Loc loc = Loc::current());
  void st_release_gpu_global_u32(GlobalAddr address, uint32_t value, Loc loc = Loc::current());

  // ---- copies of threads, not bulk
  void cp_async_cg_shared_global(const LaneArray<SmemAddr, 1>& dst, const LaneArray<GlobalAddr, 1>& src,
                                 Loc loc = Loc::current());
  void cp_async_commit_group(Loc loc = Loc::current());
  template <int N>
  void cp_async_wait_group(Loc loc = Loc::current()) {
    wait_copies(N, loc);
  }
  void cp_async_mbarrier_arrive(SmemAddr barrier, Loc loc = Loc::current()) { copies_arrive(barrier, true, loc); }
  void cp_async_mbarrier_arrive_noinc(SmemAddr barrier, Loc loc = Loc::current()) {
    copies_arrive(barrier, false, loc);
  }

  // ---- tensor copies and bulk groups
  void prefetch_tensormap(const TensorMap*) { charge(issue_.bulk_tensor); }
  template <int N>
  void cp_async_bulk_tensor_shared_global(SmemAddr dst, const TensorMap* map, TensorCoords<N> coords,
                                          SmemAddr barrier, int cta_group = 1, Loc loc = Loc::current()) {
    load(dst, map, coords.c, N, barrier, cta_group, loc);
  }
  template <int N>
  void cp_async_bulk_tensor_shared_global_multicast(SmemAddr dst, const TensorMap* map, TensorCoords<N> coords,
                                                    SmemAddr barrier, CtaMask mask, int cta_group = 1,
                                                    Loc loc = Loc::current()) {
    load(dst, map, coords.c, N, barrier, cta_group, loc, mask);
  }
  template <int N>
  void cp_async_bulk_tensor_global_shared(const TensorMap* map, TensorCoords<N> coords, SmemAddr src,
                                          Loc loc = Loc::current()) {
    store(map, coords.c, N, src, loc);
  }
  void cp_async_bulk_commit_group();
  template <int N>
  void cp_async_bulk_wait_group_read() {
    wait_group(N, true);
  }
  template <int N>
  void cp_async_bulk_wait_group() {
    wait_group(N, false);
  }

  // ---- tcgen05
  void tcgen05_alloc(SmemAddr dst, uint32_t columns, int cta_group, Loc loc = Loc::current());
  void tcgen05_dealloc(TmemAddr address, uint32_t columns, int cta_group, Loc loc = Loc::current());
  void tcgen05_relinquish_alloc_permit(int cta_group, Loc loc = Loc::current());
  void tcgen05_mma(MmaKind kind, int cta_group, TmemAddr d, SmemDescriptor a, SmemDescriptor b,
                   InstrDescriptor idesc, bool enable_input_d, Loc loc = Loc::current());
  void tcgen05_mma(MmaKind kind, int cta_group, TmemAddr d, TmemAddr a, SmemDescriptor b, InstrDescriptor idesc,
                   bool enable_input_d, Loc loc = Loc::current());
  void tcgen05_mma_block_scale(MmaKind kind, int cta_group, TmemAddr d, SmemDescriptor a, SmemDescriptor b,
                               InstrDescriptor idesc, TmemAddr sfa, TmemAddr sfb, bool enable_input_d,
                               Loc loc = Loc::current());
  void tcgen05_mma_block_scale(MmaKind kind, int cta_group, TmemAddr d, TmemAddr a, SmemDescriptor b,
                               InstrDescriptor idesc, TmemAddr sfa, TmemAddr sfb, bool enable_input_d,
                               Loc loc = Loc::current());
  void tcgen05_commit(int cta_group, SmemAddr barrier, Loc loc = Loc::current());
  void tcgen05_commit_multicast(int cta_group, SmemAddr barrier, CtaMask mask, Loc loc = Loc::current());
  template <int R>
  LaneArray<uint32_t, 4 * R> tcgen05_ld_16x256b(TmemAddr address, Loc loc = Loc::current()) {
    static_assert(repeat_allowed(TmemShape::s16x256b, R), "tcgen05.ld.16x256b has .x1 to .x32, powers of two");
    LaneArray<uint32_t, 4 * R> registers;
    tmem_load(TmemShape::s16x256b, R, address, &registers[0][0], loc);
    return registers;
  }
  template <int R>
  LaneArray<uint32_t, R> tcgen05_ld_32x32b(TmemAddr address, Loc loc = Loc::current()) {
    static_assert(repeat_allowed(TmemShape::s32x32b, R), "tcgen05.ld.32x32b has .x1 to .x128, powers of two");
    LaneArray<uint32_t, R> registers;
    tmem_load(TmemShape::s32x32b, R, address, &registers[0][0], loc);
    return registers;
  }
  /// The number of the warp's last tcgen05.ld, from 1.
  uint32_t last_tmem_load() const { return tmem_loads_; }
  /// For front ends that know the registers of each instruction: one of load `n` is read.  Issue waits for it; it counts as
  /// over from here on.
  void tmem_register_read(uint32_t n, Loc loc = Loc::current()) { read_tmem_register(n, "reads", loc); }
  void tcgen05_wait_ld(Loc loc = Loc::current());
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
    tmem_store(TmemShape::s16x256b, N / 4, address, &values[0][0], loc);
  }
  void tcgen05_wait_st(Loc loc = Loc::current());
  void tcgen05_fence_before_thread_sync(Loc loc = Loc::current()) {
    charge(issue_.tcgen05_fence);
    if (HazardChecker* h = hazards()) h->tcgen05_fence_before(thread(loc));
  }
  void tcgen05_fence_after_thread_sync(Loc loc = Loc::current()) {
    charge(issue_.tcgen05_fence);
    if (HazardChecker* h = hazards()) h->tcgen05_fence_after(thread(loc));
  }

  // ---- cluster launch control
  void clusterlaunchcontrol_try_cancel(SmemAddr response, SmemAddr barrier, Loc loc = Loc::current());
  void clusterlaunchcontrol_try_cancel_multicast(SmemAddr response, SmemAddr barrier, Loc loc = Loc::current());
  bool clusterlaunchcontrol_query_cancel_is_canceled(const ClcResponse& response, Loc loc = Loc::current());
  Dim3 clusterlaunchcontrol_query_cancel_get_first_ctaid(const ClcResponse& response, Loc loc = Loc::current());

  // ---- trace points
  void trace_begin(TraceEvent event, const TraceArgs& args) {
    if (cta_.observer().recorder()) begin_span(event, args);
    warp_.trace_point_begins(event, args);
    charge(issue_.control + trace_begin_cycles_);
  }
  void trace_end() {
    if (cta_.observer().recorder()) end_span();
    warp_.trace_point_ends();
    charge(trace_end_cycles_ + std::exchange(trace_first_cycles_, 0));
  }

 protected:
  Warp& warp() { return warp_; }
  Cta& cta() { return cta_; }
  int active_lanes() const { return __builtin_popcount(active_); }
  bool is_active(int lane) const { return active_ >> lane & 1; }
  int first_active_lane() const { return __builtin_ctz(active_); }  // some lane is active wherever code runs
  template <class F>
  void with_active(uint32_t lanes, F& f) {
    const uint32_t outer = active_;
    active_ = lanes;
    if (lanes != 0) f();
    active_ = outer;
  }
  void wait_group(int pending, bool read_only);
  /// Its last try_wait has returned false, and nothing has followed.
  bool has_given_up() const { return given_up_.has_value(); }

 private:
  void charge(double cycles) {
    if (given_up_) [[unlikely]]
      leave_wait();
    warp_.ahead += cycles;
  }
  models::Jitter& jitter() { return cta_.gpu().jitter(); }
  /// Who does something, for the names of perturbation points.
  models::Source point(Loc loc) const { return {.warp = int8_t(warp_.index), .loc = loc, .cta = cta_.linear_id()}; }
  /// The line of a span in a trace is that of its first instruction that has one.
  void note_line(Loc loc) {
    if (!warp_.open_spans.empty() && warp_.open_spans.back().args.line == traces::kNoName && loc.line() > 0)
      warp_.open_spans.back().args.line = cta_.observer().line_name(loc);
  }
  /// Other warps may be issued first.
  void wait_for_issue_slot(Loc loc) {
    note_line(loc);
    warp_.ahead += double(jitter().delay(models::JitterSite::warp_issue, point(loc)));
  }
  /// Lets the gathered issue cycles pass: what follows is visible to others.
  void settle(Loc loc) {
    wait_for_issue_slot(loc);
    spend();
  }
  void spend() {
    if (warp_.ahead >= 1) {
      const auto whole = models::Cycles(warp_.ahead);
      warp_.ahead -= double(whole);
      warp_.pass(whole);
    }
  }
  models::Cycles issue_cycle() const { return models::now() + models::Cycles(warp_.ahead); }
  /// Units reserve in the order of calls, so a warp that only enqueues may run ahead of the others a little,
  /// not far.
  models::Cycles enqueue_cycle(Loc loc) {
    constexpr double kLargestLead = 100;
    wait_for_issue_slot(loc);
    if (warp_.ahead > kLargestLead) spend();
    return issue_cycle();
  }
  /// Calls f(source of the lane) for every active lane: each executes the instruction by itself.
  template <class F>
  void for_each_thread(Loc loc, F&& f) {
    models::Source by = source(loc);
    for (uint32_t lanes = active_; lanes != 0; lanes &= lanes - 1) by.lane = int8_t(__builtin_ctz(lanes)), f(by);
  }
  models::Source source(Loc loc) {
    note_line(loc);
    return {.warp = int8_t(warp_.index),
            .loc = loc,
            .flow = flow_of_open_span(),
            .cta = cta_.linear_id(),
            .issued = models::now()};
  }
  HazardChecker* hazards() { return cta_.observer().hazards(); }
  HazardChecker::Thread thread(Loc loc, int lane = -1) {
    return {own_.slot,
            {.warp = int8_t(warp_.index), .lane = int8_t(lane), .loc = loc, .cta = cta_.linear_id()},
            &warp_};
  }
  /// Arrivals at a barrier of the own CTA: what the warp knows goes with them.
  template <class F>
  void releasing(SmemAddr barrier, Loc loc, F&& arrive) {
    HazardChecker* h = hazards();
    if (!h) return arrive();
    h->uses_barrier(thread(loc), cluster_ctarank(), barrier.offset(), false);
    h->release_begin(thread(loc));
    arrive();
    h->release_end(thread(loc));
  }
  /// The same for a barrier of any CTA, or of lanes that each name theirs; returns what goes along as Source::op.
  uint32_t release_later(Loc loc, uint32_t rank, uint32_t barrier) {
    HazardChecker* h = hazards();
    if (!h) return 0;
    h->uses_barrier(thread(loc), rank, barrier, false);
    return h->release_later(thread(loc));
  }
  uint32_t release_later(Loc loc, const LaneArray<ClusterSmemAddr, 1>& barriers) {
    HazardChecker* h = hazards();
    if (!h) return 0;
    for (uint32_t lanes = active_; lanes != 0; lanes &= lanes - 1) {
      const ClusterSmemAddr barrier = barriers[__builtin_ctz(lanes)][0];
      h->uses_barrier(thread(loc), barrier.rank(), barrier.offset(), false);
    }
    return h->release_later(thread(loc));
  }
  /// A commit by one thread to the barrier in each CTA of `ranks`; returns what goes along as Source::op.
  uint32_t committing(int lane, CtaMask ranks, SmemAddr barrier, Loc loc);
  /// `bytes` at each active lane's address.
  Footprints::Id footprint(HazardChecker& checker, const LaneArray<SmemAddr, 1>& addresses, int lanes,
                           uint32_t bytes) const;
  /// The lanes read or write `bytes` each.
  void touch(const LaneArray<SmemAddr, 1>& addresses, int lanes, uint32_t bytes, bool write, Loc loc);
  void touch(SmemAddr address, uint32_t bytes, bool write, Loc loc) {
    if (HazardChecker* h = hazards())
      h->generic(thread(loc), h->smem_sets().intern_range(address.offset(), bytes), write);
  }
  uint64_t flow_of_open_span();
  void violate(const char* id, std::string message, Loc loc);
  /// MB8: the wait names a phase that the warp has seen, or perhaps one that is long over.
  /// @return the phase that it sees is one more for this warp
  bool check_wait(const models::Mbarrier::State& state, uint32_t parity, bool test, Loc loc);
  /// Address of the same offset in CTA `rank`, which must be one of the cluster.
  ClusterSmemAddr mapped(SmemAddr address, uint32_t rank, Loc loc);
  /// `.shared::cta` addresses may carry the own rank, not another.
  bool own_window(SmemAddr address, const char* what, Loc loc);
  /// The access is inside the CTA's shared memory and naturally aligned.
  bool in_shared(SmemAddr address, uint32_t bytes, uint32_t alignment, const char* what, Loc loc);
  /// `.sync.aligned`: all 32 lanes must execute it together.
  bool converged(const char* what, Loc loc);
  /// Takes the SM's shared-memory data port for one warp instruction; returns when its last wavefront is through.
  models::Cycles access_shared(uint32_t bytes_per_lane, double issue, Loc loc);
  /// Stores the first `bytes` of each lane's `words` registers.
  void store_lanes(const LaneArray<SmemAddr, 1>& addresses, const uint32_t* values, uint32_t words, uint32_t bytes,
                   const char* what, Loc loc);
  /// `bytes` of each lane to or from its `words` registers, naturally aligned; lanes without the predicate (nullptr: all
  /// have it) load zero.  Posted: the warp goes on at once.  Time counts all active lanes, whatever their predicates say.
  void load_global(const LaneArray<GlobalAddr, 1>& addresses, uint32_t* values, uint32_t words,
                   const LaneArray<bool, 1>* predicates, uint32_t bytes, const char* what, Loc loc);
  void store_global(const LaneArray<GlobalAddr, 1>& addresses, const uint32_t* values, uint32_t words,
                    const LaneArray<bool, 1>* predicates, uint32_t bytes, const char* what, Loc loc);
  /// Takes the SM's load-store path for every line that the lanes' stores touch; the warp goes on when they are through.
  void pass_stores(const LaneArray<GlobalAddr, 1>& addresses, uint32_t bytes, Loc loc);
  /// The bytes of a lane's access, if it is aligned and inside an allocation.
  uint8_t* global_bytes(GlobalAddr address, uint32_t bytes, int lane, const char* what, Loc loc);
  /// Issue waits until the registers of the global loads hold values.
  void use_global_loads() {
    if (global_loads_done_ > issue_cycle()) warp_.ahead = double(global_loads_done_ - models::now());
  }
  void load(SmemAddr dst, const TensorMap* map, const int32_t* coords, int rank, SmemAddr barrier, int cta_group,
            Loc loc, std::optional<CtaMask> multicast = {});
  void try_cancel(SmemAddr response, SmemAddr barrier, bool multicast, Loc loc);
  void store(const TensorMap* map, const int32_t* coords, int rank, SmemAddr src, Loc loc);
  bool decode_map(const TensorMap* map, const int32_t* coords, int rank, models::TensorCopy& copy, Loc loc);
  void issue_mma(models::MmaCommand command, Loc loc);
  void cluster_arrive(bool release, Loc loc);
  void set_registers(bool increase, int registers, Loc loc);
  void wait_copies(int pending, Loc loc);
  /// An arrival of each lane when its copies so far have landed; `raise`: and the phase waits for them from now on.
  void copies_arrive(SmemAddr barrier, bool raise, Loc loc);
  void tmem_load(TmemShape shape, int repeat, TmemAddr address, uint32_t* registers, Loc loc);
  void read_tmem_register(uint32_t load, std::string_view seen, Loc loc);
  /// Role code does not say which registers it reads.  Per-lane arithmetic is taken to read those that a wait::ld has made
  /// valid and that nothing has read yet; where there are none, those of the loads that no wait::ld has covered.
  void lane_arithmetic(Loc loc) {
    if (!std::exchange(valid_unread_, false) && guessed_load_ != 0)
      read_tmem_register(std::exchange(guessed_load_, 0), "may read", loc);
  }
  /// An instruction reads registers at `from`: it is known whether a load has written them.
  void uses_registers(const uint32_t* from, Loc loc) {
    for (const UnwaitedLoad& load : unwaited_loads_)
      if (load.holds(from)) return read_tmem_register(load.number, "reads", loc);
  }
  /// When the columns of a load or store have passed, those of the one before included; and the wait for it.
  models::Cycles tmem_transfer(models::UnitSpanKind kind, TmemAddr address, int columns, models::Cycles before,
                               Loc loc);
  void tmem_wait(models::Cycles transferred);
  void tmem_store(TmemShape shape, int repeat, TmemAddr address, const uint32_t* registers, Loc loc);
  void stmatrix(const LaneArray<SmemAddr, 1>& rows, const uint32_t* values, int matrices, bool transposed, Loc loc);
  /// The kernel's table of named barriers lists the warp's role at this one (NB5).
  bool meets_at(int id, const char* instruction, Loc loc);
  /// The group is 1, or 2 in a CTA that has a peer, and the same as everywhere in the kernel (isa.md 3.2).
  bool check_group(int cta_group, const char* instruction, Loc loc);
  /// The other CTA of the pair: ranks that differ in bit 0.
  models::CtaContext& peer() { return cta_.gpu().cta(cta_.peer_slot(cluster_ctarank() ^ 1)); }
  /// The warp's account of its waits and arrivals on the barrier arrays; nullptr for other addresses.
  Warp::Use* use_of(SmemAddr barrier) {
    const BarrierName name = barrier_name(cta_.kernel(), barrier.offset());
    return name.array ? &warp_.use[size_t(name.array - cta_.kernel().barriers.data())] : nullptr;
  }
  /// A try_wait that suspends the warp.
  struct Wait {
    SmemAddr barrier;
    uint32_t parity;
    int64_t phase, sees;  ///< open when it began, and the one that it waits for
    std::optional<WaitHistory::Seen> before;
    models::Cycles since;
    Loc loc;
    bool drawn = false;  ///< it returned false because a perturbation says so
  };
  /// Sleeps; false: the limit has ended it, and given_up_ says what was waited for.
  bool sleep(const Wait& wait, bool limited);
  /// The try_wait that has just returned false, once more.
  bool asks_again(SmemAddr barrier, uint32_t parity, Loc loc) const {
    return given_up_ && given_up_->barrier.offset() == barrier.offset() && given_up_->parity == parity &&
           given_up_->loc.line() == loc.line() && given_up_->loc.column() == loc.column();
  }
  /// The warp does something else after a try_wait that has returned false.
  void leave_wait();
  void count_arrival(SmemAddr barrier, Loc loc) {
    if (Warp::Use* use = use_of(barrier)) ++use->arrivals, use->arrived = loc;
  }
  /// @param phase  that it has seen; -1: the one before the first, which a fresh barrier passes
  void count_wait(SmemAddr barrier, int64_t phase, Loc loc) {
    if (Warp::Use* use = use_of(barrier)) use->count_wait(barrier.offset(), phase, models::now(), loc);
  }
  /// Nobody ahead in the stream still writes there; what follows griddepcontrol.wait may be sure of it.
  void check_prerequisites(GlobalAddr address, const char* what, Loc loc);
  void begin_span(TraceEvent event, const TraceArgs& args);
  void end_span();

  Warp& warp_;
  Cta& cta_;
  models::CtaContext& own_;  ///< what the CTA has of the hardware
  models::Sm& sm_;
  const decltype(models::DeviceProfile::issue)& issue_;
  const models::DeviceProfile& profile_;
  static constexpr uint32_t kAllLanes = 0xffffffffu;
  uint32_t active_ = kAllLanes;
  uint32_t cluster_waits_ =
      0;  ///< that have not waited for the phase of the cluster barrier that they have arrived in
  uint32_t cluster_lanes_ = 0;    ///< that have arrived at the cluster barrier before all of the warp have
  bool cluster_release_ = false;  ///< all of them with .release
  double trace_begin_cycles_ = 0, trace_end_cycles_ = 0, trace_first_cycles_ = 0;
  models::Cycles tmem_loads_done_ = 0, tmem_stores_done_ = 0;
  /// A tcgen05.ld that neither a wait::ld nor a read of its registers has followed: where those lie.
  struct UnwaitedLoad {
    const uint32_t *registers, *end;
    uint32_t number;
    bool holds(const uint32_t* at) const { return !std::less<>{}(at, registers) && std::less<>{}(at, end); }
  };
  std::vector<UnwaitedLoad> unwaited_loads_;  ///< in the order of their numbers
  uint32_t tmem_loads_ = 0;                   ///< so far
  uint32_t guessed_load_ = 0;  ///< the last one that per-lane arithmetic would be taken to read; 0: none
  bool valid_unread_ = false;  ///< a wait::ld has completed loads, and no lane arithmetic has followed
  WaitHistory waits_;
  std::optional<Wait> given_up_;
  int clc_responses_ = 0;                     ///< decoded
  models::Cycles global_loads_done_ = 0;      ///< their registers hold values from then on
  models::Cycles copies_done_ = 0;            ///< all cp.async so far have landed then
  std::deque<models::Cycles> copy_groups_{};  ///< of the committed groups that may be pending, oldest first
  /// When the registers of each ld.shared that nobody has stored yet hold their values, oldest first.
  std::deque<models::Cycles> shared_loads_;
};

static_assert(Isa<SimIsa>);

}  // namespace sm100::sim
