// SPDX-License-Identifier: Apache-2.0
// Bulk copies and reductions of bytes on the model: tensor copies of one row, and copies between CTAs.
#include "kernels/isa/instructions/bulk_copy.h"

#include <fmt/format.h>

#include <optional>

#include "sim/warp_context.h"

namespace sm100::instructions {

using models::Cycles;
using sim::HazardChecker;
using sim::Warp;
using sim::WarpContext;

namespace {

void load_bulk(WarpContext& w, SmemAddr smem, GlobalAddr global, uint32_t bytes, SmemAddr barrier,
          std::optional<CtaMask> multicast) {
  w.charge(w.issue.bulk_tensor);
  if (!w.cluster_window(smem, "cp.async.bulk") ||
      !w.signals_at_destination(smem, barrier, multicast.has_value(), "cp.async.bulk"))
    return;
  if (!multicast && w.rank_of(smem) != w.cluster_ctarank()) multicast = CtaMask{uint16_t(1u << w.rank_of(smem))};
  w.check_prerequisites(global, "bulk copy");
  models::TensorCopy copy = models::linear_copy(global, smem.offset(), bytes);
  copy.barrier = barrier.offset();
  copy.multicast = multicast ? multicast->bits : 0;
  if (Warp::Use* use = w.use_of(barrier)) use->copied = w.loc();
  const CtaMask ranks = multicast.value_or(CtaMask{uint16_t(1u << w.cluster_ctarank())});
  const Cycles at = w.enqueue_cycle();
  if (!w.sm.with_data) w.forget(ranks, copy.smem, bytes);
  HazardChecker* h = w.hazards();
  if (h) h->bulk_source(w.thread(), global, bytes), h->bulk_read(w.thread(), copy);
  w.for_each_thread([&](const models::Source& by) {
    copy.source = by;
    if (h) {
      copy.source.op = h->new_op();
      for (uint32_t r = 0; r < w.cta.cluster_ctas(); ++r)
        if (ranks.bits >> r & 1) h->uses_barrier(w.thread(), r, copy.barrier, true);
      h->tensor_load(w.thread(by.lane), ranks, copy.smem, bytes, copy.barrier, -1, copy.source.op, true);
    }
    if (multicast)
      w.cta.gpu().clusters().load_multicast(w.own.slot, copy, *multicast, at);
    else
      w.own.tma.load(copy, at);
  });
}

/// Into the open bulk groups of the lanes in `threads`.
void store(WarpContext& w, models::TensorCopy copy, SmemAddr smem, uint32_t threads) {
  w.charge(w.issue.bulk_tensor);
  if (!w.own_window(smem, "cp.async.bulk")) return;
  const Cycles at = w.enqueue_cycle();
  HazardChecker* h = w.hazards();
  w.for_each_thread([&](const models::Source& by) {
    if (!(threads >> by.lane & 1)) return;
    copy.source = by;
    w.own.tma.store(copy, at);
    if (h) {
      h->tensor_store(w.thread(by.lane), copy.smem, uint32_t(transfer_bytes(copy.map)), true,
                      copy.byte_mask == 0xffff);
      h->bulk_write(w.thread(by.lane), copy);
    }
  });
}

void copy_shared(WarpContext& w, models::ClusterNet::SharedCopy copy, SmemAddr smem) {
  w.charge(w.issue.bulk_tensor);
  if (!w.own_window(smem, "cp.async.bulk")) return;
  copy.from = smem.offset();
  const Cycles at = w.enqueue_cycle();
  HazardChecker* h = w.hazards();
  w.for_each_thread([&](const models::Source& by) {
    copy.source = by;
    if (h) {
      copy.source.op = h->new_op();
      h->copy_shared(w.thread(by.lane), copy.from, copy.to.rank(), copy.to.offset(), copy.bytes,
                     copy.barrier.offset(), copy.source.op, copy.reduction.has_value());
    }
    w.cta.gpu().clusters().copy_shared(w.own.slot, copy, at);
  });
}

}  // namespace

void CpAsyncBulkSharedGlobal::execute(WarpContext& w) const { load_bulk(w, smem, global, bytes, barrier, {}); }

void CpAsyncBulkSharedGlobalMulticast::execute(WarpContext& w) const {
  load_bulk(w, smem, global, bytes, barrier, mask);
}

/// Once, however many lanes are active, as a tensor store: equal operands write equal bytes.
void CpAsyncBulkGlobalShared::execute(WarpContext& w) const {
  models::TensorCopy copy = models::linear_copy(global, smem.offset(), bytes);
  copy.byte_mask = byte_mask;
  store(w, copy, smem, 1u << w.first_active_lane());
}

void CpAsyncBulkSharedCluster::execute(WarpContext& w) const {
  copy_shared(w, {.from = 0, .bytes = bytes, .to = target, .barrier = barrier, .reduction = {}, .source = {}},
              smem);
}

void CpReduceAsyncBulkGlobal::execute(WarpContext& w) const {
  if (!reduces_global(op, type))
    return w.violate("TM14", fmt::format("cp.reduce.async.bulk.global.shared::cta.{}.{}: PTX has no such reduction",
                                         name(op), name(type)));
  models::TensorCopy copy = models::linear_copy(global, smem.offset(), bytes);
  copy.reduction = {op, type};
  store(w, copy, smem, w.lanes());
}

void CpReduceAsyncBulkSharedCluster::execute(WarpContext& w) const {
  if (!reduces_shared(op, type))
    return w.violate("TM14", fmt::format("cp.reduce.async.bulk.shared::cluster.shared::cta.{}.{}: PTX has no such "
                                         "reduction",
                                         name(op), name(type)));
  copy_shared(w,
              {.from = 0,
               .bytes = bytes,
               .to = target,
               .barrier = barrier,
               .reduction = models::TensorCopy::Reduction{op, type},
               .source = {}},
              smem);
}

void CpAsyncBulkPrefetchL2::execute(WarpContext& w) const {
  w.charge(w.issue.bulk_tensor);
  models::TensorCopy copy = models::linear_copy(global, 0, bytes);
  copy.source = w.source();
  w.own.tma.prefetch(copy, w.enqueue_cycle());
}

}  // namespace sm100::instructions
