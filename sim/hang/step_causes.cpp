// SPDX-License-Identifier: Apache-2.0
#include "sim/hang/step_causes.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "sim/hang/blame.h"
#include "sim/hang/names.h"
#include "sim/text.h"

namespace sm100::sim {

namespace {

using LastBox = Warp::LastBox;

/// Of the warp that owes: its account of the array, if its CTA is still there.
const Warp::Use* use_of_debtor(const Debt& d, const BarrierArray& array) {
  if (d.slot->linear_id() != d.cta || d.state().use.empty()) return nullptr;
  return &use_of(d.state(), array);
}

/// "{1024, 0} of 1024 x 256"
std::string place_of(const LastBox& box) {
  return fmt::format("{{{}}} of {}", fmt::join(box.at.begin(), box.at.begin() + box.rank, ", "),
                     fmt::join(box.dims.begin(), box.dims.begin() + box.rank, " x "));
}

/// Steps from one end of the tensor to the other, of a box whose dimension is known.
int64_t steps_of(const LastBox& box) {
  const auto d = size_t(box.moved);
  return (int64_t(box.dims[d]) + box.box[d] - 1) / box.box[d];
}

/// How many accumulators the warp has handed on: its arrivals on the array that takes most of them, `ring` and its
/// other side apart.
int64_t handed_on(const Wait& w, const BarrierArray& ring) {
  const Kernel& kernel = w.cta->kernel();
  int64_t most = -1;
  for (const BarrierArray& array : kernel.barriers) {
    if (&array == &ring || &array == partner(kernel, ring) || step_of(array) != 1 || !lists(array.arrives, w.role))
      continue;
    most = std::max<int64_t>(most, use_of(w.warp(), array).arrivals);
  }
  return most;
}

/// It has exited, or waits for something else than the ring: it has left the loop that fills it.
bool has_left(const WaitGraph& graph, const Debt& d, const BarrierArray& ring) {
  if (d.exited()) return true;
  const Wait* at = graph.of(d);
  if (!at || &at->cta->kernel() != &d.kernel()) return false;
  return !at->on_mbarrier() || (at->barrier.array != &ring && at->barrier.array != partner(d.kernel(), ring));
}

/// Who filled the ring has left it, and its last copies have reached the end of their tensors: who waits takes a
/// step more for a tile than there are.  If all steps so far belong to tiles that have been handed on, a whole tile
/// is missing, and nobody knows whose fault that is.
Cause consumer_cause(const WaitGraph& graph, const Wait& w) {
  if (is_empty_side(w.cta->kernel(), *w.barrier.array)) return {};
  for (const Debt& d : w.debts.all) {
    if (d.slot != w.cta || !has_left(graph, d, *w.barrier.array)) continue;
    const Warp::Use* use = use_of_debtor(d, *w.barrier.array);
    if (!use || !use->boxes[0].ends() || use->boxes[0].behind_end()) continue;
    const int64_t steps = steps_of(use->boxes[0]), taken = use_of(w.warp(), *w.barrier.array).waits;
    const int64_t tiles = handed_on(w, *w.barrier.array);
    if (steps < 2 || tiles < 0 || taken % steps != 0 || taken / steps <= tiles) continue;
    Cause cause{.certainty = 86,
                .text = fmt::format(
                    "{} takes more steps for a tile than {} brings, which has left the ring and has copied up to "
                    "the end of its tensor each time ({} steps, the last at {})",
                    w.role, d.role(), steps, place_of(use->boxes[0]))};
    blame(cause, graph, w, {{.slot = w.cta, .cta = w.cta->linear_id(), .warp = w.warps.front()}});
    cause.fault_loc = w.blocked.loc, cause.after_line = false;
    return cause;
  }
  return {};
}

/// Who waits for a release has filled a stage with what lies behind the end of a tensor, and who would have to
/// consume it has gone.
Cause producer_cause(const WaitGraph& graph, const Wait& w) {
  const BarrierArray* full = partner(w.cta->kernel(), *w.barrier.array);
  if (!full || !is_empty_side(w.cta->kernel(), *w.barrier.array)) return {};
  // Those who wait for an mbarrier may come back.
  if (!std::all_of(w.debts.all.begin(), w.debts.all.end(), [&](const Debt& d) {
        return d.exited() || (has_left(graph, d, *full) && !graph.of(d)->on_mbarrier());
      }))
    return {};
  for (const LastBox& box : use_of(w.warp(), *full).boxes) {
    if (!box.behind_end()) continue;
    Cause cause{
        .certainty = 86,
        .text = fmt::format("{} fills more steps of a tile than are consumed: its last box lies behind the end of "
                            "its tensor ({})",
                            w.role, place_of(box))};
    blame(cause, graph, w, {{.slot = w.cta, .cta = w.cta->linear_id(), .warp = w.warps.front()}});
    cause.fault_loc = box.loc, cause.after_line = false;
    return cause;
  }
  return {};
}

}  // namespace

Cause step_too_many_cause(const WaitGraph& graph, const Wait& w) {
  if (w.debts.all.empty()) return {};
  const Cause consumer = consumer_cause(graph, w);
  return consumer.certainty > 0 ? consumer : producer_cause(graph, w);
}

std::string last_box_text(const WaitGraph& graph, const Wait& w, const Debt& debt) {
  const Warp::Use* use = use_of_debtor(debt, *w.barrier.array);
  if (!use || !has_left(graph, debt, *w.barrier.array)) return {};
  for (const LastBox& box : use->boxes) {
    if (!box.known() || box.ends()) continue;
    const auto d = size_t(box.moved);
    return fmt::format("; its last copy ends at {} of {} along dimension {}",
                       grouped(int64_t{box.at[d]} + box.box[d]), grouped(int64_t(box.dims[d])), d);
  }
  return {};
}

Cause left_out_cause(const WaitGraph& graph, const Wait& w, const std::vector<Debt>& passed) {
  if (!w.debts.certain) return {};  // who may owe, and need not, may have nothing to do with this CTA
  const uint32_t rank = w.cta->cluster_rank();
  std::vector<Debt> leave_out;
  uint16_t reached = 0;
  for (const Debt& d : passed) {
    const Warp::Use* use = use_of_debtor(d, *w.barrier.array);
    if (!use || use->committed_to == 0 || use->committed_to >> rank & 1) continue;
    if (leave_out.empty()) reached = use->committed_to;
    leave_out.push_back(d);
  }
  if (leave_out.empty()) return {};
  const Debt& first = leave_out.front();
  Cause cause{.certainty = 96,
              .text = fmt::format(
                  "{}{} leaves CTA {}, rank {} of the cluster, out of the mask of its tcgen05.commit to "
                  "{}: its masks so far have bits {:#x}",
                  first.role(), of_cta(w, first.cta), w.cta->linear_id(), rank, text_of(w.barrier), reached)};
  blame(cause, graph, w, leave_out);
  return cause;
}

}  // namespace sm100::sim
