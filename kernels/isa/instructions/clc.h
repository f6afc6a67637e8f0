// SPDX-License-Identifier: Apache-2.0
/// Cluster launch control (PTX 9.7.13.17, .18).
#pragma once

#include "kernels/isa/instructions/instruction.h"

namespace sm100::instructions {

struct ClusterlaunchcontrolTryCancel {
  static constexpr Description kIs{.function = "clusterlaunchcontrol_try_cancel",
                                   .opcode = "clusterlaunchcontrol.try_cancel.async",
                                   .each_lane = true,
                                   .faults = Alterable::step,
                                   .add = {"response", "barrier"}};
  static constexpr SupportLine kSupport[] = {{"clusterlaunchcontrol.try_cancel.async", Support::modelled, ""}};
  SmemAddr response, barrier;
  template <class Self, class Visit>
  static constexpr void operands(Self& i, Visit&& visit) {
    visit("response", i.response), visit("barrier", i.barrier);
  }
  void execute(sim::WarpContext&) const;
};

/// Response and signal go to the same offsets in every CTA of the cluster.
struct ClusterlaunchcontrolTryCancelMulticast {
  static constexpr Description kIs{.function = "clusterlaunchcontrol_try_cancel_multicast",
                                   .opcode = "clusterlaunchcontrol.try_cancel.async",
                                   .each_lane = true,
                                   .other_ctas = true,
                                   .faults = Alterable::step,
                                   .add = {"response", "barrier"}};
  static constexpr SupportLine kSupport[] = {
      {"clusterlaunchcontrol....multicast::cluster::all", Support::modelled, "reaches all CTAs at one cycle"}};
  SmemAddr response, barrier;
  bool multicast = true;  ///< false: altered into the form without
  template <class Self, class Visit>
  static constexpr void operands(Self& i, Visit&& visit) {
    visit("response", i.response), visit("barrier", i.barrier), visit("multicast", i.multicast);
  }
  void execute(sim::WarpContext&) const;
};

struct ClusterlaunchcontrolQueryCancelIsCanceled {
  static constexpr Description kIs{.function = "clusterlaunchcontrol_query_cancel_is_canceled",
                                   .opcode = "clusterlaunchcontrol.query_cancel.is_canceled"};
  static constexpr SupportLine kSupport[] = {
      {"clusterlaunchcontrol.query_cancel.is_canceled", Support::modelled, ""}};
  ClcResponse response;
  template <class Self, class Visit>
  static constexpr void operands(Self&, Visit&&) {}
  bool execute(sim::WarpContext&) const;
};

struct ClusterlaunchcontrolQueryCancelGetFirstCtaid {
  static constexpr Description kIs{.function = "clusterlaunchcontrol_query_cancel_get_first_ctaid",
                                   .opcode = "clusterlaunchcontrol.query_cancel.get_first_ctaid"};
  static constexpr SupportLine kSupport[] = {
      {"clusterlaunchcontrol.query_cancel.get_first_ctaid", Support::modelled, ""}};
  ClcResponse response;
  template <class Self, class Visit>
  static constexpr void operands(Self&, Visit&&) {}
  Dim3 execute(sim::WarpContext&) const;
};

using ClcGroup = List<ClusterlaunchcontrolTryCancel, ClusterlaunchcontrolTryCancelMulticast,
                      ClusterlaunchcontrolQueryCancelIsCanceled, ClusterlaunchcontrolQueryCancelGetFirstCtaid>;

}  // namespace sm100::instructions
