// SPDX-License-Identifier: Apache-2.0
// Tensor copies and bulk groups on the model.
#include "kernels/isa/instructions/bulk_tensor.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <optional>

#include "kernels/isa/instructions/bulk_copy.h"
#include "sim/warp_context.h"

namespace sm100::instructions {

using models::Cycles;
using sim::HazardChecker;
using sim::Warp;
using sim::WarpContext;

namespace {

/// Decodes a tensor map.  A kernel has a few and copies with them all the time, so the last ones are kept with
/// their bytes.
bool decode_known(const TensorMap& map, TensorMapFields& fields) {
  struct Known {
    TensorMap map;
    TensorMapFields fields;
  };
  constexpr size_t kKept = 4;
  thread_local std::vector<Known> known;
  thread_local size_t next = 0;
  for (const Known& k : known)
    if (std::memcmp(k.map.bytes, map.bytes, sizeof map.bytes) == 0) {
      fields = k.fields;
      return true;
    }
  if (!decode(map, fields)) return false;
  if (known.size() < kKept)
    known.push_back({map, fields});
  else
    known[next++ % kKept] = {map, fields};
  return true;
}

/// What the CTA's copies see of a map in global memory; nullptr: a finding has been reported.
const TensorMap* view_of_map(WarpContext& w, GlobalAddr map, models::TensorCopy& copy) {
  if (map.value % alignof(TensorMap) != 0) {
    w.violate("TM1", fmt::format("tensor copy with a tensor map at {:#x}: must be {}-byte aligned", map.value,
                                 alignof(TensorMap)));
    return nullptr;
  }
  const auto* view = w.cta.gpu().tensor_maps().fetch(w.own.slot, map, w.issue_cycle());
  if (!view) {
    w.violate("TM1", fmt::format("tensor copy with a tensor map at {:#x}, which no allocation holds", map.value));
    return nullptr;
  }
  copy.map_ready = view->ready;
  return &view->map;
}

bool decode_map(WarpContext& w, TensorMapAddr at, const Coordinates& coords, models::TensorCopy& copy) {
  const TensorMap* map = at.in_global ? view_of_map(w, at.global(), copy) : at.parameter();
  if (!map) return false;
  if (!decode_known(*map, copy.map)) {
    w.violate("TM1", "tensor copy with a tensor map that was never encoded");
    return false;
  }
  if (copy.map.rank != uint32_t(coords.rank)) {
    w.violate("TM1",
              fmt::format("{}-dimensional tensor copy with a tensor map of rank {}", coords.rank, copy.map.rank));
    return false;
  }
  if (copy.map.im2col != coords.im2col) {  // an H200 stops with an illegal instruction
    w.violate("TM1", fmt::format("tensor copy in {} mode with {} tensor map", coords.im2col ? ".im2col" : ".tile",
                                 copy.map.im2col ? "an im2col" : "a tiled"));
    return false;
  }
  if (coords.im2col) std::copy_n(coords.offset.begin(), kImageMaxRank, copy.map.im2col_offset);
  if (coords.four_rows) {
    if (copy.map.box_dim[1] != 1) {
      w.violate("TM1",
                fmt::format("tensor copy of four rows (.tile::gather4, ::scatter4) with a tensor map whose box "
                            "has {} rows: must have 1",
                            copy.map.box_dim[1]));
      return false;
    }
    copy.map.four_rows = true;
    copy.map.box_dim[1] = kGatheredRows;
  }
  std::copy_n(coords.c.begin(), coordinate_count(copy.map), copy.coords.begin());
  copy.source = w.source();
  return true;
}

/// A box of the tensor, whose place and size say which tile it is.
bool is_tile(const TensorMapFields& map) { return !map.four_rows && !map.im2col; }

/// The barrier is where a load with that group may signal.
bool check_signal(WarpContext& w, int cta_group, SmemAddr smem, SmemAddr barrier, std::optional<CtaMask> multicast,
                  const models::Source& by) {
  const uint32_t rank = w.rank_of(barrier), to = w.rank_of(smem);
  if (cta_group != 1 && cta_group != 2) {
    w.violate("TC8", fmt::format("tensor load.cta_group::{}: allowed are 1 and 2", cta_group));
    return false;
  }
  if (cta_group == 1) return w.signals_at_destination(smem, barrier, multicast.has_value(), "tensor load");
  if ((rank ^ to) > 1) {
    w.violate("MB3",
              fmt::format("tensor load's mbarrier at shared address {:#x}: .cta_group::2 names {} or its peer's",
                          barrier.value,
                          to == w.cluster_ctarank() ? "the own CTA's" : "that of the CTA that is loaded to"));
    return false;
  }
  return w.cta.gpu().clusters().signals_exist(
      w.own.slot, multicast.value_or(CtaMask{uint16_t(1u << w.rank_of(smem))}), rank, barrier.offset(), by);
}

void load(WarpContext& w, SmemAddr smem, TensorMapAddr map, const Coordinates& coords, SmemAddr barrier,
          int cta_group, std::optional<CtaMask> multicast) {
  w.charge(w.issue.bulk_tensor);
  models::TensorCopy copy;
  if (!decode_map(w, map, coords, copy)) return;
  w.check_prerequisites({copy.map.global_address}, "tensor load");
  const uint32_t barrier_rank = barrier.value >> kClusterRankShift;
  if (!w.cluster_window(smem, "tensor load") || !check_signal(w, cta_group, smem, barrier, multicast, copy.source))
    return;
  // To another CTA alone is a multicast to that one.
  if (!multicast && w.rank_of(smem) != w.cluster_ctarank()) multicast = CtaMask{uint16_t(1u << w.rank_of(smem))};
  const CtaMask ranks = multicast.value_or(CtaMask{uint16_t(1u << w.cluster_ctarank())});
  copy.smem = smem.offset();
  copy.barrier = barrier.offset();
  copy.multicast = multicast ? multicast->bits : 0;
  if (Warp::Use* use = w.use_of(barrier)) {
    use->copied = w.loc();
    if (is_tile(copy.map)) use->note_box(copy.map, copy.coords, w.loc());
  }
  if (is_tile(copy.map))
    w.warp.copies_tile(copy.coords.data(), copy.map.box_dim, copy.map.global_dim, copy.map.rank);
  const Cycles at = std::max(w.enqueue_cycle(), copy.map_ready);
  if (!w.sm.with_data) w.forget(ranks, copy.smem, smem_footprint(copy.map));
  HazardChecker* h = w.hazards();
  w.for_each_thread([&](const models::Source& by) {
    copy.source = by;
    if (h) {
      copy.source.op = h->new_op();
      for (uint32_t r = 0; r < w.cta.cluster_ctas(); ++r)
        if (ranks.bits >> r & 1)
          h->uses_barrier(w.thread(), cta_group == 2 ? (r & ~1u) | (barrier_rank & 1) : r, copy.barrier, true);
      h->tensor_load(w.thread(by.lane), ranks, copy.smem, smem_footprint(copy.map), copy.barrier,
                     cta_group == 2 ? int(barrier_rank & 1) : -1, copy.source.op);
      h->bulk_read(w.thread(by.lane), copy);
      if (map.in_global) h->map_use(w.thread(by.lane), map.global(), true, copy.barrier, copy.source.op);
    }
    if (multicast) {
      w.cta.gpu().clusters().load_multicast(w.own.slot, copy, *multicast, at, cta_group, barrier_rank);
    } else if (barrier_rank != w.cluster_ctarank()) {
      w.cta.gpu().clusters().load_pair(w.own.slot, copy, barrier_rank, at);
    } else {
      w.own.tma.load(copy, at);
    }
  });
}

}  // namespace

void PrefetchTensormap::execute(WarpContext& w) const { w.charge(w.issue.bulk_tensor); }

void CpAsyncBulkTensorSharedGlobal::execute(WarpContext& w) const {
  load(w, smem, map, coords, barrier, cta_group, {});
}

void CpAsyncBulkTensorSharedGlobalMulticast::execute(WarpContext& w) const {
  load(w, smem, map, coords, barrier, cta_group, mask);
}

void CpAsyncBulkTensorGlobalShared::execute(WarpContext& w) const {
  w.charge(w.issue.bulk_tensor);
  models::TensorCopy copy;
  if (!decode_map(w, map, coords, copy)) return;
  if (!w.own_window(smem, "tensor store")) return;
  copy.smem = smem.offset();
  const Cycles at = std::max(w.enqueue_cycle(), copy.map_ready);
  // Once, however many lanes are active: with equal operands ptxas makes one UTMASTG of it, without the loop over
  // lanes that it makes of loads and reductions.  An H200 takes 4,164 cycles for 16 stores of 8 KiB by 1 lane, by 2
  // and by 32.
  copy.source = w.source();
  copy.source.lane = int8_t(w.first_active_lane());
  w.own.tma.store(copy, at);
  if (HazardChecker* h = w.hazards()) {
    h->tensor_store(w.thread(copy.source.lane), copy.smem, smem_footprint(copy.map));
    h->bulk_write(w.thread(copy.source.lane), copy);
    if (map.in_global) h->map_use(w.thread(copy.source.lane), map.global(), false, 0, 0);
  }
}

void CpReduceAsyncBulkTensor::execute(WarpContext& w) const {
  w.charge(w.issue.bulk_tensor);
  models::TensorCopy copy;
  if (!decode_map(w, map, coords, copy)) return;
  if (!w.own_window(smem, "tensor reduction")) return;
  const ReduceType type = tensor_reduction(op, copy.map.data_type);
  if (type == ReduceType::none)
    return w.violate("TM14",
                     fmt::format("cp.reduce.async.bulk.tensor...{} with a tensor map of data type {}: PTX has "
                                 "no such reduction",
                                 name(op), int(copy.map.data_type)));
  copy.reduction = {op, type};
  copy.smem = smem.offset();
  const Cycles at = w.enqueue_cycle();
  HazardChecker* h = w.hazards();
  w.for_each_thread([&](const models::Source& by) {  // each lane, unlike stores (an H200)
    copy.source = by;
    w.own.tma.store(copy, at);
    if (h)
      h->tensor_store(w.thread(by.lane), copy.smem, smem_footprint(copy.map)),
          h->bulk_write(w.thread(by.lane), copy);
  });
}

void CpAsyncBulkPrefetchTensorL2::execute(WarpContext& w) const {
  w.charge(w.issue.bulk_tensor);
  models::TensorCopy copy;
  if (!decode_map(w, map, coords, copy)) return;
  w.own.tma.prefetch(copy, w.enqueue_cycle());
}

// ---- bulk groups

void CpAsyncBulkCommitGroup::execute(WarpContext& w) const {
  w.charge(w.issue.bulk_group);
  w.own.tma.commit_group(w.warp.index, w.lanes());
  if (HazardChecker* h = w.hazards()) h->commit_group(w.thread(), w.lanes());
}

namespace {

void wait_group(WarpContext& w, int pending, bool read_only) {
  pending = std::max(0, pending);
  w.charge(w.issue.bulk_group);
  w.settle();  // what the warp writes next must come after the stores' reads also in simulated time
  const Cycles done = w.own.tma.groups_done(w.warp.index, w.lanes(), pending, read_only);
  if (w.cta.observer().recorder()) {
    const uint64_t last = done > 0 ? w.own.tma.last_of_groups(w.warp.index, w.lanes(), pending, read_only) : 0;
    w.warp.waiter.cause = last;
    w.warp.waiter.by = {.kind = models::ActorKind::tma, .flow = last, .cta = w.cta.linear_id()};
    if (!w.warp.open_spans.empty()) w.warp.open_spans.back().flow_in = last;
  }
  w.warp.suspend_until(done, {.on = sim::Blocked::On::bulk_group});
  if (HazardChecker* h = w.hazards()) h->wait_group(w.thread(), w.lanes(), pending, read_only);
}

}  // namespace

void CpAsyncBulkWaitGroupRead::execute(WarpContext& w) const { wait_group(w, pending, true); }
void CpAsyncBulkWaitGroup::execute(WarpContext& w) const { wait_group(w, pending, false); }

}  // namespace sm100::instructions
