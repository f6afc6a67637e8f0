// SPDX-License-Identifier: Apache-2.0
/// Cluster launch control (PTX 9.7.13.17, .18).
#pragma once

#include "kernels/isa/isa.h"
#include "kernels/isa/sm100/target.cuh"

namespace sm100::device {

template <bool kAvailable = kTargetHasClusterLaunchControl>
class ClusterLaunchControl {
 public:
  /// One lane.  Response and signal go to this CTA alone.
  SM100_KERNEL void clusterlaunchcontrol_try_cancel(SmemAddr response, SmemAddr barrier,
                                                    Loc = Loc::current()) const {
    SM100_REQUIRE_CLC(kAvailable);
    asm volatile(
        "clusterlaunchcontrol.try_cancel.async.shared::cta.mbarrier::complete_tx::bytes.b128 [%0], [%1];" ::"r"(
            response.value),
        "r"(barrier.value)
        : "memory");
  }
  /// One lane of the cluster.  Response and signal go to the same offsets in every CTA of the cluster (sm_100a).
  SM100_KERNEL void clusterlaunchcontrol_try_cancel_multicast(SmemAddr response, SmemAddr barrier,
                                                              Loc = Loc::current()) const {
    SM100_REQUIRE_CLC(kAvailable);
    asm volatile(
        "clusterlaunchcontrol.try_cancel.async.shared::cta.mbarrier::complete_tx::bytes"
        ".multicast::cluster::all.b128 [%0], [%1];" ::"r"(response.value),
        "r"(barrier.value)
        : "memory");
  }
  SM100_KERNEL bool clusterlaunchcontrol_query_cancel_is_canceled(const ClcResponse& response) const {
    SM100_REQUIRE_CLC(kAvailable);
    uint32_t canceled;
    asm volatile(
        "{\n\t"
        ".reg .pred p;\n\t"
        ".reg .b128 r;\n\t"
        "mov.b128 r, {%1, %2};\n\t"
        "clusterlaunchcontrol.query_cancel.is_canceled.pred.b128 p, r;\n\t"
        "selp.b32 %0, 1, 0, p;\n\t"
        "}"
        : "=r"(canceled)
        : "l"(response.lo), "l"(response.hi));
    return canceled != 0;
  }
  /// Undefined unless is_canceled said true; volatile keeps the compiler from hoisting it above that branch.
  SM100_KERNEL Dim3 clusterlaunchcontrol_query_cancel_get_first_ctaid(const ClcResponse& response) const {
    SM100_REQUIRE_CLC(kAvailable);
    Dim3 ctaid;
    asm volatile(
        "{\n\t"
        ".reg .b128 r;\n\t"
        "mov.b128 r, {%3, %4};\n\t"
        "clusterlaunchcontrol.query_cancel.get_first_ctaid.v4.b32.b128 {%0, %1, %2, _}, r;\n\t"
        "}"
        : "=r"(ctaid.x), "=r"(ctaid.y), "=r"(ctaid.z)
        : "l"(response.lo), "l"(response.hi));
    return ctaid;
  }
};

}  // namespace sm100::device
