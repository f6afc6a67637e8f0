// SPDX-License-Identifier: Apache-2.0
#include "sim/cta.h"

#include <fmt/format.h>

#include <algorithm>

#include "models/provenance.h"
#include "models/scheduler.h"
#include "models/time.h"
#include "sim/hazards/hazard_checker.h"
#include "sim/text.h"

namespace sm100::sim {

Cta::Cta(sc_core::sc_module_name name, models::Gpu& gpu, models::CtaContext& context, const LaunchList& launches,
         RunObserver& observer)
    : sc_module(name),
      gpu_(gpu),
      context_(context),
      launches_(launches),
      kernel_(launches[0].kernel),
      observer_(observer) {
  int most = 0;
  for (const Kernel* kernel : launches.kernels()) most = std::max(most, kernel->warps);
  for (int w = 0; w < most; ++w) warps_.push_back(std::make_unique<Warp>(*this, w));
}

void Cta::start(int launch, Dim3 ctaid) {
  launch_ = launch;
  kernel_ = launches_[launch].kernel;
  ctaid_ = ctaid;
  linear_id_ = linear(ctaid);
  live_warps_ = kernel_->warps;
  cluster_rank_ = gpu_.clusters().rank(slot()), cluster_ctas_ = gpu_.clusters().ctas(slot());
  tcgen05_group = 0;
  labels.start(*kernel_);
  observer_.cta_started(*this);
  if (models::Provenance* p = sm().provenance) p->cta_started(slot());
  if (HazardChecker* hazards = observer_.hazards(); hazards && cluster_rank() == 0)
    hazards->start_cluster(gpu_.clusters().slots(slot()), launch_);
  models::Jitter& jitter = gpu_.jitter();
  const models::Cycles late = jitter.delay(models::JitterSite::cta_start, {.cta = linear_id_});
  for (auto& warp : warps())
    warp->start(late +
                jitter.delay(models::JitterSite::warp_start, {.warp = int8_t(warp->index), .cta = linear_id_}));
}

int Cta::peer_id(uint32_t rank) const {
  const Dim3 c = kernel_->cluster;
  return linear({ctaid_.x - ctaid_.x % c.x + rank % c.x, ctaid_.y - ctaid_.y % c.y + rank / c.x % c.y,
                 ctaid_.z - ctaid_.z % c.z + rank / c.x / c.y});
}

void Cta::warp_exited(Warp& warp) {
  if (HazardChecker* h = observer_.hazards())
    h->warp_exits({.slot = slot(), .by = {.warp = int8_t(warp.index), .cta = linear_id_}});
  gpu_.clusters().warp_exited(slot(), warp.index);
  if (--live_warps_ > 0) return;
  gpu_.clusters().cta_exited(slot());
  check_exit();
  if (HazardChecker* h = observer_.hazards()) h->cta_exits(slot(), {.warp = int8_t(warp.index), .cta = linear_id_});
  observer_.cta_exited(*this);
  // Shared memory stays alive until the CTA's stores have read it (an H200 stores all the same).
  const models::Cycles reads_done = context_.tma.stores_read_done();
  if (reads_done > models::now()) models::wait(reads_done - models::now());
  models::Cycles visible = context_.tma.stores_visible();
  for (const auto& w : warps()) visible = std::max(visible, w->stores_visible);
  gpu_.cta_exited(context_, visible);
}

void Cta::check_exit() {
  auto violate = [&](const char* id, std::string message, uint32_t barrier = 0, bool warning = false) {
    observer_.violation({id, std::move(message), models::now(), slot(), barrier, {}, warning});
  };
  // What other CTAs of the cluster have sent is MB12 when it lands, with the line that sent it.
  for (const auto& f : context_.tma.loads_in_flight()) {
    if (f.source.cta != linear_id_) continue;
    violate("TM9",
            fmt::format("CTA {} exits while a TMA load of {} bytes into it is in flight", linear_id_, f.bytes),
            f.barrier);
    break;
  }
  if (context_.tma.stores_read_done() > models::now())
    observer_.violation({.id = "TM9",
                         .message = fmt::format(
                             "CTA {} exits while bulk stores still read its shared memory; hardware keeps it until "
                             "they have",
                             linear_id_),
                         .time = models::now(),
                         .slot = slot(),
                         .note = true});
  if (context_.umma.commits_in_flight() > 0)
    violate("EX1", fmt::format("CTA {} exits while {} tcgen05.commit arrivals at its barriers are on their way",
                               linear_id_, context_.umma.commits_in_flight()));
  if (context_.clc.in_flight > 0)
    violate("EX2", fmt::format("CTA {} exits while a CLC response to it is on its way", linear_id_));
  if (const uint32_t columns = context_.tmem.allocated_columns(); columns > 0)
    violate("TC9",
            fmt::format("CTA {} exits with {} columns of tensor memory still allocated", linear_id_, columns));
  for (const BarrierArray& array : kernel_->barriers)
    for (int s = 0; s < array.stages; ++s) {
      const uint32_t offset = array.base.offset() + 8u * uint32_t(s);
      const models::Mbarrier::State* state = context_.mbarrier.find(offset);
      if (!state) continue;
      const MbarrierState word = decode_mbarrier(state->word);
      // Bytes left open are an error; arrivals left open are legal, but no protocol of this family ends so.
      if (word.tx != 0 || word.pending != word.expected)
        violate("MB10",
                fmt::format(
                    "CTA {} exits with {}[{}] in the middle of phase {}: {} of {} arrivals and {} bytes missing",
                    linear_id_, array.name, s, state->phase, word.pending, word.expected, word.tx),
                offset, word.tx == 0);
    }
  for (const BarrierArray& array : kernel_->barriers) check_waited_for(array);
  check_work();
}

void Cta::consumes(const Warp& warp, const BarrierArray& full, int ring, int stage, const RingLabels::Label& as) {
  const size_t index = size_t(&full - kernel_->barriers.data());
  const Warp::Use& use = warp.use[index];
  const RingLabels::Fill* fill = labels.consumed(ring, stage, use.waited_phase);
  if (!fill || fill->label == as) return;
  const Warp& filler = *warps_[size_t(fill->warp)];
  observer_.violation({.id = "WK1",
                       .message = fmt::format("{} takes {}[{}] phase {} for {}; {} has filled it with {}",
                                              kernel_->role(warp.index), full.name, stage, use.waited_phase,
                                              text_of(as), kernel_->role(filler.index), text_of(fill->label)),
                       .time = models::now(),
                       .slot = slot(),
                       .barrier = use.waited_on,
                       .source = {.warp = int8_t(warp.index), .loc = use.waited, .cta = linear_id_},
                       .warning = true,
                       .details = {fmt::format("filled after {}", line_of(fill->loc))}});
}

void Cta::check_work() {
  if (const auto d = work_difference(*this, true); d && d->order)
    observer_.violation({.id = "WK2",
                         .message = d->text,
                         .time = models::now(),
                         .slot = slot(),
                         .source = {.warp = int8_t(d->warp->index), .loc = d->tile.loc, .cta = linear_id_},
                         .warning = true});
  for (const auto& [array, fill] : labels.left_over()) {
    const BarrierArray& full = kernel_->barriers[size_t(array)];
    observer_.violation(
        {.id = "WK3",
         .message = fmt::format("{} has filled {}[{}] phase {} with {}, and nobody has consumed it",
                                kernel_->role(fill.warp), full.name, fill.stage, fill.phase, text_of(fill.label)),
         .time = models::now(),
         .slot = slot(),
         .barrier = full.base.offset() + 8u * uint32_t(fill.stage),
         .source = {.warp = int8_t(fill.warp), .loc = fill.loc, .cta = linear_id_},
         .warning = true});
  }
}

void Cta::check_waited_for(const BarrierArray& array) {
  const size_t index = size_t(&array - kernel_->barriers.data());
  for (const auto& warp : warps())
    if (warp->use[index].waits > 0) return;
  for (int s = 0; s < array.stages; ++s) {
    const uint32_t offset = array.base.offset() + 8u * uint32_t(s);
    const models::Mbarrier::State* state = context_.mbarrier.find(offset);
    if (!state) continue;
    const auto& shares = state->arrived.empty() ? state->arrived_before : state->arrived;
    if (shares.empty()) continue;
    return observer_.violation(
        {"MB16",
         fmt::format("{}[{}] of CTA {} has got arrivals from CTA {}, and no warp of the CTA has "
                     "waited on it",
                     array.name, s, linear_id_, shares.front().cta),
         models::now(),
         slot(),
         offset,
         {},
         true});
  }
}

std::string Cta::describe(const Blocked& blocked, bool with_stage, const Kernel& kernel) const {
  switch (blocked.on) {
    case Blocked::On::mbarrier: {
      const BarrierName name = barrier_name(kernel, blocked.offset);
      if (!name.array) return fmt::format("mbarrier at {:#x}", blocked.offset);
      return with_stage ? fmt::format("{}[{}]", name.array->name, name.stage) : std::string(name.array->name);
    }
    case Blocked::On::named_barrier: {
      const NamedBarrier* row = named_barrier(kernel, int(blocked.offset));
      return row && with_stage ? fmt::format("named barrier {} ({})", blocked.offset, row->name)
                               : fmt::format("named barrier {}", blocked.offset);
    }
    case Blocked::On::cluster_barrier: return "cluster barrier";
    case Blocked::On::tmem_alloc: return "tcgen05.alloc";
    case Blocked::On::tmem_dealloc: return "tcgen05.dealloc";
    case Blocked::On::registers: return "setmaxnreg.inc";
    case Blocked::On::bulk_group: return "bulk group";
    case Blocked::On::global_word: {
      const auto [tensor, offset] = gpu_.memory().place(blocked.address);
      return with_stage ? fmt::format("{}[{}]", tensor, offset / 4) : tensor;
    }
    case Blocked::On::prerequisite_grids: return "griddepcontrol.wait";
    case Blocked::On::wgmma: return "wgmma.wait_group";
    case Blocked::On::nothing: break;
  }
  return "nothing";
}

}  // namespace sm100::sim
