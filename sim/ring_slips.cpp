// SPDX-License-Identifier: Apache-2.0
#include "sim/ring_slips.h"

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <optional>
#include <vector>

#include "sim/hang/debts.h"
#include "sim/hang/names.h"
#include "sim/hazards/barriers_meant.h"
#include "sim/ptx/ptx_uses.h"
#include "sim/text.h"

namespace sm100::sim {
namespace {

using models::Mbarrier;
using models::MbarrierEvent;

const MbarrierEvent* last_event(const Mbarrier::State& state,
                                const std::function<bool(const MbarrierEvent&)>& is_asked) {
  const uint64_t kept = std::min<uint64_t>(state.events, Mbarrier::State::kHistory);
  for (uint64_t back = 1; back <= kept; ++back) {
    const MbarrierEvent& e = state.history[(state.events - back) % Mbarrier::State::kHistory];
    if (e.arrives && e.source.warp >= 0 && is_asked(e)) return &e;
  }
  return nullptr;
}

/// The warp where it is now; nullptr: its CTA has gone.
const Warp* warp_of(const models::Source& source, const EndedRun& run) {
  for (const Cta* cta : run.device.slots())
    if (cta && cta->linear_id() == source.cta && source.warp >= 0 && size_t(source.warp) < cta->warps().size())
      return cta->warps()[size_t(source.warp)].get();
  return nullptr;
}

/// Of TC3: the phase that the reader has waited for was completed by the commit of another CTA, whose MMAs write
/// other tensor memory.
void add_other_commit(models::Violation& v, const EndedRun& run) {
  if (v.id != "TC3" || v.places.size() != 2) return;
  const models::Source &mma = v.places[0].source, &load = v.places[1].source;
  const Warp* const reader = warp_of(load, run);
  if (!reader || mma.warp < 0) return;
  const Kernel& kernel = reader->cta.kernel();
  const BarrierArray* const full = commit_array(kernel, mma.warp, load.warp, nullptr);
  if (!full || use_of(*reader, *full).waits == 0) return;
  const Warp::Use& use = use_of(*reader, *full);
  const Mbarrier::State* const state = reader->cta.context().mbarrier.find(use.waited_on);
  if (!state) return;
  const MbarrierEvent* const by =
      last_event(*state, [&](const MbarrierEvent& e) { return e.phase == use.waited_phase; });
  if (!by) return;
  const int group = reader->cta.tcgen05_group == 2 ? 2 : 1;
  const auto unit_of = [&](int cta) {
    for (uint32_t r = 0; r < reader->cta.cluster_ctas(); ++r)
      if (reader->cta.peer_id(r) == cta) return int(r) / group;
    return -1;
  };
  const int own = unit_of(load.cta), other = unit_of(by->source.cta);
  if (own < 0 || other < 0 || own == other) return;
  const std::string barrier = barrier_text(kernel, use.waited_on);
  v.message += fmt::format(
      "; phase {} of {} of CTA {}, which it has waited for, was completed by {} of CTA {}, whose MMAs write other "
      "tensor memory",
      use.waited_phase, barrier, load.cta, kernel.role(by->source.warp), by->source.cta);
  for (std::string& line : v.details)
    if (line.starts_with("missing: "))
      line = fmt::format(
          "wrong: where the tcgen05.commit of {} of CTA {} goes: its multicast mask, or its address  {}",
          kernel.role(by->source.warp), by->source.cta, line_of(by->source.loc));
}

/// Of CL6 and TM7, what is filled again while a warp may still read it: the warp had waited for another stage when
/// it read, and for none since.
void add_other_stage(models::Violation& v, const EndedRun& run) {
  if ((v.id != "CL6" && v.id != "TM7") || v.places.size() != 2 || !v.places[0].text.starts_with("load of a warp"))
    return;
  const Warp* const reader = warp_of(v.places[0].source, run);
  if (!reader || ptx_uses_of(reader->cta.kernel())) return;
  const Kernel& kernel = reader->cta.kernel();
  const BarrierName filled = barrier_name(kernel, v.barrier);
  if (!filled.array || filled.array->stages < 2) return;
  const Warp::Use& use = use_of(*reader, *filled.array);
  if (use.waits == 0 || use.waited_at > v.places[0].time || use.waited_on == v.barrier) return;
  const std::string& role = kernel.role(reader->index);
  v.message += fmt::format("; {} had waited for {}, and read what {} fills", role,
                           barrier_text(kernel, use.waited_on), barrier_text(kernel, v.barrier));
  for (std::string& line : v.details)
    if (line.starts_with("missing: "))
      line = fmt::format(
          "wrong: where {} reads, which is another stage than it has waited for: its address, or the "
          "stage of its wait  {}",
          role, line_of(v.places[0].source.loc));
}

/// "epilogue (warps 4-7)", of those who have arrived more often than they have waited for the ring's other side.
struct TooOften {
  std::string who;
  int arrivals = 0, waits = 0;
  Loc loc{};
};

std::optional<TooOften> arrives_too_often(const Cta& cta, const BarrierArray& array, const BarrierArray& other) {
  std::vector<int> warps;
  TooOften often;
  for (const auto& warp : cta.warps()) {
    const std::string& role = cta.kernel().role(warp->index);
    const int arrivals = use_of(*warp, array).arrivals, waits = use_of(*warp, other).waits;
    if (!lists(array.arrives, role) || arrivals <= waits) continue;
    if (warps.empty()) often = {role, arrivals, waits, use_of(*warp, array).arrived};
    if (role == often.who) warps.push_back(warp->index);
  }
  if (warps.empty()) return std::nullopt;
  often.who = warps_text(often.who, warps);
  return often;
}

/// Of MB8, a wait for a phase that is long over: somebody hands stages back that it has not got.
void add_too_many_arrivals(models::Violation& v, const EndedRun& run) {
  if (v.id != "MB8" || v.warning) return;
  const Cta& cta = *run.device.slots()[size_t(v.slot)];
  const BarrierName name = barrier_name(cta.kernel(), v.barrier);
  const BarrierArray* const other = name.array ? partner(cta.kernel(), *name.array) : nullptr;
  if (!other || ptx_uses_of(cta.kernel()) || !is_empty_side(cta.kernel(), *name.array)) return;
  const std::optional<TooOften> often = arrives_too_often(cta, *name.array, *other);
  if (!often) return;
  v.message += fmt::format(
      "; {} has arrived on {} {} times, and has waited for {} {} times: it hands back more than "
      "it has got",
      often->who, name.array->name, often->arrivals, other->name, often->waits);
  v.details.insert(v.details.begin(),
                   fmt::format("wrong: an arrival of {} on {} that comes more than once for a stage  {}",
                               often->who, name.array->name, line_of(often->loc)));
}

/// Of SM3: who fills a ring writes a stage for the first time where others have read already: what they have read
/// is of another stage.
void add_overlapping_stages(models::Violation& v, const EndedRun& run) {
  if (v.id != "SM3" || v.places.size() != 2) return;
  const Warp *const reader = warp_of(v.places[0].source, run), *const writer = warp_of(v.places[1].source, run);
  if (!reader || !writer || &reader->cta != &writer->cta || ptx_uses_of(writer->cta.kernel())) return;
  const Kernel& kernel = writer->cta.kernel();
  const std::string &reads = kernel.role(reader->index), &writes = kernel.role(writer->index);
  for (const BarrierArray& full : kernel.barriers) {
    const BarrierArray* const empty = partner(kernel, full);
    if (!empty || full.stages < 2 || is_empty_side(kernel, full) || !lists(full.arrives, writes) ||
        !lists(full.waits, reads) || !lists(empty->waits, writes))
      continue;
    const Warp::Use &acquired = use_of(*writer, *empty), &got = use_of(*reader, full);
    const BarrierName stage = barrier_name(kernel, acquired.waited_on);
    if (acquired.waits == 0 && got.waits > 0) {
      v.message += fmt::format("; {} has never waited for {}, where {} hands the slots of the ring back", writes,
                               empty->name, reads);
      return;
    }
    if (acquired.waits == 0 || acquired.waited_phase >= 0 || stage.array != empty || got.waits == 0) continue;
    if (got.has_waited_on(full.base.offset() + 8u * uint32_t(stage.stage))) continue;
    v.message += fmt::format(
        "; {} fills stage {} of the ring for the first time, and {} has read these bytes as part of another stage: "
        "the "
        "slots of two stages overlap",
        writes, stage.stage, reads);
    for (std::string& line : v.details)
      if (line.starts_with("missing: "))
        line = fmt::format(
            "wrong: where the slots of {} lie: the distance from one to the next, or the size of a slot",
            full.name);
    return;
  }
}

}  // namespace

void add_ring_slips(models::Violation& v, const EndedRun& run) {
  add_other_commit(v, run);
  add_other_stage(v, run);
  add_too_many_arrivals(v, run);
  add_overlapping_stages(v, run);
}

}  // namespace sm100::sim
