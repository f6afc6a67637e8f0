// SPDX-License-Identifier: Apache-2.0
#include "sim/warp.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "models/time.h"
#include "sim/cta.h"

namespace sm100::sim {

namespace {
// Role code keeps 32-lane register blocks on the stack.
#ifdef __SANITIZE_ADDRESS__  // red zones around every local
constexpr size_t kStackBytes = 2 * 1024 * 1024;
#else
constexpr size_t kStackBytes = 256 * 1024;
#endif
}  // namespace

Warp::Warp(Cta& cta, int index) : Thread(kStackBytes), cta(cta), index(index) { begin_at(start_); }

void Warp::start(models::Cycles late) {
  running = true;
  waiter.who = {.warp = int8_t(index), .cta = cta.linear_id()};
  waiter.waits = 0;
  start_.notify(late);
}

void Warp::run() {
  for (;; wait(start_)) {
    started = models::now();
    cluster_phase = -1;
    ahead = 0;
    use.assign(cta.kernel().barriers.size(), {});
    polls = {};
    released = {};
    open_trace_points_ = 0, tile_point_ = -1;
    steps = {};
    cta.kernel().run_warp(*this);
    if (ahead >= 1) pass(models::Cycles(ahead));
    account().total_cycles += models::now() - started;
    running = false;
    cta.warp_exited(*this);
  }
}

void Warp::trace_point_begins(TraceEvent event, const TraceArgs& args) {
  if (event == TraceEvent::tile && args.tile_m >= 0) {
    tiles.push_back({.cta = cta.linear_id(), .m = args.tile_m, .n = args.tile_n, .begun = models::now()});
    tile_point_ = open_trace_points_;
  }
  if (event == TraceEvent::lock_wait) awaited_k = args.k;
  ++open_trace_points_;
  const bool consumes = event == TraceEvent::mma_issue || event == TraceEvent::smem_read;
  if ((consumes || event == TraceEvent::load_issue) && args.k >= 0) step(!consumes, args);
}

void Warp::step(bool fills, const TraceArgs& args) {
  Tile* tile = in_tile() ? &tiles.back() : nullptr;
  RingLabels::Label label{args.tile_m, args.tile_n, args.k};
  if (label.m < 0 && tile) label.m = tile->m, label.n = tile->n;
  Loc loc;
  bool any = false;
  for (size_t i = 0; i < use.size(); ++i) {
    if (!std::exchange(use[i].since_step, false)) continue;
    const int ring = fills ? cta.labels.ring_of_empty(i) : cta.labels.ring_of_full(i);
    if (ring < 0) continue;
    const BarrierArray& array = cta.kernel().barriers[i];
    const int stage = int(use[i].waited_on - array.base.offset()) / 8;
    any = true, loc = use[i].waited;
    if (fills)
      cta.labels.filled(
          ring, {.stage = stage, .phase = use[i].waited_phase + 1, .label = label, .warp = index, .loc = loc});
    else
      cta.consumes(*this, array, ring, stage, label);
  }
  if (!any) return;
  (fills ? steps.fills : steps.consumes) = true;
  steps.begin(tile, args.k, loc);
}

void Warp::trace_point_ends() {
  if (--open_trace_points_ == tile_point_) tile_point_ = -1;
}

void Warp::Use::note_box(const TensorMapFields& map, const std::array<int32_t, 5>& coords, Loc line) {
  LastBox* box = &boxes[0];
  if (box->tensor != 0 && box->tensor != map.global_address) box = &boxes[1];
  if (box->tensor != 0 && box->tensor != map.global_address) return;
  const bool again = box->tensor != 0 && box->rank == map.rank;
  int moved = -1, differ = 0;
  for (uint32_t d = 0; again && d < map.rank; ++d)
    if (box->at[d] != coords[d]) moved = int(d), ++differ;
  // Several boxes of a step lie side by side: the dimension in which steps follow each other stays the one known.
  if (!again) box->moved = -1;
  // A new tile begins at the beginning, behind the end of the one before.
  if (differ == 1 && coords[size_t(moved)] < box->at[size_t(moved)] && !box->ends()) box->backwards = true;
  if (differ == 1) box->moved = moved;
  box->tensor = map.global_address, box->rank = map.rank, box->at = coords, box->loc = line;
  for (uint32_t d = 0; d < map.rank; ++d) box->box[d] = map.box_dim[d], box->dims[d] = map.global_dim[d];
}

void Warp::pass(models::Cycles cycles) { wait(cycles); }

void Warp::suspend(const Blocked& why) {
  blocked = why;
  suspended_at_ = models::now();
  if (blocked.since == 0) blocked.since = suspended_at_;
  wait(waiter.wake);
  account(blocked, models::now() - suspended_at_);
  if (blocked.on != Blocked::On::mbarrier) record_wakeup(blocked, suspended_at_, waiter.by.issued);
  blocked.on = Blocked::On::nothing;
}

void Warp::suspend_until(models::Cycles cycle, const Blocked& why) {
  if (cycle <= models::now()) return;
  const models::Cycles begin = models::now();
  account(why, cycle - begin);
  pass(cycle - begin);
  record_wakeup(why, begin, cycle);
}

void Warp::record_wakeup(const Blocked& why, models::Cycles begin, models::Cycles caused) {
  if (cta.observer().recorder())
    cta.observer().wakeup(*this, cta.describe(why, /*with_stage=*/false), begin, caused);
}

void Warp::account_open_wait(models::Cycles until) {
  if (running && blocked.on != Blocked::On::nothing) account(blocked, until - suspended_at_);
}

namespace {
/// What time accounts tell apart: a barrier's array, not its stage.
uint64_t account_key(const Cta& cta, const Blocked& why) {
  if (why.on != Blocked::On::mbarrier) return why.on == Blocked::On::named_barrier ? why.offset : 0;
  const BarrierArray* array = barrier_name(cta.kernel(), why.offset).array;
  return array ? array->base.offset() : why.offset;
}
}  // namespace

Warp::Account& Warp::account() {
  const Kernel* kernel = &cta.kernel();
  for (Account& known : accounts)
    if (known.kernel == kernel) return known;
  return accounts.emplace_back(Account{.kernel = kernel});
}

void Warp::account(const Blocked& why, models::Cycles waited) {
  std::vector<Waited>& waiting = account().waiting;
  const uint64_t key = account_key(cta, why);
  auto it = std::find_if(waiting.begin(), waiting.end(), [&](const Waited& w) {
    if (w.first.on != why.on || w.key != key) return false;
    return why.on != Blocked::On::global_word || cta.describe(w.first, false) == cta.describe(why, false);
  });
  if (it == waiting.end()) it = waiting.insert(waiting.end(), {.key = key, .cycles = 0, .first = why});
  it->cycles += waited;
}

}  // namespace sm100::sim
