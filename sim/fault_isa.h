// SPDX-License-Identifier: Apache-2.0
/// Faults as an Isa decorator: alters instructions on their way to the model, as a scenario's [[fault]]
/// entries say.  The kernel source is never edited to break it.
///
/// Every function reads the same: which faults match this execution, then the instruction with the operands as altered,
/// as often and in the lanes as they say.  What can be altered stands in kernels/host/fault.h; an instruction that names
/// no mbarrier counts as one of the barrier and stage that its warp waited for last.
#pragma once

#include <algorithm>
#include <string_view>
#include <vector>

#include "kernels/host/scenario.h"
#include "sim/alteration.h"
#include "sim/sim_isa.h"

namespace sm100::sim {

/// Name of an instruction that has a row in the table of faults.
struct FaultableInstruction {
  consteval FaultableInstruction(const char* isa_function) : name(isa_function) {
    if (host::fault_row(name) < 0) throw "kernels/host/fault.h has no such instruction";
  }
  std::string_view name;
};

class FaultIsa : public SimIsa {
  using Operand = FaultOperand;
  template <int N>
  using Registers = LaneArray<uint32_t, N>;
  using RemoteBarriers = LaneArray<ClusterSmemAddr, 1>;

 public:
  /// @param altered  per fault: counts the instructions it altered, over all warps
  FaultIsa(Warp& warp, const models::DeviceProfile& profile, const std::vector<host::FaultSpec>& faults,
           std::vector<uint64_t>& altered)
      : SimIsa(warp, profile), faults_(faults), altered_(altered), matches_(faults.size(), 0) {}

  // ---- mbarrier
  void mbarrier_init(SmemAddr barrier, uint32_t count, Loc loc = Loc::current()) {
    const Alteration a = match("mbarrier_init", barrier.offset());
    perform(a, [&] {
      SimIsa::mbarrier_init(a.moved(Operand::barrier, barrier), a.changed(Operand::count, count), loc);
    });
  }
  template <class Address>
  void mbarrier_arrive(Address barrier, Scope scope, Loc loc = Loc::current()) {
    if (released_already(barrier.offset())) return;
    const Alteration a = match("mbarrier_arrive", barrier.offset());
    perform(a, [&] { SimIsa::mbarrier_arrive(signalled(a, barrier), a.scope(scope), loc); });
  }
  void mbarrier_arrive(const RemoteBarriers& barriers, Scope scope, Loc loc = Loc::current()) {
    const Alteration a = match("mbarrier_arrive", barriers[first_active_lane()][0].offset());
    const RemoteBarriers to = signalled(a, barriers);
    perform(a, [&] { SimIsa::mbarrier_arrive(to, a.scope(scope), loc); });
  }
  void mbarrier_arrive_expect_tx(SmemAddr barrier, uint32_t bytes, Scope scope, Loc loc = Loc::current()) {
    const Alteration a = match("mbarrier_arrive_expect_tx", barrier.offset());
    perform(a, [&] {
      SimIsa::mbarrier_arrive_expect_tx(signalled(a, barrier), a.changed(Operand::bytes, bytes), a.scope(scope),
                                        loc);
    });
  }
  void mbarrier_arrive_expect_tx(const RemoteBarriers& barriers, uint32_t bytes, Scope scope,
                                 Loc loc = Loc::current()) {
    const Alteration a = match("mbarrier_arrive_expect_tx", barriers[first_active_lane()][0].offset());
    const RemoteBarriers to = signalled(a, barriers);
    perform(a,
            [&] { SimIsa::mbarrier_arrive_expect_tx(to, a.changed(Operand::bytes, bytes), a.scope(scope), loc); });
  }
  bool mbarrier_try_wait_parity(SmemAddr barrier, uint32_t parity, Scope scope, Loc loc = Loc::current()) {
    // A loop that asks again is one wait.
    const bool again = has_given_up() && wait_.barrier.offset() == barrier.offset() && wait_.parity == parity;
    if (!again) {
      last_wait_ = barrier.offset();
      wait_ = {barrier, parity, match("mbarrier_try_wait_parity", barrier.offset())};
    } else {
      wait_.as.delay = 0, wait_.as.times = 1;
    }
    const Alteration& a = wait_.as;
    bool complete = true;
    perform(a, [&] {
      complete = SimIsa::mbarrier_try_wait_parity(a.moved(Operand::barrier, barrier),
                                                  parity ^ uint32_t(a.flip_parity), a.scope(scope), loc);
    });
    if (complete) release_early(barrier, loc);
    return complete;
  }
  void fence_mbarrier_init(Loc loc = Loc::current()) {
    perform(match("fence_mbarrier_init"), [&] { SimIsa::fence_mbarrier_init(loc); });
  }
  ClusterSmemAddr mapa(SmemAddr address, uint32_t rank, Loc loc = Loc::current()) {
    const Alteration a = match("mapa", address.offset());
    ClusterSmemAddr mapped = as_cluster(address);
    perform(
        a, [&] { mapped = SimIsa::mapa(a.moved(Operand::address, address), a.changed(Operand::rank, rank), loc); });
    return mapped;
  }
  RemoteBarriers mapa(SmemAddr address, const Registers<1>& ranks, Loc loc = Loc::current()) {
    const Alteration a = match("mapa", address.offset());
    Registers<1> to = ranks;
    for (auto& rank : to.registers) rank[0] = a.changed(Operand::rank, rank[0]);
    RemoteBarriers mapped;
    for (auto& barrier : mapped.registers) barrier[0] = as_cluster(address);
    perform(a, [&] { mapped = SimIsa::mapa(a.moved(Operand::address, address), to, loc); });
    return mapped;
  }

  // ---- CTA and cluster barriers, fences, dependent launch
  void bar_warp_sync(Loc loc = Loc::current()) {
    perform(match("bar_warp_sync"), [&] { SimIsa::bar_warp_sync(loc); });
  }
  void bar_sync(int id, int threads, Loc loc = Loc::current()) {
    const Alteration a = match("bar_sync", last_wait_, id);
    perform(a, [&] { SimIsa::bar_sync(a.changed(Operand::id, id), a.changed(Operand::threads, threads), loc); });
  }
  void bar_arrive(int id, int threads, Loc loc = Loc::current()) {
    const Alteration a = match("bar_arrive", last_wait_, id);
    perform(a, [&] { SimIsa::bar_arrive(a.changed(Operand::id, id), a.changed(Operand::threads, threads), loc); });
  }
  void barrier_cluster_arrive(Loc loc = Loc::current()) {
    perform(match("barrier_cluster_arrive"), [&] { SimIsa::barrier_cluster_arrive(loc); });
  }
  void barrier_cluster_wait(Loc loc = Loc::current()) {
    perform(match("barrier_cluster_wait"), [&] { SimIsa::barrier_cluster_wait(loc); });
  }
  void fence_proxy_async_shared_cta(Loc loc = Loc::current()) {
    perform(match("fence_proxy_async_shared_cta"), [&] { SimIsa::fence_proxy_async_shared_cta(loc); });
  }
  void griddepcontrol_wait(Loc loc = Loc::current()) {
    perform(match("griddepcontrol_wait"), [&] { SimIsa::griddepcontrol_wait(loc); });
  }
  void griddepcontrol_launch_dependents(Loc loc = Loc::current()) {
    perform(match("griddepcontrol_launch_dependents"), [&] { SimIsa::griddepcontrol_launch_dependents(loc); });
  }

  // ---- loads and stores that the protocol depends on
  uint32_t ld_shared_u32(SmemAddr address, Loc loc = Loc::current()) {
    const Alteration a = match("ld_shared_u32");
    uint32_t value = 0;
    perform(a, [&] { value = SimIsa::ld_shared_u32(a.moved(Operand::address, address), loc); });
    return value;
  }
  ClcResponse ld_shared_b128(SmemAddr address, Loc loc = Loc::current()) {
    const Alteration a = match("ld_shared_b128");
    ClcResponse response{};
    perform(a, [&] { response = SimIsa::ld_shared_b128(a.moved(Operand::address, address), loc); });
    return response;
  }
  uint32_t ld_acquire_gpu_global_u32(GlobalAddr address, Loc loc = Loc::current()) {
    const Alteration a = match("ld_acquire_gpu_global_u32");
    uint32_t value = 0;
    perform(a, [&] { value = SimIsa::ld_acquire_gpu_global_u32(a.moved(Operand::address, address), loc); });
    return a.changed(Operand::value, value);
  }
  void st_release_gpu_global_u32(GlobalAddr address, uint32_t value, Loc loc = Loc::current()) {
    const Alteration a = match("st_release_gpu_global_u32");
    perform(a, [&] {
      SimIsa::st_release_gpu_global_u32(a.moved(Operand::address, address), a.changed(Operand::value, value), loc);
    });
  }

  // ---- tensor copies and bulk groups
  template <int N>
  void cp_async_bulk_tensor_shared_global(SmemAddr dst, const TensorMap* map, TensorCoords<N> coords,
                                          SmemAddr barrier, int cta_group = 1, Loc loc = Loc::current()) {
    const Alteration a = match("cp_async_bulk_tensor_shared_global", barrier.offset());
    perform(a, [&] {
      SimIsa::cp_async_bulk_tensor_shared_global(a.moved(Operand::smem, dst), map, a.moved(coords),
                                                 signalled(a, barrier), cta_group, loc);
    });
  }
  template <int N>
  void cp_async_bulk_tensor_shared_global_multicast(SmemAddr dst, const TensorMap* map, TensorCoords<N> coords,
                                                    SmemAddr barrier, CtaMask mask, int cta_group = 1,
                                                    Loc loc = Loc::current()) {
    const Alteration a = match("cp_async_bulk_tensor_shared_global_multicast", barrier.offset());
    perform(a, [&] {
      SimIsa::cp_async_bulk_tensor_shared_global_multicast(a.moved(Operand::smem, dst), map, a.moved(coords),
                                                           signalled(a, barrier), a.mask(mask, cluster_ctarank()),
                                                           cta_group, loc);
    });
  }
  template <int N>
  void cp_async_bulk_tensor_global_shared(const TensorMap* map, TensorCoords<N> coords, SmemAddr src,
                                          Loc loc = Loc::current()) {
    const Alteration a = match("cp_async_bulk_tensor_global_shared");
    perform(a, [&] {
      SimIsa::cp_async_bulk_tensor_global_shared(map, a.moved(coords), a.moved(Operand::smem, src), loc);
    });
  }
  void cp_async_bulk_commit_group() {
    perform(match("cp_async_bulk_commit_group"), [&] { SimIsa::cp_async_bulk_commit_group(); });
  }
  template <int N>
  void cp_async_bulk_wait_group_read() {
    const Alteration a = match("cp_async_bulk_wait_group_read");
    perform(a, [&] { wait_group(std::max(0, a.changed(Operand::pending, N)), true); });
  }
  template <int N>
  void cp_async_bulk_wait_group() {
    const Alteration a = match("cp_async_bulk_wait_group");
    perform(a, [&] { wait_group(std::max(0, a.changed(Operand::pending, N)), false); });
  }

  // ---- tcgen05
  void tcgen05_alloc(SmemAddr dst, uint32_t columns, int cta_group, Loc loc = Loc::current()) {
    const Alteration a = match("tcgen05_alloc");
    perform(a, [&] {
      SimIsa::tcgen05_alloc(a.moved(Operand::address, dst), a.changed(Operand::columns, columns),
                            a.changed(Operand::cta_group, cta_group), loc);
    });
  }
  void tcgen05_dealloc(TmemAddr address, uint32_t columns, int cta_group, Loc loc = Loc::current()) {
    const Alteration a = match("tcgen05_dealloc");
    perform(a, [&] {
      SimIsa::tcgen05_dealloc(a.moved(address), a.changed(Operand::columns, columns),
                              a.changed(Operand::cta_group, cta_group), loc);
    });
  }
  void tcgen05_relinquish_alloc_permit(int cta_group, Loc loc = Loc::current()) {
    const Alteration a = match("tcgen05_relinquish_alloc_permit");
    perform(a, [&] { SimIsa::tcgen05_relinquish_alloc_permit(a.changed(Operand::cta_group, cta_group), loc); });
  }
  using SimIsa::tcgen05_mma;  // A in tensor memory: no kernel that faults are written for has it
  void tcgen05_mma(MmaKind kind, int cta_group, TmemAddr d, SmemDescriptor a_tile, SmemDescriptor b_tile,
                   InstrDescriptor idesc, bool enable_input_d, Loc loc = Loc::current()) {
    const Alteration a = match("tcgen05_mma");
    perform(a, [&] {
      SimIsa::tcgen05_mma(kind, cta_group, a.moved(d), a.moved(Operand::a, a_tile), a.moved(Operand::b, b_tile),
                          idesc, a.changed(Operand::enable_input_d, int(enable_input_d)) > 0, loc);
    });
  }
  void tcgen05_commit(int cta_group, SmemAddr barrier, Loc loc = Loc::current()) {
    const Alteration a = match("tcgen05_commit", barrier.offset());
    perform(a,
            [&] { SimIsa::tcgen05_commit(a.changed(Operand::cta_group, cta_group), signalled(a, barrier), loc); });
  }
  void tcgen05_commit_multicast(int cta_group, SmemAddr barrier, CtaMask mask, Loc loc = Loc::current()) {
    const Alteration a = match("tcgen05_commit_multicast", barrier.offset());
    perform(a, [&] {
      SimIsa::tcgen05_commit_multicast(a.changed(Operand::cta_group, cta_group), a.moved(Operand::barrier, barrier),
                                       a.mask(mask, cluster_ctarank()), loc);
    });
  }
  template <int R>
  Registers<4 * R> tcgen05_ld_16x256b(TmemAddr address, Loc loc = Loc::current()) {
    const Alteration a = match("tcgen05_ld_16x256b");
    Registers<4 * R> values{};
    perform(a, [&] { values = SimIsa::tcgen05_ld_16x256b<R>(a.moved(address), loc); });
    return values;
  }
  template <int R>
  Registers<R> tcgen05_ld_32x32b(TmemAddr address, Loc loc = Loc::current()) {
    const Alteration a = match("tcgen05_ld_32x32b");
    Registers<R> values{};
    perform(a, [&] { values = SimIsa::tcgen05_ld_32x32b<R>(a.moved(address), loc); });
    return values;
  }
  void tcgen05_wait_ld(Loc loc = Loc::current()) {
    perform(match("tcgen05_wait_ld"), [&] { SimIsa::tcgen05_wait_ld(loc); });
  }
  template <int N>
  void tcgen05_wait_ld(Registers<N>&, Loc loc = Loc::current()) {
    tcgen05_wait_ld(loc);
  }
  template <int N>
  void tcgen05_wait_ld(Registers<N>&, Registers<N>&, Loc loc = Loc::current()) {
    tcgen05_wait_ld(loc);
  }
  template <int N>
  void tcgen05_st_16x256b(TmemAddr address, const Registers<N>& values, Loc loc = Loc::current()) {
    const Alteration a = match("tcgen05_st_16x256b");
    perform(a, [&] { SimIsa::tcgen05_st_16x256b(a.moved(address), values, loc); });
  }
  void tcgen05_wait_st(Loc loc = Loc::current()) {
    perform(match("tcgen05_wait_st"), [&] { SimIsa::tcgen05_wait_st(loc); });
  }
  void tcgen05_fence_before_thread_sync(Loc loc = Loc::current()) {
    perform(match("tcgen05_fence_before_thread_sync"), [&] { SimIsa::tcgen05_fence_before_thread_sync(loc); });
  }
  void tcgen05_fence_after_thread_sync(Loc loc = Loc::current()) {
    perform(match("tcgen05_fence_after_thread_sync"), [&] { SimIsa::tcgen05_fence_after_thread_sync(loc); });
  }

  // ---- cluster launch control
  void clusterlaunchcontrol_try_cancel(SmemAddr response, SmemAddr barrier, Loc loc = Loc::current()) {
    const Alteration a = match("clusterlaunchcontrol_try_cancel", barrier.offset());
    perform(a, [&] {
      SimIsa::clusterlaunchcontrol_try_cancel(a.moved(Operand::response, response),
                                              a.moved(Operand::barrier, barrier), loc);
    });
  }
  void clusterlaunchcontrol_try_cancel_multicast(SmemAddr response, SmemAddr barrier, Loc loc = Loc::current()) {
    const Alteration a = match("clusterlaunchcontrol_try_cancel_multicast", barrier.offset());
    const SmemAddr to = a.moved(Operand::response, response), signal = a.moved(Operand::barrier, barrier);
    perform(a, [&] {
      if (a.own_cta)
        SimIsa::clusterlaunchcontrol_try_cancel(to, signal, loc);
      else
        SimIsa::clusterlaunchcontrol_try_cancel_multicast(to, signal, loc);
    });
  }

 private:
  /// What the faults change in this execution of `instruction` on the barrier at that shared-memory offset.
  Alteration match(FaultableInstruction instruction, uint32_t barrier, int id = -1);
  Alteration match(FaultableInstruction instruction) { return match(instruction, last_wait_); }
  /// Everything but the occurrence agrees.
  bool selects(const host::FaultSpec& fault, std::string_view instruction, const BarrierName& barrier, int id);
  /// Counts a match; true if it is an occurrence that is meant.
  bool counts(size_t fault);

  /// After a wait: releases what it waited for, if a fault says so.
  void release_early(SmemAddr waited, Loc loc);
  /// This arrival on the barrier at that offset has been made early.
  bool released_already(uint32_t barrier);

  /// Executes f as altered: delay, lanes, how often.
  template <class F>
  void perform(const Alteration& a, F&& f) {
    if (a.delay > 0) warp().pass(a.delay);
    auto executions = [&] {
      for (int i = 0; i < a.times; ++i) f();
    };
    const int lane = first_active_lane();
    switch (a.lanes) {
      case Alteration::Lanes::as_written: return executions();
      case Alteration::Lanes::all: return with_active(0xffffffffu, executions);
      case Alteration::Lanes::one: return with_active(1u << lane, executions);
      case Alteration::Lanes::other: return with_active(1u << (lane + 1) % kWarpLanes, executions);
    }
  }

  /// The barrier as altered.
  template <class Address>
  Address signalled(const Alteration& a, Address barrier) {
    const Address moved = a.moved(Operand::barrier, barrier);
    return a.own_cta ? Address{cluster_ctarank() << kClusterRankShift | moved.offset()} : moved;
  }
  /// Lanes that had no address, because they were not active, take that of the first that was.
  RemoteBarriers signalled(const Alteration& a, RemoteBarriers barriers) {
    const ClusterSmemAddr first = barriers[first_active_lane()][0];
    for (int lane = 0; lane < kWarpLanes; ++lane) {
      ClusterSmemAddr& barrier = barriers[lane][0];
      barrier = signalled(a, is_active(lane) ? barrier : first);
    }
    return barriers;
  }

  const std::vector<host::FaultSpec>& faults_;
  std::vector<uint64_t>& altered_;
  std::vector<int64_t> matches_;  ///< per fault, of this warp and CTA
  /// The last try_wait as role code wrote it, and what becomes of it.
  struct {
    SmemAddr barrier;
    uint32_t parity;
    Alteration as;
  } wait_{};
  uint32_t last_wait_ = 0;                ///< offset of the mbarrier that the warp waited for last
  std::vector<uint32_t> released_early_;  ///< offsets of barriers whose next arrival has been made
};

static_assert(Isa<FaultIsa>);

}  // namespace sm100::sim
