// SPDX-License-Identifier: Apache-2.0
/// Meetings of a warp, a CTA, a cluster and of grids (PTX 9.7.13.1, .4, .13, 9.7.14), and the proxy fence.
#pragma once

#include "kernels/isa/instructions/instruction.h"

namespace sm100::instructions {

/// Returns a mask with one lane: the lowest, as hardware elects (PTX 9.7.14: which one is not said).
struct ElectSync {
  static constexpr Description kIs{.function = "elected", .opcode = "elect.sync", .aligned = true};
  static constexpr SupportLine kSupport[] = {{"elect.sync", Support::modelled, "elects the lowest lane"}};
  template <class Self, class Visit>
  static constexpr void operands(Self&, Visit&&) {}
  uint32_t execute(sim::WarpContext&) const;
};

struct BarWarpSync {
  static constexpr Description kIs{
      .function = "bar_warp_sync", .opcode = "bar.warp.sync", .aligned = true, .faults = Alterable::step};
  static constexpr SupportLine kSupport[] = {{"bar.warp.sync", Support::modelled, ""}};
  template <class Self, class Visit>
  static constexpr void operands(Self&, Visit&&) {}
  void execute(sim::WarpContext&) const;
};

struct BarSync {
  static constexpr Description kIs{.function = "bar_sync",
                                   .opcode = "bar.sync",
                                   .aligned = true,
                                   .faults = Alterable::step,
                                   .add = {"threads", "id"}};
  static constexpr SupportLine kSupport[] = {
      {"bar.sync, bar.arrive, bar.red", Support::modelled, "barriers 0-15 with a thread count; bar.red in PTX"}};
  int id, threads;
  template <class Self, class Visit>
  static constexpr void operands(Self& i, Visit&& visit) {
    visit("id", i.id), visit("threads", i.threads);
  }
  void execute(sim::WarpContext&) const;
};

struct BarArrive {
  static constexpr Description kIs{.function = "bar_arrive",
                                   .opcode = "bar.arrive",
                                   .aligned = true,
                                   .faults = Alterable::step,
                                   .add = {"threads", "id"}};
  static constexpr auto& kSupport = BarSync::kSupport;
  int id, threads;
  template <class Self, class Visit>
  static constexpr void operands(Self& i, Visit&& visit) {
    visit("id", i.id), visit("threads", i.threads);
  }
  void execute(sim::WarpContext&) const;
};

/// Not .aligned: the lanes of a warp may come one after the other.
struct BarrierClusterArrive {
  static constexpr Description kIs{
      .function = "barrier_cluster_arrive", .opcode = "barrier.cluster.arrive.release", .faults = Alterable::step};
  static constexpr SupportLine kSupport[] = {{"barrier.cluster.arrive{.release, .relaxed}, .wait",
                                              Support::modelled,
                                              "all threads of the cluster; lanes may arrive apart (not .aligned)"}};
  template <class Self, class Visit>
  static constexpr void operands(Self&, Visit&&) {}
  void execute(sim::WarpContext&) const;
};

/// Hands on nothing but what fence.mbarrier_init has fenced.
struct BarrierClusterArriveRelaxed {
  static constexpr Description kIs{.function = "barrier_cluster_arrive_relaxed",
                                   .opcode = "barrier.cluster.arrive.relaxed"};
  static constexpr auto& kSupport = BarrierClusterArrive::kSupport;
  template <class Self, class Visit>
  static constexpr void operands(Self&, Visit&&) {}
  void execute(sim::WarpContext&) const;
};

struct BarrierClusterWait {
  static constexpr Description kIs{
      .function = "barrier_cluster_wait", .opcode = "barrier.cluster.wait.acquire", .faults = Alterable::step};
  static constexpr auto& kSupport = BarrierClusterArrive::kSupport;
  template <class Self, class Visit>
  static constexpr void operands(Self&, Visit&&) {}
  void execute(sim::WarpContext&) const;
};

struct FenceProxyAsyncSharedCta {
  static constexpr Description kIs{.function = "fence_proxy_async_shared_cta",
                                   .opcode = "fence.proxy.async.shared::cta",
                                   .faults = Alterable::step};
  static constexpr SupportLine kSupport[] = {{"fence.proxy.async.shared::cta", Support::approximated,
                                              "its order is what TM6 and CL8 ask for; no time but its issue"}};
  template <class Self, class Visit>
  static constexpr void operands(Self&, Visit&&) {}
  void execute(sim::WarpContext&) const;
};

struct GriddepcontrolWait {
  static constexpr Description kIs{
      .function = "griddepcontrol_wait", .opcode = "griddepcontrol.wait", .faults = Alterable::step};
  static constexpr SupportLine kSupport[] = {
      {"griddepcontrol.wait", Support::modelled, "all launches ahead have completed"}};
  template <class Self, class Visit>
  static constexpr void operands(Self&, Visit&&) {}
  void execute(sim::WarpContext&) const;
};

struct GriddepcontrolLaunchDependents {
  static constexpr Description kIs{.function = "griddepcontrol_launch_dependents",
                                   .opcode = "griddepcontrol.launch_dependents",
                                   .faults = Alterable::step};
  static constexpr SupportLine kSupport[] = {
      {"griddepcontrol.launch_dependents", Support::approximated, "a dependent's CTA needs an SM of its own"}};
  template <class Self, class Visit>
  static constexpr void operands(Self&, Visit&&) {}
  void execute(sim::WarpContext&) const;
};

using BarrierGroup =
    List<ElectSync, BarWarpSync, BarSync, BarArrive, BarrierClusterArrive, BarrierClusterArriveRelaxed,
         BarrierClusterWait, FenceProxyAsyncSharedCta, GriddepcontrolWait, GriddepcontrolLaunchDependents>;

}  // namespace sm100::instructions
