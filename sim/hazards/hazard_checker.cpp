// SPDX-License-Identifier: Apache-2.0
#include "sim/hazards/hazard_checker.h"

#include <fmt/format.h>

#include <algorithm>
#include <string_view>
#include <utility>

#include "models/time.h"
#include "sim/hazards/barriers_meant.h"
#include "sim/text.h"

namespace sm100::sim {

namespace {
/// In a row of a kernel's table of mbarriers: fence.proxy.async, then the arrive.
constexpr std::string_view kFencedArrive = "fenced mbarrier.arrive";
}  // namespace

HazardChecker::HazardChecker(const LaunchList& launches, int slots, models::Observer& report)
    : launches_(launches), report_(report), clusters_(size_t(slots)), ranks_(size_t(slots)) {
  for (const Kernel* kernel : launches.kernels()) {
    for (const BarrierArray& array : kernel->barriers)
      for (int s = 0; s < array.stages; ++s) barrier_index(array.base.offset() + 8u * uint32_t(s));
    warps_ = std::max(warps_, uint32_t(kernel->warps));
    cluster_ctas_ = std::max(cluster_ctas_, kernel->cluster.x * kernel->cluster.y * kernel->cluster.z);
  }
}

size_t HazardChecker::barrier_index(uint32_t offset) {
  uint32_t& index = barrier_at_[std::min(offset, kSmemWindowBytes - 1) / 8];  // MB3 is the units' to report
  if (index == kNoBarrier) index = uint32_t(barriers_++);
  return index;
}

uint32_t HazardChecker::lanes_component(uint32_t at_rank, int warp, Part part, uint32_t lanes) {
  const auto [known, added] = lanes_.insert({{warp, part, lanes}, barriers_});
  barriers_ += added;
  return barrier_component(at_rank, known->second);
}

void HazardChecker::catch_up(Cluster& of) {
  if (of.postponed.empty()) return;
  catching_up_ = true;
  const bool repeats = repeats_, strong = strong_;
  of.postponed.make(*this, [this](models::Cycles time) { time_ = time; });
  repeats_ = repeats, strong_ = strong;
  catching_up_ = false;
}

void HazardChecker::catch_up() {
  for (const std::shared_ptr<Cluster>& cluster : clusters_)
    if (cluster) catch_up(*cluster);
}

void HazardChecker::start_cluster(const std::vector<int>& slots, int launch) {
  for (const int slot : slots) at_once(slot);
  const auto ctas = uint32_t(slots.size());
  auto started = std::make_shared<Cluster>();
  started->slots = slots;
  started->id = clusters_started_++;
  started->launch = launch;
  started->kernel = launches_[launch].kernel;
  for (const BarrierArray& row : started->kernel->barriers)
    started->fences_reads |= std::string_view(row.arrives_with).find(kFencedArrive) != std::string_view::npos;
  started->ctas.resize(ctas);
  started->remote.resize(ctas);
  started->remote_words.resize(ctas);
  started->signals.resize(ctas);
  for (uint32_t r = 0; r < ctas; ++r) {
    CtaState& cta = started->ctas[r];
    cta.warps.resize(size_t(started->kernel->warps));
    for (int w = 0; w < started->kernel->warps; ++w)
      cta.warps[size_t(w)].known.happened.advance({component(r, w, kWarp), 1});
    clusters_[size_t(slots[r])] = started;
    ranks_[size_t(slots[r])] = r;
  }
}

// ---- what a thread knows

Stamp HazardChecker::now(const Thread& t) {
  const uint32_t own = component(rank(t.slot), t.by.warp, kWarp);
  return {own, warp(t).known.happened.of(own)};
}

void HazardChecker::step(const Thread& t) {
  const Stamp s = now(t);
  warp(t).known.happened.advance({s.component, s.clock + 1});
}

Knowledge& HazardChecker::next_later(Cluster& cluster) { return cluster.later.next(time()); }

uint32_t HazardChecker::release(const Thread& t, uint32_t at_rank, uint32_t barrier) {
  uses_barrier(t, at_rank, barrier, false);
  lanes_signal(t);
  return t.apart || t.relaxed ? release_later(t) : kReleases;
}

uint32_t HazardChecker::release_later(const Thread& t) {
  if (postponed(t, [](HazardChecker& h, const Thread& by) { h.release_later(by); }))
    return ++cluster(t.slot).numbered;
  lanes_signal(t);
  WarpState& self = warp(t);
  self.handed_back = true;
  Knowledge& released = next_later(cluster(t.slot));
  if (t.relaxed) {
    relaxed_ = true;
    relaxed_arrival(t, released);
    step(t);
    return cluster(t.slot).later.last();
  }
  released = self.known;
  if (t.apart) {  // what other lanes have done since they last met is not over
    self.apart = {now(t).component, std::max(self.met, Clock{1})};
    self.apart_at = t.by.loc;
    released.happened.lower(self.apart);
  }
  step(t);
  self.signalled = now(t).clock;
  return cluster(t.slot).later.last();
}

void HazardChecker::lanes_have_met(const Thread& t) {
  if (postponed(t, [](HazardChecker& h, const Thread& by) { h.lanes_have_met(by); })) return;
  step(t);
  warp(t).met = now(t).clock;
}

void HazardChecker::acquire(const Thread& t, uint32_t barrier) {
  if (postponed(t, [barrier](HazardChecker& h, const Thread& by) { h.acquire(by, barrier); })) return;
  WarpState& self = warp(t);
  const Knowledge& completed = barrier_of(cta(t.slot), barrier).completed;
  self.awaited = barrier, self.read_awaited = self.handed_back = false;
  if (t.relaxed)
    relaxed_ = true, self.known.add_likely(completed), self.seen_relaxed.join(completed);
  else
    self.known.join(completed);
  if (std::popcount(t.lanes) > 1) lanes_have_waited(t, barrier);
}

bool HazardChecker::other_ctas_arrive(const Thread& t, uint32_t barrier) {
  at_once(t.slot);
  return barrier_of(cta(t.slot), barrier).other_ctas;
}

bool HazardChecker::knows_completed(const Thread& t, uint32_t offset, int64_t phase) {
  at_once(t.slot);
  const uint32_t own = barrier_component(rank(t.slot), barrier_index(offset));
  const VectorClock& known = warp(t).known.happened;
  const Barrier& barrier = barrier_of(cta(t.slot), offset);
  if (phase < 0 || known.knows({own, Clock(phase + 1) + barrier.ended})) return true;
  // Whoever comes after all of a phase's arrivals need not have waited for it.
  const int64_t last = int64_t(barrier.completed.happened.of(own)) - int64_t(barrier.ended) - 1;
  return !barrier.counts_bytes && (phase == last || phase == last - 1) &&
         known.covers(phase == last ? barrier.completed.happened : barrier.before, own);
}

void HazardChecker::fence_proxy_async(const Thread& t) {
  if (postponed(t, [](HazardChecker& h, const Thread& by) { h.fence_proxy_async(by); })) return;
  warp(t).known.fenced.assign(warp(t).known.happened, fenced_components());
  warp(t).fenced_releases = warp(t).known.releases;
  warp(t).strip.fenced = true;
  step(t);  // what the warp accesses from here on is not covered
}
void HazardChecker::tcgen05_fence_before(const Thread& t) {
  if (postponed(t, [](HazardChecker& h, const Thread& by) { h.tcgen05_fence_before(by); })) return;
  warp(t).known.tmem.assign(warp(t).known.happened, tmem_components());
}
void HazardChecker::tcgen05_fence_after(const Thread& t) {
  if (postponed(t, [](HazardChecker& h, const Thread& by) { h.tcgen05_fence_after(by); })) return;
  warp(t).tmem_seen = warp(t).known.tmem;
}

uint32_t HazardChecker::named_component(uint32_t at_rank, int id) {
  size_t& index = named_[size_t(id & 15)];
  if (index == 0) index = ++barriers_;
  return barrier_component(at_rank, index - 1);
}

void HazardChecker::bar_arrive(const Thread& t, int id) {
  if (postponed(t, [id](HazardChecker& h, const Thread& by) { h.bar_arrive(by, id); })) return;
  Meeting& meeting = cta(t.slot).named[size_t(id & 15)];
  meeting.joined.resize(cta(t.slot).warps.size()), meeting.joined_at.resize(meeting.joined.size());
  Clock& joined = meeting.joined[size_t(t.by.warp)];
  Loc& joined_at = meeting.joined_at[size_t(t.by.warp)];
  const Stamp last{named_component(rank(t.slot), id), joined};
  // In the same generation it is the unit's to report.
  if (joined != 0 && joined != meeting.generation && !warp(t).known.happened.knows(last))
    report_second_arrival(t, id, joined_at);
  joined = meeting.generation, joined_at = t.by.loc;
  meeting.open.join(warp(t).known);
  lanes_signal(t);
  step(t);
}
void HazardChecker::bar_complete(const Thread& t, int id) {
  if (postponed(t, [id](HazardChecker& h, const Thread& by) { h.bar_complete(by, id); })) return;
  Meeting& meeting = cta(t.slot).named[size_t(id & 15)];
  meeting.open.happened.advance({named_component(rank(t.slot), id), meeting.generation++});
  std::swap(meeting.completed, meeting.open);
  meeting.open.clear();
}
void HazardChecker::bar_pass(const Thread& t, int id) {
  if (postponed(t, [id](HazardChecker& h, const Thread& by) { h.bar_pass(by, id); })) return;
  warp(t).known.join(cta(t.slot).named[size_t(id & 15)].completed);
}
void HazardChecker::report_second_arrival(const Thread& t, int id, const Loc& first) {
  models::Violation v{
      .id = "NB3",
      .message = fmt::format("named barrier {}: the warp arrives again, and nothing tells it that the generation "
                             "which it has joined is complete",
                             id),
      .time = time(),
      .slot = t.slot,
      .source = t.by};
  v.details = {
      "it has joined it at  " + line_of(first),
      "in this run the others were there in time; where they come later, this arrival stands in for one of theirs"};
  report_.violation(v);
}
void HazardChecker::prerequisites_complete(const Thread& t) {
  if (postponed(t, [](HazardChecker& h, const Thread& by) { h.prerequisites_complete(by); })) return;
  if (prerequisites_ == 0) prerequisites_ = ++barriers_;
  warp(t).known.happened.advance({barrier_component(0, prerequisites_ - 1), 1});
}
bool HazardChecker::knows_prerequisites(const Thread& t) {
  at_once(t.slot);
  if (prerequisites_ == 0) return false;
  const Stamp complete{barrier_component(0, prerequisites_ - 1), 1};
  const Knowledge& known = warp(t).known;
  // That a grid has completed stays true, so whatever comes behind on hardware will do: a tcgen05.commit, too.
  return known.happened.knows(complete) || known.likely.knows(complete) ||
         std::any_of(known.releases.begin(), known.releases.end(),
                     [&](uint32_t r) { return releases_[r - 1].happened.knows(complete); });
}
void HazardChecker::cluster_arrive(const Thread& t, uint64_t phase, bool release) {
  if (postponed(t, [phase, release](HazardChecker& h, const Thread& by) { h.cluster_arrive(by, phase, release); }))
    return;
  lanes_signal(t);
  warp(t).cluster_phases = phase + 1;
  Knowledge& handed_on = cluster(t.slot).barrier[phase & 1];
  if (release) {
    handed_on.join(warp(t).known);
  } else {
    const uint32_t inits = component(rank(t.slot), t.by.warp, kInits);
    handed_on.happened.advance({inits, warp(t).known.happened.of(inits)});
    handed_on.add_likely(warp(t).known);
  }
  step(t);
}
void HazardChecker::warp_exits(const Thread& t) {
  at_once(t.slot);  // what it has loaded from global memory is judged now
  cluster(t.slot).exited[warp(t).cluster_phases].add_likely(warp(t).known);
  report_doubted(t);
}
void HazardChecker::cluster_pass(const Thread& t, uint64_t phase) {
  if (postponed(t, [phase](HazardChecker& h, const Thread& by) { h.cluster_pass(by, phase); })) return;
  Cluster& in = cluster(t.slot);
  warp(t).known.join(in.barrier[phase & 1]);
  for (const auto& [from, known] : in.exited) {
    if (from > phase) break;
    warp(t).known.join(known);
  }
}

// ---- accesses

Access HazardChecker::access(const Thread& t, AccessKind kind, bool write, Stamp over) {
  return {.kind = kind, .write = write, .over = over, .issued = now(t).clock, .cycle = time(), .by = Issuer(t.by)};
}

bool HazardChecker::fences_reads_before(const Thread& t, const Access& later) {
  return later.kind == AccessKind::clc_response ||
         (later.kind == AccessKind::tensor_load && cluster(t.slot).fences_reads);
}

void HazardChecker::touch_smem(const Thread& t, uint32_t at_rank, Footprints::Id set, const Access& later) {
  WarpState& self = warp(t);
  self.account = t.warp;
  const bool by_unit = !is_generic(later.kind), reads_need_fence = fences_reads_before(t, later);
  MmaThread* const mma = is_tensor_core(later.kind) ? &mma_thread(t) : nullptr;
  const auto ordered = [&](const Access& earlier) {
    if (!by_unit && earlier.kind == AccessKind::tensor_load && earlier.barrier == self.awaited)
      self.read_awaited = true;
    if ((earlier.reduces && later.reduces) || (earlier.strong && later.strong)) return true;
    if (mma && earlier.over.clock != kStillRunning) mma->before.advance(earlier.over);
    if (later.kind == AccessKind::cp_async && earlier.over.clock != kStillRunning)
      self.before_copies.advance(earlier.over);
    // MMAs of one thread follow each other; so do the reads of one thread's stores.
    if (earlier.over.component == later.over.component && by_unit && earlier.kind == later.kind &&
        later.over.clock != kStillRunning)
      return true;
    if (!self.known.happened.knows(earlier.over)) return false;
    // Threads' writes need the proxy fence before a unit's reads; so do the reads of what a unit overwrites, where
    // it is asked for.
    const bool needs_fence = is_generic(earlier.kind) && by_unit && (earlier.write || reads_need_fence);
    return !needs_fence || self.known.fenced.knows(earlier.over);
  };
  bool promised_by_reader = false;
  cluster(t.slot).ctas[at_rank].smem.access(
      smem_sets_, set, later, ordered, [&](const Access& earlier, Footprints::Id other) {
        // Who reads has seen the write: one warning for both.
        const bool promised = missing_between(t, earlier, later) == Missing::promise;
        if (earlier.write && promised && promised_by_reader) return;
        promised_by_reader |= promised && !earlier.write;
        report(t, at_rank, earlier, later, smem_sets_, other, set);
      });
  if (looks_for_unwritten_ && by_unit && !later.write) check_unit_reads_written(t, at_rank, set, later);
}

namespace {
/// MMAs into one accumulator are carried out as they were issued, and so are an MMA and the copies before it, also
/// by threads that synchronise in between: none has to be over before the next (PTX, Pipelined instructions,
/// different threads).
bool pipelined(const Access& earlier, const Access& later) {
  if (earlier.kind == AccessKind::accumulator) return later.kind == AccessKind::accumulator;
  return earlier.kind == AccessKind::copied && is_tensor_core(later.kind) && later.kind != AccessKind::copied;
}
}  // namespace

void HazardChecker::touch_tmem(const Thread& t, uint32_t at_rank, Footprints::Id set, const Access& later) {
  WarpState& self = warp(t);
  self.account = t.warp;
  MmaThread* const mma = is_tensor_core(later.kind) ? &mma_thread(t) : nullptr;
  const auto ordered = [&](const Access& earlier) {
    if (mma && earlier.over.clock != kStillRunning) mma->before.advance(earlier.over);
    const bool own = earlier.by.cta == t.by.cta && earlier.by.warp == t.by.warp;
    // A warp's loads, its stores, its MMAs and copies: each in order.
    if (own && (earlier.kind == later.kind || (mma && is_tensor_core(earlier.kind)))) {
      if (later.kind == AccessKind::copied && earlier.kind != AccessKind::copied &&
          !self.known.happened.knows(earlier.over))
        note_issue_order(t, earlier, later);
      return true;
    }
    if (pipelined(earlier, later) && self.tmem_seen.knows(issue_of(earlier))) return true;
    // tcgen05.dealloc is no asynchronous operation and touches no memory.  The fences order nothing else, and of
    // what is over it needs to know no more than that: a relaxed arrive and an exit say so, too.
    const bool freed = later.kind == AccessKind::tmem_dealloc;
    if (!self.known.happened.knows(earlier.over)) return freed && self.known.likely.knows(earlier.over);
    return own || freed || self.tmem_seen.knows(earlier.over);
  };
  cluster(t.slot).ctas[at_rank].tmem.access(tmem_sets_, set, later, ordered,
                                            [&](const Access& earlier, Footprints::Id other) {
                                              report(t, at_rank, earlier, later, tmem_sets_, other, set);
                                            });
}

Missing HazardChecker::missing_between(const Thread& t, const Access& earlier, const Access& later) {
  const Knowledge& known = warp(t).known;
  if (known.happened.knows(earlier.over)) return Missing::fence;
  if (pipelined(earlier, later) && known.happened.knows(issue_of(earlier))) return Missing::fence;
  // What published kernels leave to hardware: a stage that comes back with a commit is filled again, and the
  // address that tcgen05.alloc wrote is read behind a commit.  To a unit a byte that a thread wrote needs a fence
  // on top.
  if (later.repeats && is_threads(earlier.kind)) return Missing::change;
  const bool to_unit = is_generic(earlier.kind) && earlier.write && !is_generic(later.kind);
  const bool refilled = later.kind == AccessKind::tensor_load && !to_unit;
  if ((refilled || earlier.kind == AccessKind::alloc_result) && known.likely.knows(earlier.over))
    return Missing::promise;
  if (to_unit && known.likely.knows(earlier.over) && handed_by_copies(warp_of(cluster(t.slot), earlier), earlier))
    return Missing::promise;
  if (earlier.kind == AccessKind::tmem_store && known.happened.knows(issue_of(earlier))) {
    if (!is_tensor_core(later.kind)) return Missing::completion;
    // Before an MMA, if the storing warp has loaded since, and waited: its accesses are taken to be in order.
    const WarpState& storing = warp_of(cluster(t.slot), earlier);
    if (known.happened.knows(
            {component(issuing_rank(earlier), earlier.by.warp, kTmemLoads), storing.loads_at_store + 1}))
      return Missing::completion;
  }
  return Missing::order;
}

bool HazardChecker::new_pair(const Loc& a, const Loc& b) {
  return told_.insert({a.line(), a.file_name(), b.line(), b.file_name()}).second;
}

namespace {
/// It brings what others wait for, in a ring's first lap too.
bool is_fill(AccessKind kind) {
  return kind == AccessKind::tensor_load || kind == AccessKind::accumulator || kind == AccessKind::copied ||
         kind == AccessKind::tmem_store;
}
}  // namespace

void HazardChecker::report(const Thread& t, uint32_t at_rank, const Access& earlier, const Access& later,
                           const Footprints& sets, Footprints::Id first, Footprints::Id second) {
  const Missing missing = missing_between(t, earlier, later);
  const Footprints::Interval a = sets.bounds(first), b = sets.bounds(second),
                             both{std::max(a.begin, b.begin), std::min(a.end, b.end)};
  const int in_rank = at_rank == rank(t.slot) ? -1 : int(at_rank);
  const bool tmem = &sets == &tmem_sets_;
  if (earlier.unfilled && is_fill(later.kind) && missing == Missing::order) {
    HazardText text = unfilled_text(kernel(t.slot), in_rank, earlier, later,
                                    warp_of(cluster(t.slot), earlier).account, tmem, both);
    if (const Warp* reader = warp_of(cluster(t.slot), earlier).account; reader && later.barrier)
      text.message += ahead_of_others(kernel(t.slot), *reader, later.barrier, [&](int id) {
        const Meeting& meeting = cta(t.slot).named[size_t(id & 15)];
        return size_t(reader->index) < meeting.joined.size() && meeting.joined[size_t(reader->index)] != 0;
      });
    models::Violation v{.id = text.id,
                        .message = std::move(text.message),
                        .time = time(),
                        .slot = t.slot,
                        .barrier = later.barrier,
                        .source = earlier.by.source()};
    v.details = std::move(text.details);
    v.places = {hazard_place(kernel(t.slot), earlier), hazard_place(kernel(t.slot), later)};
    return report_.violation(v);
  }
  const bool beside_copies = (missing == Missing::fence || missing == Missing::promise) &&
                             !is_generic(later.kind) &&
                             handed_by_copies(warp_of(cluster(t.slot), earlier), earlier);
  HazardText text = hazard_text(kernel(t.slot), in_rank, earlier, later, tmem, both,
                                beside_copies ? Missing::fence : missing, progress_of(cluster(t.slot), earlier));
  if (beside_copies) text = stored_beside_copies(std::move(text));
  if (!tmem && missing == Missing::order)
    if (const std::optional<WrongPlace> place = wrong_place(t, at_rank, earlier, later, first, second)) {
      text.message = place->replaces ? place->message : text.message + place->message;
      text.details.back() = place->adds ? text.details.back() + place->detail : place->detail;
    }
  if (const MmaThread* issuer = mma_thread_of(cluster(t.slot), earlier);
      issuer && issuer->passed_over >= 0 && earlier.over.clock >= issuer->next)
    text.details.insert(text.details.end() - 1,
                        fmt::format("a tcgen05.commit covers the MMAs of its own thread: lane {} issued the first, "
                                    "lane {} committed",
                                    issuer->lane, issuer->passed_over));
  if ((text.warning || std::string_view(text.id) == "TC16") && !new_pair(earlier.by.loc, later.by.loc)) return;
  if (const WarpState& first = warp_of(cluster(t.slot), earlier);
      missing == Missing::order && is_threads(earlier.kind) && first.apart.clock > 0 &&
      earlier.over.component == first.apart.component && earlier.over.clock >= first.apart.clock)
    text.details.insert(text.details.end() - 1,
                        "a lane arrived for others of its warp, which had not met since they touched these bytes: "
                        "bar.warp.sync (__syncwarp) before the arrive  " +
                            line_of(first.apart_at));
  if (missing == Missing::order && is_threads(earlier.kind) && relaxed_ && warp(t).known.likely.knows(earlier.over))
    text.details.insert(text.details.end() - 1,
                        "between: an arrival or a wait that is .relaxed, which hands on nothing");
  if (t.warp && missing != Missing::fence) {
    if (std::string stale = hazard_stale_line(kernel(t.slot), *t.warp, earlier, later); !stale.empty())
      text.details.insert(text.details.begin(), std::move(stale));
    else if (std::string waits = hazard_wait_line(kernel(t.slot), *t.warp, earlier, later); !waits.empty()) {
      text.details.insert(text.details.end() - 1, std::move(waits));
      if (std::string by = hazard_completion_line(kernel(t.slot), *t.warp, earlier, later); !by.empty())
        text.details.insert(text.details.end() - 1, std::move(by));
    }
  }
  if (t.warp && std::string_view(text.id) == "TC16")
    if (const std::string release = release_not_awaited(kernel(t.slot), *t.warp, earlier, later); !release.empty())
      text.message += "; " + release;
  if (t.warp && missing == Missing::order) {
    const PhaseWithout without = phase_without(kernel(t.slot), *t.warp, earlier, later);
    if (!without.message.empty()) {
      text.message += ": " + without.message;
      text.details.back() = without.who;
      text.details.push_back(without.mend);
      if (const std::string reached = reached_without_release(t, at_rank, earlier, later); !reached.empty()) {
        text.message += fmt::format("; {} of CTA rank {}, which the copy reaches, commits to others alone",
                                    kernel(t.slot).role(earlier.by.warp), at_rank);
        text.details.back() = reached;
      }
    }
  }
  if (t.warp && missing == Missing::order && later.kind == AccessKind::tensor_load && !earlier.write)
    if (const std::string own = waits_for_its_own(kernel(t.slot), *t.warp, later.barrier); !own.empty())
      text.message += "; " + own;
  models::Violation v{.id = text.id, .message = text.message, .time = time(), .slot = t.slot, .source = t.by};
  v.barrier = earlier.barrier ? earlier.barrier : later.barrier;
  std::optional<MmaFault> fault;
  if (missing == Missing::order && t.warp) {
    const auto columns = [&](Footprints::Id set) { return tmem ? columns_of(sets, set) : Columns{}; };
    if (const MmaThread* issuer = mma_thread_of(cluster(t.slot), earlier))
      fault =
          fault_of_mma(kernel(t.slot), issuer->account, earlier, *t.warp, later, columns(first), columns(second));
    else if (const MmaThread* writer = mma_thread_of(cluster(t.slot), later);
             writer && earlier.kind == AccessKind::tmem_load)
      fault = fault_of_reader(kernel(t.slot), writer->account, earlier, columns(first), later, columns(second));
  }
  if (!fault && missing == Missing::order && later.kind == AccessKind::tensor_load && !earlier.write)
    fault = read_ahead_of_fill(kernel(t.slot), warp_of(cluster(t.slot), earlier).account, earlier, later);
  if (fault) {
    const bool behind = fault->message[0] == ':' || fault->message[0] == ';';
    v.message = behind ? text.message + fault->message : fault->message;
    if (fault->id) v.id = fault->id;
    text.details.back() = std::move(fault->detail);
    if (fault->of_issuer) v.source = earlier.by.source();
  }
  v.details = text.details;
  v.places = {hazard_place(kernel(t.slot), earlier), hazard_place(kernel(t.slot), later)};
  v.warning = text.warning;
  report_.violation(v);
}

AccessProgress HazardChecker::progress_of(const Cluster& in, const Access& access) const {
  const bool of_lanes = is_tensor_core(access.kind) || access.kind == AccessKind::tensor_store;
  const bool of_barrier = access.over.component >= first_of(kParts) && !of_lanes;
  if (access.over.clock == kStillRunning || of_barrier) return AccessProgress::unknown;
  const WarpState& warp = warp_of(in, access);
  switch (access.kind) {
    case AccessKind::tensor_store:
      return std::any_of(warp.bulk_groups.begin(), warp.bulk_groups.end(),
                         [&](const BulkGroups& g) {
                           return g.component == access.over.component && access.over.clock >= g.open;
                         })
                 ? AccessProgress::uncommitted
                 : AccessProgress::unknown;
    case AccessKind::mma_operand:
    case AccessKind::accumulator:
    case AccessKind::mma_scale:
    case AccessKind::copy_source:
    case AccessKind::copied: {
      const MmaThread* issuer = mma_thread_of(in, access);
      const bool uncommitted = issuer && issuer->passed_over < 0 && access.over.clock >= issuer->next;
      return uncommitted ? AccessProgress::uncommitted : AccessProgress::unknown;
    }
    case AccessKind::tmem_load:  // a register that was read later ends it as well, but is not what hands it on
      return access.over.clock <= warp.waited_loads ? AccessProgress::waited : AccessProgress::unknown;
    default: return warp.known.happened.knows(access.over) ? AccessProgress::waited : AccessProgress::unknown;
  }
}

void HazardChecker::generic(const Thread& t, uint32_t at_rank, Footprints::Id set, bool write) {
  if (postponed(t, [=, repeats = repeats_, strong = strong_](HazardChecker& h, const Thread& by) {
        h.repeats_ = repeats, h.strong_ = strong;
        h.generic(by, at_rank, set, write);
      })) {
    if (write) repeats_ = false;
    return;
  }
  Access accessed = access(t, AccessKind::generic, write, now(t));
  accessed.repeats = write && std::exchange(repeats_, false);
  accessed.strong = strong_;
  if (WarpState::Strip& strip = warp(t).strip; write && strip.fenced && at_rank == rank(t.slot)) {
    strip.previous = std::exchange(strip.begin, smem_sets_.bounds(set).begin);
    strip.fenced = false;
  }
  touch_smem(t, at_rank, set, accessed);
  // Of strong stores, shared_word says where.
  if (at_rank != rank(t.slot) && !(strong_ && write)) note_remote(t, at_rank, accessed);
}

}  // namespace sm100::sim
