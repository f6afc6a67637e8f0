// SPDX-License-Identifier: Apache-2.0
#include "sim/run_observer.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <systemc>

#include "models/time.h"
#include "sim/barrier_listener.h"
#include "sim/compiled_place.h"
#include "sim/cta.h"
#include "sim/hazards/hazard_checker.h"
#include "sim/text.h"

namespace sm100::sim {

using traces::BarrierEventKind;
using traces::TrackKind;

namespace {

/// Warps of the roles in a comma-separated list, a bit each; all warps if it names something that is no role.
uint32_t warps_of(const Kernel& kernel, std::string_view roles) {
  uint32_t warps = 0;
  while (!roles.empty()) {
    const std::string_view role = roles.substr(0, roles.find(", "));
    roles.remove_prefix(std::min(roles.size(), role.size() + 2));
    uint32_t of_role = 0;
    for (int w = 0; w < kernel.warps; ++w)
      if (kernel.role(w) == role) of_role |= 1u << w;
    if (of_role == 0) return ~0u;
    warps |= of_role;
  }
  return warps;
}

}  // namespace

RunObserver::RunObserver(const LaunchList& launches, int slots, traces::Recorder* recorder)
    : launches_(launches), kernels_(launches.kernels().size()), ctas_(size_t(slots)), recorder_(recorder) {
  if (!recorder_) return;
  gpu_track_ = recorder_->add_track(TrackKind::gpu, "GPU");
  tracks_.resize(size_t(slots));
  for (const Kernel* kernel : launches.kernels()) {
    OfKernel& names = kernels_[kernel->index];
    for (int w = 0; w < kernel->warps; ++w)
      names.warp_names.push_back(
          recorder_->intern(fmt::format("{}{} (warp {})", kernel->prefix, kernel->role(w), w)));
    for (const BarrierArray& array : kernel->barriers)
      names.array_names.push_back(recorder_->intern(kernel->prefix + array.name));
  }
  tma_name_ = recorder_->intern("tma");
  umma_name_ = recorder_->intern("umma");
  clc_name_ = recorder_->intern("clc");
}

const Kernel& RunObserver::resident_kernel(int slot) const { return ctas_[size_t(slot)]->kernel(); }

void RunObserver::cta_started(Cta& cta) {
  ctas_[size_t(cta.slot())] = &cta;
  const Kernel& kernel = cta.kernel();
  if (std::vector<uint32_t>& arrivers = kernels_[kernel.index].arriver_warps; arrivers.empty())
    for (const BarrierArray& array : kernel.barriers) arrivers.push_back(warps_of(kernel, array.arrives));
  if (!recorder_) return;
  const int sm = cta.sm().id, id = cta.linear_id();
  const traces::TrackId parent =
      recorder_->add_track(TrackKind::cta, fmt::format("{} on SM {}", cta.name(), sm), gpu_track_, sm, id);
  if (cta.cluster_ctas() > 1) {
    recorder_->trace().tracks[parent].cluster = cta.peer_id(0);
    recorder_->trace().tracks[parent].rank = int(cta.cluster_rank());
  }
  for (auto& warp : cta.warps())
    warp->track = recorder_->add_track(TrackKind::role, kernel.prefix + kernel.role(warp->index), parent, sm, id,
                                       warp->index);
  if (size_t(id) >= cta_tracks_.size()) cta_tracks_.resize(size_t(id) + 1, traces::kNoTrack);
  cta_tracks_[size_t(id)] = parent;
  Tracks& t = tracks_[size_t(cta.slot())];
  t.cta = parent;
  t.tma_load = recorder_->add_track(TrackKind::unit, "tma load", parent, sm, id);
  t.umma = recorder_->add_track(TrackKind::unit, "umma", parent, sm, id);
  t.tmem = recorder_->add_track(TrackKind::unit, "tmem", parent, sm, id);
  t.tma_store = recorder_->add_track(TrackKind::unit, "tma store", parent, sm, id);
  t.clc = recorder_->add_track(TrackKind::unit, "clc", parent, sm, id);
  t.barriers.clear();
  for (const BarrierArray& array : kernel.barriers)
    for (int s = 0; s < array.stages; ++s)
      t.barriers.push_back(
          {array.base.offset() + 8u * uint32_t(s),
           recorder_->add_track(TrackKind::barrier, fmt::format("{}{}[{}]", kernel.prefix, array.name, s), parent,
                                sm, id)});
  std::sort(t.barriers.begin(), t.barriers.end());
}

GlobalAddr RunObserver::recorder_records(int launch, uint64_t warp, uint64_t warps, uint64_t bytes) {
  const auto [it, is_new] = recorder_records_.try_emplace(launch);
  if (is_new) it->second = memory_->allocate("trace records", warps * bytes, false);
  return it->second + warp * bytes;
}

traces::TrackId RunObserver::role_track(int cta, int warp) const {
  if (cta < 0 || warp < 0 || size_t(cta) >= cta_tracks_.size() || cta_tracks_[size_t(cta)] == traces::kNoTrack)
    return traces::kNoTrack;
  return cta_tracks_[size_t(cta)] + 1 + traces::TrackId(warp);
}

/// The unit that has recorded, or will record, the span of what it did.
traces::TrackId RunObserver::actor_track(const models::Source& source) const {
  if (source.kind == models::ActorKind::warp) return role_track(source.cta, source.warp);
  if (source.kind == models::ActorKind::tma && source.lands_on >= 0)
    return tracks_[size_t(source.lands_on)].tma_load;
  if (source.cta < 0) return traces::kNoTrack;
  const traces::TrackId first = role_track(source.cta, launches_.kernel_of_cta(source.cta).warps);
  if (first == traces::kNoTrack) return first;
  // In the order in which cta_started adds them.
  switch (source.kind) {
    case models::ActorKind::umma: return first + 1;
    case models::ActorKind::tma: return first + 3;
    default: return first + 4;
  }
}

void RunObserver::cta_exited(Cta&) {
  ++ctas_exited_;
  last_exit_ = models::now();
}

traces::TrackId RunObserver::barrier_track(int slot, uint32_t offset) const {
  const auto& barriers = tracks_[size_t(slot)].barriers;
  const auto it = std::lower_bound(barriers.begin(), barriers.end(), std::pair{offset, traces::TrackId{0}});
  return it != barriers.end() && it->first == offset ? it->second : traces::kNoTrack;
}

int16_t RunObserver::actor_name(const models::Source& source, int slot) {
  switch (source.kind) {
    case models::ActorKind::tma: return tma_name_;
    case models::ActorKind::umma: return umma_name_;
    case models::ActorKind::clc: return clc_name_;
    case models::ActorKind::warp: break;
  }
  return source.warp < 0 ? int16_t(-1) : kernels_[kernel_of(source, slot).index].warp_names[size_t(source.warp)];
}

void RunObserver::check_arriver(const models::MbarrierEvent& e) {
  using Kind = models::MbarrierEventKind;
  if (e.source.warp < 0 || (e.kind != Kind::arrive && e.kind != Kind::expect_tx) || !e.arrives) return;
  const Kernel& kernel = kernel_at(e.slot);
  const BarrierName name = barrier_name(kernel, e.offset);
  if (!name.array) return;
  const size_t array = size_t(name.array - kernel.barriers.data());
  if (array < kernel.learned_arrivers.size() && kernel.learned_arrivers[array]) return;
  if (kernels_[kernel.index].arriver_warps[array] >> e.source.warp & 1) return;
  violation({"MB15",
             fmt::format("arrival on {}[{}] by {}: the kernel's barrier table lists {}", name.array->name,
                         name.stage, kernel.role(e.source.warp), name.array->arrives),
             e.time, e.slot, e.offset, e.source});
}

void RunObserver::keep_smallest(const models::MbarrierEvent& e) {
  const Kernel& kernel = kernel_at(e.slot);
  const BarrierArray* array = barrier_name(kernel, e.offset).array;
  if (!array) return;
  std::vector<uint32_t>& copies = kernels_[kernel.index].smallest_copies;
  copies.resize(kernel.barriers.size());
  uint32_t& smallest = copies[size_t(array - kernel.barriers.data())];
  smallest = smallest == 0 ? e.amount : std::min(smallest, e.amount);
}

void RunObserver::clc_decoded(Cta& cta, int n, const ClcResponse& response, const models::Source& by) {
  std::vector<Decoded>& decoded = decoded_[cta.peer_id(0)];
  const Decoded found{is_canceled(response), first_ctaid(response), cta.linear_id(), by.warp};
  if (size_t(n) >= decoded.size()) return decoded.push_back(found);
  const Decoded& first = decoded[size_t(n)];
  const auto same = [](Dim3 a, Dim3 b) { return a.x == b.x && a.y == b.y && a.z == b.z; };
  if (first.canceled == found.canceled && (!found.canceled || same(first.first_cta, found.first_cta))) return;
  const auto text = [](const Decoded& d) {
    return d.canceled ? fmt::format("CTA ({}, {}, {})", d.first_cta.x, d.first_cta.y, d.first_cta.z)
                      : std::string("the end of work");
  };
  violation(
      {"CL9",
       fmt::format("CLC response {} reads as {} in {} of CTA {}, and as {} in {} of CTA {}", n, text(found),
                   cta.kernel().role(found.warp), found.cta, text(first), cta.kernel().role(first.warp), first.cta),
       models::now(), cta.slot(), 0, by});
}

BarrierListener*& barrier_listener() {
  static BarrierListener* listener = nullptr;
  return listener;
}

void RunObserver::mbarrier_event(const models::MbarrierEvent& e) {
  ++barrier_events_;
  if (BarrierListener* listener = barrier_listener()) listener->mbarrier_event(kernel_at(e.slot), e);
  if (learner_) learner_->mbarrier_event(kernel_at(e.slot), e);
  if (hazards_) hazards_->mbarrier_event(e);
  check_arriver(e);
  if (e.kind == models::MbarrierEventKind::complete_tx) keep_smallest(e);
  if (e.kind == models::MbarrierEventKind::phase_complete) completions_.add(e.slot, e.offset);
  if (!recorder_) return;
  const traces::TrackId track = barrier_track(e.slot, e.offset);
  if (track == traces::kNoTrack) return;
  const bool by_warp = e.source.kind == models::ActorKind::warp && e.source.issued > 0;
  const uint32_t on_its_way = by_warp ? uint32_t(e.time - e.source.issued) : 0;
  constexpr BarrierEventKind kKinds[] = {BarrierEventKind::init, BarrierEventKind::arrive,
                                         BarrierEventKind::expect_tx, BarrierEventKind::complete_tx,
                                         BarrierEventKind::phase_complete};
  recorder_->barrier({.time = e.time,
                      .track = track,
                      .kind = kKinds[int(e.kind)],
                      .actor = actor_name(e.source, e.slot),
                      .phase = int32_t(e.phase),
                      .pending = int32_t(e.pending),
                      .tx = e.tx,
                      .amount = int32_t(e.amount),
                      .by = actor_track(e.source),
                      .delay = on_its_way,
                      .flow = e.source.flow});
}

void RunObserver::mbarrier_wait(BarrierEventKind kind, Warp& warp, const models::Mbarrier::State& state,
                                int64_t phase, uint64_t flow, models::Cycles time) {
  const traces::TrackId track = barrier_track(warp.cta.slot(), state.offset);
  if (track == traces::kNoTrack) return;
  const MbarrierState word = decode_mbarrier(state.word);
  recorder_->barrier({.time = time,
                      .track = track,
                      .kind = kind,
                      .actor = kernels_[warp.cta.kernel().index].warp_names[size_t(warp.index)],
                      .phase = int32_t(phase),
                      .pending = int32_t(word.pending),
                      .tx = word.tx,
                      .by = warp.track,
                      .flow = flow});
}

void RunObserver::wakeup(Warp& warp, const std::string& reason, models::Cycles begin, models::Cycles caused) {
  recorder_->wakeup({.begin = begin,
                     .end = models::now(),
                     .track = warp.track,
                     .reason = recorder_->intern(reason),
                     .by = actor_track(warp.waiter.by),
                     .caused = caused,
                     .flow = warp.waiter.cause});
}

int16_t RunObserver::line_name(const Loc& loc) {
  if (loc.line() == 0) return traces::kNoName;
  // A line of a source may have become many of the PTX.
  const auto [known, added] = line_names_.try_emplace(
      is_compiled(loc) ? std::pair{loc.function_name(), loc.column()} : std::pair{loc.file_name(), loc.line()},
      traces::kNoName);
  if (!added) return known->second;
  std::string line = line_of(loc);
  // A reader of a trace has no file to look the line up in.
  if (is_compiled(loc))
    if (const std::string text = text_at(place_of(loc).telling_line()); !text.empty()) line += ": " + text;
  if (!line.empty()) known->second = recorder_->intern(line);
  return known->second;
}

int16_t RunObserver::tensor_name(uint64_t address) {
  const auto [known, added] = tensor_names_.try_emplace(address, traces::kNoName);
  if (added && memory_)
    if (const std::string name = memory_->place({address}).first; !name.empty())
      known->second = recorder_->intern(name);
  return known->second;
}

namespace {
bool same_line(const Loc& a, const Loc& b) {
  return a.line() == b.line() && a.column() == b.column() && std::strcmp(a.file_name(), b.file_name()) == 0;
}
}  // namespace

void RunObserver::note_multicast(const models::UnitSpan& copy) {
  const Cta* at = ctas_[size_t(copy.slot)];  // where the copy lands first
  if (!at) return;
  const int by = copy.source.cta >= 0 ? copy.source.cta : at->linear_id();
  uint32_t rank = at->cluster_rank();
  for (uint32_t r = 0; r < at->cluster_ctas(); ++r)
    if (at->peer_id(r) == by) rank = r;
  const bool to_itself = copy.multicast == 1u << rank;
  multicast_ranks_[by] |= copy.multicast;
  for (Multicasts& m : multicasts_)
    if (same_line(m.loc, copy.source.loc)) {
      m.to_itself &= to_itself;
      m.ranks[by] |= copy.multicast;
      return;
    }
  multicasts_.push_back({copy.source.loc, to_itself, {{by, copy.multicast}}});
}

bool RunObserver::multicasts_to_itself(const Loc& loc) const {
  return std::any_of(multicasts_.begin(), multicasts_.end(),
                     [&](const Multicasts& m) { return m.to_itself && same_line(m.loc, loc); });
}

uint16_t RunObserver::multicasts_of(int cta, const Loc& loc) const {
  for (const Multicasts& m : multicasts_)
    if (const auto found = m.ranks.find(cta); same_line(m.loc, loc) && found != m.ranks.end()) return found->second;
  return 0;
}

void RunObserver::unit_span(const models::UnitSpan& s) {
  if (s.kind == models::UnitSpanKind::tma_load && s.multicast != 0) note_multicast(s);
  if (!recorder_) return;
  const Tracks& t = tracks_[size_t(s.slot)];
  traces::Span span{.begin = s.begin, .end = s.end, .flow_in = s.flow_in, .flow_out = s.flow_out};
  switch (s.kind) {
    case models::UnitSpanKind::tma_load: span.track = t.tma_load, span.kind = traces::SpanKind::tma_load; break;
    case models::UnitSpanKind::tma_store: span.track = t.tma_store, span.kind = traces::SpanKind::tma_store; break;
    case models::UnitSpanKind::umma: span.track = t.umma, span.kind = traces::SpanKind::umma; break;
    case models::UnitSpanKind::clc_cancel: span.track = t.clc, span.kind = traces::SpanKind::clc_cancel; break;
    case models::UnitSpanKind::tmem_alloc: span.track = t.tmem, span.kind = traces::SpanKind::tmem_alloc; break;
    case models::UnitSpanKind::tmem_read: span.track = t.tmem, span.kind = traces::SpanKind::tmem_read; break;
    case models::UnitSpanKind::tmem_write: span.track = t.tmem, span.kind = traces::SpanKind::tmem_write; break;
  }
  const Kernel& kernel = kernel_at(s.slot);
  if (const BarrierName name = barrier_name(kernel, s.barrier); name.array) {
    span.args.pipeline = array_name(kernel, *name.array);
    span.args.stage = int16_t(name.stage);
  }
  span.args.bytes = s.bytes;
  span.args.column = int16_t(s.column);
  span.args.columns = int16_t(s.columns);
  span.args.line = line_name(s.source.loc);
  span.args.multicast = s.multicast;
  if (s.tensor != 0) {
    span.args.operand = tensor_name(s.tensor);
    span.args.dimensions = int8_t(s.dimensions);
    span.args.coordinates = s.coordinates;
  }
  recorder_->span(span);
}

void RunObserver::violation(const models::Violation& violation) {
  if (violation.warning || violation.suspect || violation.note) {
    std::vector<models::Violation>& same = violation.suspect ? suspects_ : violation.note ? notes_ : warnings_;
    // One per kind and place is enough.
    const bool known = std::any_of(same.begin(), same.end(), [&](const models::Violation& w) {
      return w.id == violation.id && w.source.warp == violation.source.warp &&
             w.source.loc.line() == violation.source.loc.line() &&
             std::string_view(w.source.loc.file_name()) == violation.source.loc.file_name();
    });
    if (!known) same.push_back(violation);
    return;
  }
  violations_.push_back(violation);
  if (violations_.size() == 1) models::Scheduler::get().stop();  // hardware would trap or be undefined from here on
}

std::string RunObserver::printed() const {
  std::string all;
  for (const auto& [cta, text] : printed_) all += text;
  return all;
}

}  // namespace sm100::sim
