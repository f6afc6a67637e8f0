// SPDX-License-Identifier: Apache-2.0
// Cluster launch control on the model.
#include "kernels/isa/instructions/clc.h"

#include "sim/warp_context.h"

namespace sm100::instructions {

using sim::HazardChecker;
using sim::WarpContext;

namespace {

void try_cancel(WarpContext& w, SmemAddr response, SmemAddr barrier, bool multicast) {
  w.charge(w.issue.clc_try_cancel);
  if (!w.own_window(response, "try_cancel") || !w.own_window(barrier, "try_cancel's mbarrier")) return;
  models::Gpu& gpu = w.cta.gpu();
  const CtaMask mask{multicast ? uint16_t((1u << w.cta.cluster_ctas()) - 1) : uint16_t(1u << w.cluster_ctarank())};
  const models::Cycles at = w.enqueue_cycle();
  HazardChecker* h = w.hazards();
  w.for_each_thread([&](models::Source by) {
    if (h) {
      by.op = h->new_op();
      for (uint32_t r = 0; r < w.cta.cluster_ctas(); ++r)
        if (mask.bits >> r & 1) h->uses_barrier(w.thread(), r, barrier.offset(), true);
      h->clc_request(w.thread(by.lane), mask, response.offset(), barrier.offset(), by.op);
    }
    // The response comes from outside the cluster and reaches its CTAs together.
    const auto to = gpu.clusters().multicast(w.own.slot, mask, "a CLC response", barrier.offset(), by,
                                             models::JitterSite::clc_delivery);
    gpu.clc().try_cancel(w.own.clc, w.own.smem, response.offset(), barrier.offset(), at, by,
                         [&gpu, to, response, barrier](const ClcResponse& answer, const models::Source& clc) {
                           to(0, [&gpu, response, barrier, answer, clc](int slot, models::Mbarrier& target) {
                             gpu.cta(slot).smem.store(response.offset(), answer);
                             target.complete_tx(barrier.offset(), sizeof answer, clc);
                           });
                         });
  });
}

}  // namespace

void ClusterlaunchcontrolTryCancel::execute(WarpContext& w) const { try_cancel(w, response, barrier, false); }
void ClusterlaunchcontrolTryCancelMulticast::execute(WarpContext& w) const {
  try_cancel(w, response, barrier, multicast);
}

bool ClusterlaunchcontrolQueryCancelIsCanceled::execute(WarpContext& w) const {
  w.charge(w.issue.alu);
  const bool canceled = is_canceled(response);
  w.cta.observer().clc_decoded(w.cta, w.clc_responses++, response, w.source());
  if (!canceled) models::Clc::failure_observed(w.own.clc);
  return canceled;
}

Dim3 ClusterlaunchcontrolQueryCancelGetFirstCtaid::execute(WarpContext& w) const {
  w.charge(w.issue.alu);
  if (!is_canceled(response)) w.violate("CL3", "query_cancel.get_first_ctaid of a response that failed");
  return first_ctaid(response);
}

}  // namespace sm100::instructions
